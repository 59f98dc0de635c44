"""The index beside other tools on public packages: ast, Universal Ctags, jedi.

The packages are fetched when a test first needs them; without a network, or ctags, the tests that
need it are skipped.  What Universal Ctags gets wrong is listed in ``docs/code-index.md``.
"""

from __future__ import annotations

import ast
import json
import random
import shutil
import subprocess
import sys
import sysconfig
from collections import defaultdict
from pathlib import Path

import pytest

from benchmarks import packages
from memrpc.codebase import extraction, languages, source
from memrpc.codebase.model import Symbol

LEAST_AGREED = 0.98
LEAST_CERTAIN = 0.95
EDGES = 400
CTAGS = {
    "django": ("Python", "function,member,class"),
    "sympy": ("Python", "function,member,class"),
    "rxjs": ("TypeScript", "function,method,class,interface,enum"),
    "libxmljs2": ("C", "function,struct,enum,union"),
    "zstandard": ("C", "function,struct,enum,union"),
    "tokenizers": ("Rust", "function,method,struct,enum,interface"),
}


def fetched(name: str) -> Path:
    folder = packages.fetch(packages.BY_NAME[name])
    if folder is None:
        pytest.skip(f"{name} cannot be fetched")
    return folder


def symbols_of(file: Path) -> list[Symbol]:
    raw = file.read_bytes()
    language = languages.of_content(languages.of_path(file.name), file.name, raw)
    data = source.decode(raw, file.name)
    return extraction.extract(data, languages.BY_NAME[language]).symbols


def declared_by_ast(file: Path) -> set[tuple[str, int, bool]] | None:
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return None
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    found = (node for node in ast.walk(tree) if isinstance(node, kinds))
    return {(node.name, node.lineno, isinstance(node, ast.ClassDef)) for node in found}


def disagreements(files: list[Path]) -> tuple[int, list]:
    """How many declarations ``ast`` sees, and those on which we differ."""
    count, wrong = 0, []
    for file in files:
        wanted = declared_by_ast(file)
        if wanted is None:
            continue
        found = {
            (each.name, each.start_line, each.kind == "class")
            for each in symbols_of(file)
            if each.kind in ("function", "method", "class")
        }
        count += len(wanted)
        wrong += [(file.name, each) for each in wanted ^ found]
    return count, wrong


def test_python_agrees_with_ast_on_a_part_of_the_standard_library():
    folder = Path(sysconfig.get_paths()["stdlib"])
    names = ("asyncio", "email", "json", "unittest", "xml")
    files = [file for name in names for file in sorted((folder / name).rglob("*.py"))]
    count, wrong = disagreements([*files, folder / "typing.py", folder / "dataclasses.py"])
    assert count > 2_000
    assert wrong == []


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", ["django", "sympy"])
def test_python_agrees_with_ast_on_every_function_and_class(name):
    count, wrong = disagreements(sorted(fetched(name).rglob("*.py")))
    assert count > 10_000
    assert wrong == []


def tags_of(folder: Path, language: str, kinds: str) -> dict[str, set[tuple[str, int]]]:
    """Names and lines by file, as Universal Ctags sees them; what it names itself is left out."""
    command = ["ctags", "--output-format=json", "--fields=+nK", f"--languages={language}",
               "--langmap=C:+.h", "-R", "-f", "-", str(folder)]  # fmt: skip
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = defaultdict(set)
    for line in output.splitlines():
        tag = json.loads(line)
        if tag["kind"] in kinds.split(",") and not tag["name"].lower().startswith(
            ("__anon", "anonymous")
        ):
            found[tag["path"]].add((tag["name"], tag["line"]))
    return found


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", CTAGS)
def test_what_ctags_names_is_found_on_the_same_line(name, capsys):
    if shutil.which("ctags") is None:
        pytest.skip("ctags is not installed here")
    folder = fetched(name)
    count = agreed = 0
    for path, wanted in tags_of(folder, *CTAGS[name]).items():
        found = {(each.name, each.name_line) for each in symbols_of(Path(path))}
        count += len(wanted)
        agreed += len(wanted & found)
    with capsys.disabled():
        sys.stdout.write(f"\n{name}: {agreed} of {count} names of ctags, {agreed / count:.2%}\n")
    assert count > 400
    assert agreed / count >= LEAST_AGREED


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_certain_edges_agree_with_jedi(index, capsys):
    import jedi

    folder = fetched("django")
    index.run(folder, workers=2)
    edges = index.ask(
        "SELECT f.path, r.spots, r.kind, t.name_line, g.path FROM code_references AS r "
        "JOIN code_files AS f ON f.id = r.id >> 18 "
        "LEFT JOIN code_links AS l ON l.id = (r.id >> 18 << 18) + r.link "
        "LEFT JOIN code_symbols AS t ON t.id = coalesce((r.id >> 18 << 18) + r.local, l.target) "
        "LEFT JOIN code_files AS g ON g.id = t.id >> 18 WHERE r.kind <> 'import' "
        "ORDER BY f.path, r.id"
    )
    random.Random(6).shuffle(edges)
    project, scripts = jedi.Project(folder), {}
    agreed = differed = resolvable = known = 0
    for path, spots, _, line, target in edges:
        if agreed + differed >= EDGES:
            break
        script = scripts.setdefault(path, jedi.Script(path=folder / path, project=project))
        row, _, column = spots.split(" ")[0].partition(":")
        try:
            named = script.goto(int(row), int(column) - 1, follow_imports=True)
        except (KeyError, AttributeError, TypeError):
            continue  # jedi stumbled over its own stubs.
        inside = {
            (str(each.module_path.relative_to(folder)), each.line)
            for each in named
            if each.module_path and each.module_path.is_relative_to(folder)
        }
        resolvable += bool(inside)
        known += bool(inside) and target is not None
        if target is not None and named:
            agreed += (target, line) in inside
            differed += (target, line) not in inside
    share, recall = agreed / (agreed + differed), known / resolvable
    with capsys.disabled():
        sys.stdout.write(f"\njedi agrees with {share:.2%} of {agreed + differed} certain edges\n")
        sys.stdout.write(f"{recall:.1%} of {resolvable} edges inside the repository are certain\n")
    assert share >= LEAST_CERTAIN
