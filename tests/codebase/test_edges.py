"""Which references are known to mean what they mean, and which have a name only."""

from __future__ import annotations

import pytest

from memrpc.codebase import binding, rust_paths, tracing
from memrpc.codebase.answers import Trace
from memrpc.codebase.candidates import TraceRequest
from memrpc.codebase.module_paths import ClassFiles, Go, JavaScript, Python, Rust
from tests.codebase.conftest import extract, write


def uses(index, name, **more) -> dict[str, list[str]]:
    """The places that refer to a symbol, by how certain it is."""
    found = index.read(tracing.trace, TraceRequest(name, **more))
    assert isinstance(found, Trace), found
    by: dict[str, list[str]] = {"resolved": [], "by_name": []}
    for use in found.references:
        by[str(use.certainty)].append(f"{use.file_path}:{use.line}")
    return by


def test_imports_lead_to_their_symbols_however_they_are_spelt(index, repo):
    write(
        repo,
        {
            "pkg/__init__.py": "from .core import work as job\nfrom . import core\n",
            "pkg/core.py": "def work(): pass\nclass Tool:\n    @staticmethod\n    def make(): 1\n",
            "a.py": "import pkg.core\npkg.core.work()\n",
            "b.py": "import pkg.core as c\nc.work()\nc.Tool.make()\n",
            "c.py": "from pkg import job\njob()\n",
            "d.py": "from pkg.core import *\nwork()\n",
            "e.py": "from pkg import core\ncore.work()\nfrom pkg.core import Tool as T\nT.make()\n",
            "f.py": "from elsewhere import work\nwork()\n",
            "g.py": "def f(work):\n    work()\n",
            "h.py": "x.work()\n",
        },
    )
    index.run(repo)
    found = uses(index, "work")
    assert set(found["resolved"]) == {
        "a.py:2", "b.py:2", "c.py:1", "c.py:2", "e.py:2", "pkg/__init__.py:1",
    }  # fmt: skip
    assert set(found["by_name"]) == {"d.py:2", "g.py:2", "h.py:1"}
    assert set(uses(index, "Tool.make")["resolved"]) == {"b.py:3", "e.py:4"}


def test_local_names_self_and_shadows_are_told_apart(index, repo):
    write(
        repo,
        {
            "a.py": """\
def helper(): pass
def shadowed(helper):
    helper()
def plain():
    helper()
class Base:
    def run(self):
        self.step()
        other.step()
    def step(self): pass
    def helper(self):
        helper()
class Other:
    def step(self): pass
def rebinds():
    global late
    late = 1
def late(): pass
late()
numbers = [helper for helper in range(3)]
both = lambda helper: helper()
""",
        },
    )
    index.run(repo)
    found = uses(index, "helper", kinds=("function",))
    assert found == {"resolved": ["a.py:5", "a.py:12"], "by_name": ["a.py:3", "a.py:21"]}
    assert uses(index, "Base.step") == {"resolved": ["a.py:8"], "by_name": ["a.py:9"]}
    assert uses(index, "Other.step") == {"resolved": [], "by_name": ["a.py:9"]}
    assert uses(index, "late")["by_name"] == ["a.py:19"]


def test_a_name_that_is_bound_twice_is_certain_of_neither(index, repo):
    write(
        repo,
        {
            "one.py": "def f(): pass\n",
            "two.py": "def f(): pass\n",
            "pkg/__init__.py": "from one import f\nfrom two import f\n",
            "c.py": "from pkg import f\nf()\n",
            "a.py": "try:\n    from one import f\nexcept Error:\n    from two import f\nf()\n",
        },
    )
    index.run(repo)
    found = uses(index, "f", file_path="one.py")
    assert found["resolved"] == ["a.py:2", "pkg/__init__.py:1"]
    assert found["by_name"] == ["a.py:5", "c.py:1", "c.py:2"]


def test_a_file_has_no_more_links_than_ids(monkeypatch):
    monkeypatch.setattr(binding, "MAX_ORDINAL", 3)
    found = extract("".join(f"import m{n}\nm{n}.f()\n" for n in range(5)), "python")
    assert len(found.links) == 3


def test_circular_reexports_end(index, repo):
    write(
        repo,
        {
            "a.py": "from b import ghost\nghost()\n",
            "b.py": "from a import ghost\nfrom a import *\n",
            "c.py": "def ghost(): pass\n",
        },
    )
    index.run(repo)
    assert uses(index, "ghost")["resolved"] == []


def test_scripts_resolve_by_relative_path_reexports_and_defaults(index, repo):
    write(
        repo,
        {
            "src/core.ts": "export function work() {}\nexport default class Tool { go() {} }\n",
            "src/index.ts": "export { work as job } from './core';\nexport * from './core';\n",
            "src/a.ts": "import { job } from '.';\njob();\n",
            "src/b.ts": "import T from './core.js';\nnew T();\n",
            "src/c.ts": "import * as core from './core';\ncore.work();\n",
            "src/d.tsx": "import { work } from './index';\nwork();\nfunction f(work) { work(); }\n",
            "src/e.js": "const { work } = require('./core');\nwork();\n",
            "src/f.ts": "import { work } from 'elsewhere';\nwork();\n",
            "lib/g.ts": "import { work } from '@/core';\nwork();\n",
        },
    )
    index.run(repo)
    found = uses(index, "work")
    assert set(found["resolved"]) == {
        "src/index.ts:1", "src/a.ts:1", "src/a.ts:2", "src/c.ts:2", "src/d.tsx:1", "src/d.tsx:2",
        "src/e.js:1", "src/e.js:2",
    }  # fmt: skip
    assert set(found["by_name"]) == {"src/d.tsx:3", "lib/g.ts:1", "lib/g.ts:2"}
    assert uses(index, "Tool")["resolved"] == ["src/b.ts:2"]


@pytest.mark.parametrize("ending", ["tsx", "jsx"])
def test_an_element_is_a_use_of_its_component(index, repo, ending):
    shown = "<main>\n<Box a={1} />\n<Box>x</Box>\n<kit.Panel />\n</main>"
    write(
        repo,
        {
            f"box.{ending}": "export function Box() {}\nexport function Panel() {}\n",
            f"app.{ending}": "import { Box } from './box';\nimport * as kit from './box';\n"
            f"const main = () => 1;\nexport const App = () => {shown};\n",
        },
    )
    index.run(repo)
    assert uses(index, "Box")["resolved"] == [f"app.{ending}:{line}" for line in (1, 5, 6)]
    assert uses(index, "Panel")["resolved"] == [f"app.{ending}:7"]
    assert uses(index, "main") == {"resolved": [], "by_name": []}


def test_go_packages_are_folders_and_see_themselves(index, repo):
    write(
        repo,
        {
            "go.mod": "module example.com/app\n",
            "main.go": 'package main\nimport "example.com/app/kit"\n'
            "func main() { kit.Do(); run() }\n",
            "run.go": "package main\nfunc run() {}\n",
            "kit/do.go": "package kit\nfunc Do() { inner() }\n",
            "kit/inner.go": "package kit\nfunc inner() {}\n",
            "other/inner.go": 'package other\nimport "fmt"\nfunc Do() { fmt.Do() }\n',
        },
    )
    index.run(repo)
    assert uses(index, "Do", file_path="kit/do.go") == {"resolved": ["main.go:3"], "by_name": []}
    assert uses(index, "inner")["resolved"] == ["kit/do.go:2"]
    assert uses(index, "run")["resolved"] == ["main.go:3"]


def test_rust_paths_follow_the_crate(index, repo):
    write(
        repo,
        {
            "src/lib.rs": "mod util;\nmod net;\npub fn top() { util::help(); }\n",
            "src/util.rs": "pub fn help() {}\n",
            "src/net/mod.rs": "use crate::util::{self, help as h};\npub fn go() { h(); }\n",
            "src/net/deep.rs": "fn f() { crate::util::help(); super::go(); self::g(); }\n"
            "fn g() {}\n",
        },
    )
    index.run(repo)
    assert set(uses(index, "help")["resolved"]) == {"src/net/mod.rs:1", "src/net/mod.rs:2",
                                                    "src/net/deep.rs:1"}  # fmt: skip
    assert uses(index, "go")["resolved"] == ["src/net/deep.rs:1"]


def test_java_and_php_classes_are_found_by_their_files(index, repo):
    write(
        repo,
        {
            "src/a/b/Tool.java": "package a.b; public class Tool { public static void go() {} }\n",
            "src/a/c/User.java": "package a.c; import a.b.Tool; class User {\n"
            "void m() { new Tool(); Tool.go(); }\n}\n",
            "src/a/b/Near.java": "package a.b; class Near { void m() {\nnew Tool(); } }\n",
            "app/Kit/Box.php": "<?php namespace App\\Kit; class Box { static function go() {} }\n",
            "app/Use.php": "<?php use App\\Kit\\Box;\nBox::go();\nnew Box();\n",
        },
    )
    index.run(repo)
    assert set(uses(index, "Tool")["resolved"]) == {"src/a/c/User.java:1", "src/a/c/User.java:2",
                                                    "src/a/b/Near.java:2"}  # fmt: skip
    assert uses(index, "go", file_path="Tool.java")["resolved"] == ["src/a/c/User.java:2"]
    assert "app/Use.php:3" in uses(index, "Box")["resolved"]


def test_edges_follow_when_the_file_that_they_lead_to_changes(index, repo):
    write(repo, {"a.py": "def f(): pass\n", "b.py": "from a import f\nf()\n"})
    index.run(repo)
    write(repo, {"a.py": "x = 1\n\ndef f(): return 2\n"})
    index.run(repo)
    assert uses(index, "f")["resolved"] == ["b.py:1", "b.py:2"]
    (repo / "a.py").rename(repo / "c.py")
    index.run(repo)
    assert uses(index, "f") == {"resolved": [], "by_name": []}
    write(repo, {"a.py": "from c import f\n"})
    index.run(repo)
    assert set(uses(index, "f")["resolved"]) == {"a.py:1", "b.py:1", "b.py:2"}


def test_a_use_in_another_language_is_trusted_least(index, repo):
    write(
        repo,
        {
            "a/A.java": "public class Base {}\n",
            "a/b.kt": "class K : Base()\n",
            "b.cs": "class C : Base { }\n",
        },
    )
    index.run(repo)
    found = index.read(tracing.trace, TraceRequest("Base"))
    assert [(each.file_path, each.confidence) for each in found.references] == [
        ("a/b.kt", 0.9),
        ("b.cs", 0.27),
    ]


def test_confidence_falls_with_the_number_of_namesakes(index, repo):
    write(repo, {f"m{n}.py": "class A:\n    def go(self): pass\n" for n in range(3)})
    write(repo, {"use.py": "x.go()\ngo()\n"})
    index.run(repo)
    found = index.read(tracing.trace, TraceRequest("go", file_path="m0.py"))
    assert [each.confidence for each in found.references] == [0.3, 0.15]


@pytest.mark.parametrize(
    ("tree", "paths"),
    [
        ("a::b", [("a", "b", "b")]),
        ("crate::a::{B, c as d}", [("crate::a", "B", "B"), ("crate::a", "c", "d")]),
        ("a::{self, b::{c, d}, e::*}", [("", "a", "a"), ("a::b", "c", "c"), ("a::b", "d", "d"),
                                        ("a::e", "*", "")]),
        ("std::fmt as f", [("std", "fmt", "f")]),
    ],
)  # fmt: skip
def test_rust_use_trees_are_spread(tree, paths):
    assert [tuple(each) for each in rust_paths.expand(tree)] == paths


def test_python_modules_are_named_from_their_outermost_package():
    paths = ["src/pkg/__init__.py", "src/pkg/a.py", "src/one.py", "tools/one.py", "x/pkg/a.py"]
    resolver = Python(paths)
    assert resolver.files_of("src/one.py", "pkg.a", "") == ("src/pkg/a.py",)
    assert resolver.files_of("src/pkg/a.py", ".", "") == ("src/pkg/__init__.py",)
    assert resolver.files_of("tools/b.py", "one", "") == ("tools/one.py",)
    assert resolver.files_of("src/one.py", "numpy", "") == ()
    assert resolver.files_of("src/one.py", "pkg.missing", "") is None
    assert resolver.files_of("src/one.py", "....up", "") == ()


def test_resolvers_say_when_they_cannot_tell():
    scripts = JavaScript(["packages/a/package.json"], {"@acme/a": "packages/a"})
    assert scripts.files_of("b.ts", "@acme/a/x", "") is None
    assert scripts.files_of("b.ts", "react", "") == ()
    assert scripts.files_of("b.ts", "./none", "") is None
    assert Go(["a.go"], {}).files_of("a.go", "fmt", "") is None
    assert Rust(["a.rs"]).files_of("a.rs", "crate::b", "") is None
    twins = ClassFiles(["a/x/T.java", "b/x/T.java"], ".java")
    assert twins.files_of("U.java", "x", "T") is None
    assert twins.files_of("U.java", "java.util", "List") == ()
