"""What each language's query finds: kinds, owners, visibility, docs, references."""

from __future__ import annotations

import pytest

from memrpc.codebase import grammars, languages
from memrpc.codebase.model import Kind
from tests.codebase.conftest import declared, extract

SAMPLES = {
    "python": (
        (
            "import os\nMAX = 3\nlimit = 4\n@dec\nclass A(B):\n    x = 1\n    def m(self):\n"
            "        def inner(): pass\nasync def f(): pass\ntype T = int\n"
        ),
        [
            ("constant", "MAX"),
            ("variable", "limit"),
            ("class", "A"),
            ("property", "A.x"),
            ("method", "A.m"),
            ("function", "A.m.inner"),
            ("function", "f"),
            ("type", "T"),
        ],
    ),
    "javascript": (
        (
            "export class A extends B { m() {} static #p() {} f = () => 1; g = 2 }\n"
            "function h() {}\nconst K = 1, arrow = x => x;\n"
            "const o = { k: function() {}, q() {} };\n"
            "module.exports.z = function () {};\n"
        ),
        [
            ("class", "A"),
            ("method", "A.m"),
            ("method", "A.#p"),
            ("method", "A.f"),
            ("property", "A.g"),
            ("function", "h"),
            ("variable", "K"),
            ("function", "arrow"),
            ("variable", "o"),
            ("function", "o.k"),
            ("method", "o.q"),
            ("function", "z"),
        ],
    ),
    "typescript": (
        (
            "export interface I { q(): void; r: number; new (): I }\ntype U = number;\n"
            "enum E { One, Two = 2 }\nabstract class A { private z = 1; abstract q(): void }\n"
            "namespace N { export function inner() {} }\nfunction f(a: string): void;\n"
            "function f(a: any) {}\nexport const g = (x) => x;\ninterface V<in out T> {}\n"
        ),
        [
            ("interface", "I"),
            ("method", "I.q"),
            ("property", "I.r"),
            ("method", "I.new"),
            ("type", "U"),
            ("enum", "E"),
            ("constant", "E.One"),
            ("constant", "E.Two"),
            ("class", "A"),
            ("property", "A.z"),
            ("method", "A.q"),
            ("module", "N"),
            ("function", "N.inner"),
            ("function", "f"),
            ("function", "f"),
            ("function", "g"),
            ("interface", "V"),
        ],
    ),
    "tsx": ("export const App = () => <Box a={1} />;\n", [("function", "App")]),
    "go": (
        (
            "package p\ntype S struct { A int }\ntype I interface { M() }\ntype T = int\n"
            "func (s *S) M() {}\nfunc (g G[T]) N() {}\nfunc Top() {}\nconst K = 1\nvar V = 2\n"
        ),
        [
            ("class", "S"),
            ("property", "S.A"),
            ("interface", "I"),
            ("method", "I.M"),
            ("type", "T"),
            ("method", "S.M"),
            ("method", "G.N"),
            ("function", "Top"),
            ("constant", "K"),
            ("variable", "V"),
        ],
    ),
    "rust": (
        (
            "pub struct S { pub x: i32 }\nimpl<T> Tr for S<T> { fn m(&self) {} }\n"
            "trait Tr { fn r(); }\nenum E { One }\nmod m { fn inner() {} }\nconst C: i32 = 1;\n"
            "macro_rules! mm { () => {} }\npub(crate) fn f() {}\n"
        ),
        [
            ("class", "S"),
            ("property", "S.x"),
            ("method", "S.m"),
            ("interface", "Tr"),
            ("method", "Tr.r"),
            ("enum", "E"),
            ("constant", "E.One"),
            ("module", "m"),
            ("function", "m.inner"),
            ("constant", "C"),
            ("function", "mm"),
            ("function", "f"),
        ],
    ),
    "java": (
        (
            "package a; class A { int z = 1; "
            "A() {} void m() {} enum E { One } record R(int a) {} }\n"
            "interface I { void q(); } @interface An { int v(); }\n"
        ),
        [
            ("class", "A"),
            ("property", "A.z"),
            ("method", "A.A"),
            ("method", "A.m"),
            ("enum", "A.E"),
            ("constant", "A.E.One"),
            ("class", "A.R"),
            ("interface", "I"),
            ("method", "I.q"),
            ("interface", "An"),
            ("method", "An.v"),
        ],
    ),
    "c": (
        (
            "#define MAX 1\n#define F(x) x\nstruct s { int a; };\nenum e { One };\ntypedef int t;\n"
            "static void PRINTF_LIKE(1, 2) WINAPI warn(int a) {}\nint *pf(void) { return 0; }\n"
            "int declared_only(int);\nint g = 1;\n"
        ),
        [
            ("constant", "MAX"),
            ("function", "F"),
            ("class", "s"),
            ("property", "s.a"),
            ("enum", "e"),
            ("constant", "e.One"),
            ("type", "t"),
            ("function", "warn"),
            ("function", "pf"),
            ("variable", "g"),
        ],
    ),
    "cpp": (
        (
            "namespace n { template<class T> class A : public B {\n"
            "int m(int a) { return a; } int f; };\n"
            "}\nint n::A::q(int a) { return foo(a); }\nn::A::~A() {}\nusing U = int;\n"
            "struct S { S& operator=(const S&) { return *this; } };\n"
        ),
        [
            ("module", "n"),
            ("class", "n.A"),
            ("method", "n.A.m"),
            ("property", "n.A.f"),
            ("method", "n.A.q"),
            ("method", "n.A.~A"),
            ("type", "U"),
            ("class", "S"),
            ("method", "S.operator="),
        ],
    ),
    "csharp": (
        (
            "namespace N { public class A { int z = 1; public int P { get; set; "
            "} A() {} void M() {}\n"
            "enum E { One } delegate int D(int x); } interface I { void Q(); } struct S {} }\n"
        ),
        [
            ("module", "N"),
            ("class", "N.A"),
            ("property", "N.A.z"),
            ("property", "N.A.P"),
            ("method", "N.A.A"),
            ("method", "N.A.M"),
            ("enum", "N.A.E"),
            ("constant", "N.A.E.One"),
            ("type", "N.A.D"),
            ("interface", "N.I"),
            ("method", "N.I.Q"),
            ("class", "N.S"),
        ],
    ),
    "ruby": (
        (
            "module M\n  class A < B\n    K = 1\n    attr_reader :x, :y\n    def m(a); end\n"
            "    def self.s; end\n  end\n  def helper; end\nend\ndef top; end\n"
        ),
        [
            ("module", "M"),
            ("class", "M.A"),
            ("constant", "M.A.K"),
            ("property", "M.A.x"),
            ("property", "M.A.y"),
            ("method", "M.A.m"),
            ("method", "M.A.s"),
            ("method", "M.helper"),
            ("function", "top"),
        ],
    ),
    "php": (
        (
            "<?php\nclass A extends B implements I { const Z = 1; private $p; function m() {} }\n"
            "interface I { function q(); } trait T {} enum E { case One; } function f() {}\n"
        ),
        [
            ("class", "A"),
            ("constant", "A.Z"),
            ("property", "A.p"),
            ("method", "A.m"),
            ("interface", "I"),
            ("method", "I.q"),
            ("interface", "T"),
            ("enum", "E"),
            ("constant", "E.One"),
            ("function", "f"),
        ],
    ),
    "kotlin": (
        (
            "package a\nclass A(val x: Int) : B() {\n  private val z = 1\n  fun m(): Int = 1\n}\n"
            "interface I { fun q() }\nobject O\ntypealias T = A\nfun top() {}\nval g = 3\n"
            "enum class E { ONE, TWO }\n"
        ),
        [
            ("class", "A"),
            ("property", "A.x"),
            ("property", "A.z"),
            ("method", "A.m"),
            ("interface", "I"),
            ("method", "I.q"),
            ("class", "O"),
            ("type", "T"),
            ("function", "top"),
            ("variable", "g"),
            ("enum", "E"),
            ("constant", "E.ONE"),
            ("constant", "E.TWO"),
        ],
    ),
    "swift": (
        (
            "class A: B { private let z = 1\n init(a: Int) {}\n func m() {} }\nstruct S {}\n"
            "enum E { case one, two }\nprotocol P { func q() }\nextension A { func ext() {} }\n"
            "typealias T = A\nfunc top() {}\nlet g = 3\n"
        ),
        [
            ("class", "A"),
            ("property", "A.z"),
            ("method", "A.init"),
            ("method", "A.m"),
            ("class", "S"),
            ("enum", "E"),
            ("constant", "E.one"),
            ("constant", "E.two"),
            ("interface", "P"),
            ("method", "P.q"),
            ("method", "A.ext"),
            ("type", "T"),
            ("function", "top"),
            ("variable", "g"),
        ],
    ),
    "dart": (
        (
            "class A extends B { final int z = 1; A(this.z); int m(int a) { return a; }\n"
            " int get p => 2; void abs(); }\nmixin M {}\nenum E { one }\n"
            "typedef T = int Function(int);\nvoid top() {}\nconst c = 3;\n"
        ),
        [
            ("class", "A"),
            ("property", "A.z"),
            ("method", "A.A"),
            ("method", "A.m"),
            ("property", "A.p"),
            ("method", "A.abs"),
            ("class", "M"),
            ("enum", "E"),
            ("constant", "E.one"),
            ("type", "T"),
            ("function", "top"),
            ("constant", "c"),
        ],
    ),
    "bash": (
        "foo() { bar; }\nfunction baz { foo; }\nX=1\nreadonly NAME=2\n",
        [("function", "foo"), ("function", "baz"), ("variable", "X"), ("constant", "NAME")],
    ),
    "markdown": (
        "# One\n## Two\n```python\nx\n```\n#### Deep\nSetext\n======\n",
        [
            ("heading1", "One"),
            ("heading2", "One.Two"),
            ("code_block", "One.Two.python"),
            ("heading", "One.Two.Deep"),
            ("heading1", "One.Two.Deep.Setext"),
        ],
    ),
    "vue": (
        (
            "<template><p @click='go'/></template>\n<script setup lang='ts'>\n"
            "const go = (): void => {}\n</script>\n"
        ),
        [("function", "go")],
    ),
    "svelte": ("<script>\nexport function f() {}\n</script>\n<b/>\n", [("function", "f")]),
    "astro": ("---\nconst page: number = 1;\n---\n<h1/>\n", [("variable", "page")]),
    "text": ("Title\n=====\nwords\n\nPart\n----\n", [("heading1", "Title"), ("heading2", "Part")]),
}


@pytest.mark.parametrize("language", SAMPLES)
def test_a_language_yields_its_declarations_with_kind_and_owner(language):
    code, expected = SAMPLES[language]
    assert declared(code, language) == expected


def test_every_language_of_the_table_is_sampled_and_its_query_compiles():
    named = set(languages.BY_NAME)
    assert set(SAMPLES) == named
    for language in languages.BY_NAME.values():
        if language.grammar is not None:
            grammars.load(language)


def test_every_kind_that_a_query_names_is_of_the_closed_set():
    folder = grammars._QUERIES
    text = "".join(file.read_text() for file in folder.glob("*.scm"))
    used = {word.split(".")[1].rstrip(")") for word in text.split() if word.startswith("@def.")}
    assert used <= {kind.value for kind in Kind}


def test_a_header_with_classes_is_read_as_cpp_and_one_without_as_c():
    assert languages.of_content("c", "a.h", b"class A {\npublic:\n int x; };\n") == "cpp"
    assert languages.of_content("c", "a.h", b"struct a { int class_id; };\n") == "c"


def test_a_script_without_an_ending_is_told_by_its_first_line():
    assert languages.of_path("bin/tool") == "text"
    assert languages.of_content("text", "bin/tool", b"#!/usr/bin/env python3\n") == "python"


def test_scripts_in_components_keep_their_lines():
    (symbol,) = extract("<template/>\n\n<script>\nfunction f() {}\n</script>\n", "vue").symbols
    assert (symbol.start_line, symbol.start_col) == (4, 1)


@pytest.mark.parametrize(
    ("language", "code", "exported"),
    [
        ("python", "def a(): pass\ndef _b(): pass\nclass C:\n    def _d(self): pass\n", "aC"),
        ("javascript", "export function a() {}\nfunction b() {}\n", "a"),
        ("javascript", "function a() {}\nfunction b() {}\nexport { a as default };\n", "a"),
        ("javascript", "function a() {}\nfunction b() {}\nmodule.exports = { a };\n", "a"),
        (
            "typescript",
            "export class A { private b() {} c() {} #d() {} }\nclass E { f() {} }",
            "Ac",
        ),
        ("go", "package p\nfunc A() {}\nfunc b() {}\n", "A"),
        ("rust", "pub fn a() {}\nfn b() {}\n", "a"),
        ("java", "public class A { public void b() {} private void c() {} void d() {} }", "Ab"),
        ("c", "void a(void) {}\nstatic void b(void) {}\n", "a"),
        ("csharp", "public class A { public void B() {} void C() {} }", "AB"),
        ("dart", "void a() {}\nvoid _b() {}\n", "a"),
        ("kotlin", "fun a() {}\nprivate fun b() {}\n", "a"),
        ("swift", "func a() {}\nprivate func b() {}\n", "a"),
        ("php", "<?php class A { private function b() {} function c() {} }", "Ac"),
    ],
)
def test_visibility_follows_the_language(language, code, exported):
    symbols = extract(code, language).symbols
    assert [each.name for each in symbols if each.exported] == list(exported)


def test_default_exports_are_marked():
    symbols = extract("export default class A {}\nexport function b() {}\n", "typescript").symbols
    assert [(each.name, each.default_export) for each in symbols] == [("A", True), ("b", False)]


@pytest.mark.parametrize(
    ("language", "code", "doc"),
    [
        ("python", 'def f():\n    """Say\n    it.\n    """\n', "Say\nit."),
        ("python", "# above\ndef f(): pass\n", "above"),
        ("javascript", "/**\n * Say it.\n * @deprecated use g\n */\nexport function f() {}\n",
         "Say it.\n@deprecated use g"),
        ("go", "package p\n// one\n// two\nfunc f() {}\n", "one\ntwo"),
        ("rust", "/// Say it.\n#[inline]\nfn f() {}\n", "Say it."),
        ("java", "class A {\n  /** Say it. */\n  @Override void f() {}\n}\n", "Say it."),
        ("c", "int x; // not this\nint f(void) { return 1; }\n", None),
        ("c", "/* far */\n\nint f(void) { return 1; }\n", None),
    ],
)  # fmt: skip
def test_the_comment_that_belongs_to_a_declaration_is_kept(language, code, doc):
    symbols = extract(code, language).symbols
    assert next(each for each in symbols if each.name == "f").doc == doc


def test_signatures_end_before_the_body_and_leave_decorators_out():
    code = "@property\ndef name(\n    self,\n    a: int = 1,\n) -> str:\n    return a\n"
    (symbol,) = extract(code, "python").symbols
    assert symbol.signature == "def name( self, a: int = 1, ) -> str"
    assert (symbol.start_line, symbol.end_line, symbol.name_line) == (2, 6, 2)


def test_a_name_below_its_type_has_its_own_line():
    (symbol,) = extract("static int\nf(void) { return 1; }\n", "c").symbols
    assert (symbol.start_line, symbol.name_line) == (1, 2)


@pytest.mark.parametrize(
    ("language", "code", "edges"),
    [
        ("python", "class A(B): pass\nA()\nf()\nx.g()\n",
         {("B", "extends"), ("A", "instantiation"), ("f", "call"), ("g", "call")}),
        ("typescript", "class A extends B implements I {}\nnew A(); f(); x.g();\n",
         {("B", "extends"), ("I", "implements"), ("A", "instantiation"), ("f", "call"),
          ("g", "call")}),
        ("java", "class A extends B implements I { void m() { new C(); f(); } }",
         {("B", "extends"), ("I", "implements"), ("C", "instantiation"), ("f", "call")}),
        ("rust", "impl Tr for S { fn m() { f(); a::g(); x.h(); mac!(); P {}; } }",
         {("Tr", "implements"), ("f", "call"), ("g", "call"), ("h", "call"), ("mac", "call"),
          ("P", "instantiation")}),
        ("go", "package p\nfunc f() { g(); x.H(); S{} }\n",
         {("g", "call"), ("H", "call"), ("S", "instantiation")}),
        ("bash", "f() { g 1; }\n", {("g", "call")}),
        ("php", "<?php class A extends B { use T; function m() { f(); $this->g(); new C; } }",
         {("B", "extends"), ("T", "implements"), ("f", "call"), ("g", "call"),
          ("C", "instantiation")}),
        ("csharp", "class A : B { void M() { F(); b.G(); new C(); } }",
         {("B", "extends"), ("F", "call"), ("G", "call"), ("C", "instantiation")}),
        ("ruby", "class A < B\n include M\n def m; f(1); b.g; C.new; end\nend\n",
         {("B", "extends"), ("M", "implements"), ("f", "call"), ("g", "call"),
          ("C", "instantiation"), ("include", "call"), ("new", "call")}),
        ("kotlin", "class A : B(), I { fun m() { f(); x.g(); C() } }\n",
         {("B", "extends"), ("I", "implements"), ("f", "call"), ("g", "call"),
          ("C", "instantiation")}),
        ("swift", "class A: B { func m() { f(); x.g(); C() } }\n",
         {("B", "extends"), ("f", "call"), ("g", "call"), ("C", "instantiation")}),
        ("dart", "class A extends B { void m() { f(); x.g(); new C(); } }\n",
         {("B", "extends"), ("f", "call"), ("g", "call"), ("C", "instantiation")}),
        ("c", '#include "a.h"\nvoid m(void) { f(); p->g(); }\n',
         {("f", "call"), ("g", "call"), ("a.h", "import")}),
        ("cpp", "struct A : B { void m() { f(); p->g(); n::h(); new C(); } };\n",
         {("B", "extends"), ("f", "call"), ("g", "call"), ("h", "call"),
          ("C", "instantiation")}),
    ],
)  # fmt: skip
def test_references_have_their_edges(language, code, edges):
    found = {(each.name, str(each.kind)) for each in extract(code, language).references}
    assert found == edges


@pytest.mark.parametrize("name", ["größe", "変数", "имя"])
def test_names_in_any_script_are_found(name):
    assert declared(f"def {name}(): pass\n", "python") == [("function", name)]


def test_broken_code_keeps_what_can_be_read():
    found = extract("def a(): pass\ndef (((\nclass B: pass\n", "python")
    assert found.has_errors
    assert {"a", "B"} <= {each.name for each in found.symbols}
