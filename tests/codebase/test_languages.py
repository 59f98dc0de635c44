"""What each language's query finds: kinds, owners, visibility, docs, references."""

from __future__ import annotations

import pytest

from memrpc.codebase import grammars, languages
from memrpc.codebase.model import Kind
from tests.codebase.conftest import declared, extract
from tests.codebase.samples import SAMPLES


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
    folder = languages.QUERIES
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
        (
            "ruby",
            "class A\n def a; end\n private\n x :y\n def b; end\n public\n def e; end\nend",
            "Aae",
        ),
        ("ruby", "class A\n private def a; end\n def b; end\nend\n", "Ab"),
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


@pytest.mark.parametrize(
    ("language", "code", "ends"),
    [
        ("markdown", "# A\n\ntext\n# B\n\nmore\n", [(3, 5), (6, 5)]),
        ("c", "#define F(a) a\nint f(void) {\n}\n", [(1, 15), (3, 2)]),
    ],
)
def test_a_symbol_ends_on_its_own_last_line_and_not_where_the_next_one_begins(language, code, ends):
    assert [(each.end_line, each.end_col) for each in extract(code, language).symbols] == ends


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


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        (
            "kotlin",
            "object O { fun f() {} }\ninterface I { fun m() }\nfun z() {}\n",
            [("class", "O"), ("method", "O.f"), ("interface", "I"), ("method", "I.m"),
             ("function", "z")],
        ),
        (
            "dart",
            "typedef T<X> = List<X>;\ntypedef U = int;\ntypedef int Cmp(int a);\n",
            [("type", "T"), ("type", "U"), ("type", "Cmp")],
        ),
        (
            "typescript",
            "class A { constructor(private x: number, readonly y = 1, z: string) {} }",
            [("class", "A"), ("method", "A.constructor"), ("property", "A.x"),
             ("property", "A.y")],
        ),
        (
            "php",
            "<?php class C { function __construct(private int $z, $w) {} }",
            [("class", "C"), ("method", "C.__construct"), ("property", "C.z")],
        ),
        (
            "swift",
            "struct S { deinit {}\n subscript(i: Int) -> Int { 1 } }",
            [("class", "S"), ("method", "S.deinit"), ("method", "S.subscript")],
        ),
    ],
)  # fmt: skip
def test_what_is_written_in_an_odd_way_is_declared_all_the_same(language, code, expected):
    assert declared(code, language) == expected


def test_a_heading_is_named_by_its_words_alone():
    found = extract("# A's 'b' ##\n## std::vector<int> #\n", "markdown")
    assert [each.name for each in found.symbols] == ["A's 'b'", "std::vector<int>"]


def test_what_a_grammar_cannot_read_stands_in_the_signature_as_it_was_written():
    (warn,) = extract("static void PRINTF_LIKE(1, 2) warn(int a) {}\n", "c").symbols
    assert (warn.name, warn.signature) == ("warn", "static void PRINTF_LIKE(1, 2) warn(int a)")


@pytest.mark.parametrize("name", ["größe", "変数", "имя"])
def test_names_in_any_script_are_found(name):
    assert declared(f"def {name}(): pass\n", "python") == [("function", name)]


def test_broken_code_keeps_what_can_be_read():
    found = extract("def a(): pass\ndef (((\nclass B: pass\n", "python")
    assert found.has_errors
    assert {"a", "B"} <= {each.name for each in found.symbols}
