"""A sample of each language, and the declarations that stand in it: kind and qualified name.

It is a table, and longer than a file of code may be.
"""

from __future__ import annotations

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
