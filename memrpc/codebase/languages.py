"""The languages: how a file's is told, and what parses it.

What a symbol or a reference is stands in ``queries/<query>.scm``; here is only what a query cannot
say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

TEXT: Final = "text"
QUERIES: Final = Path(__file__).with_name("queries")


@dataclass(frozen=True, slots=True)
class Language:
    """One row of the table.

    ``grammar`` is a package and its function, ``also`` the queries that follow its own.
    ``publishes`` is what a declaration is without a mark: exported or not.  ``private_prefix``
    marks a name as not exported, ``public_capitals`` makes only capitalised names exported.
    ``self_names`` are what a method calls its object.  ``blocks`` are the tags whose contents are
    code in a file that is otherwise markup.
    """

    name: str
    grammar: tuple[str, str] | None
    query: str = ""
    extensions: tuple[str, ...] = ()
    file_names: tuple[str, ...] = ()
    publishes: bool = False
    private_prefix: str = ""
    public_capitals: bool = False
    self_names: tuple[str, ...] = ()
    capitals_are_constants: bool = False
    capitals_are_classes: bool = False
    resolver: str = ""
    blocks: str = ""
    also: tuple[str, ...] = ()
    keywords: frozenset[str] = frozenset()


_C_WORDS: Final = frozenset(
    ("if", "for", "while", "switch", "return", "sizeof", "do", "else", "case", "defined", "goto")
)

_TABLE: Final = (
    Language(
        "python",
        ("tree_sitter_python", "language"),
        "python",
        (".py", ".pyi", ".pyw"),
        publishes=True,
        private_prefix="_",
        self_names=("self", "cls"),
        capitals_are_constants=True,
        capitals_are_classes=True,
        resolver="python",
    ),
    Language(
        "javascript",
        ("tree_sitter_javascript", "language"),
        "javascript",
        (".js", ".mjs", ".cjs", ".jsx"),
        self_names=("this",),
        resolver="javascript",
        also=("jsx",),
    ),
    Language(
        "typescript",
        ("tree_sitter_typescript", "language_typescript"),
        "typescript",
        (".ts", ".mts", ".cts"),
        self_names=("this",),
        resolver="javascript",
    ),
    Language(
        "tsx",
        ("tree_sitter_typescript", "language_tsx"),
        "typescript",
        (".tsx",),
        self_names=("this",),
        resolver="javascript",
        also=("jsx",),
    ),
    Language(
        "go",
        ("tree_sitter_go", "language"),
        "go",
        (".go",),
        publishes=True,
        public_capitals=True,
        resolver="go",
    ),
    Language(
        "rust",
        ("tree_sitter_rust", "language"),
        "rust",
        (".rs",),
        self_names=("self", "Self"),
        resolver="rust",
    ),
    Language(
        "java",
        ("tree_sitter_java", "language"),
        "java",
        (".java",),
        self_names=("this",),
        resolver="java",
    ),
    Language(
        "c", ("tree_sitter_c", "language"), "c", (".c", ".h"), publishes=True, keywords=_C_WORDS
    ),
    Language(
        "cpp",
        ("tree_sitter_cpp", "language"),
        "cpp",
        (".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".ipp", ".inl", ".tpp"),
        publishes=True,
        self_names=("this",),
        keywords=_C_WORDS,
    ),
    Language(
        "csharp", ("tree_sitter_c_sharp", "language"), "csharp", (".cs",), self_names=("this",)
    ),
    Language(
        "ruby",
        ("tree_sitter_ruby", "language"),
        "ruby",
        (".rb", ".rake", ".gemspec"),
        ("Rakefile", "Gemfile"),
        publishes=True,
        self_names=("self",),
    ),
    Language(
        "php",
        ("tree_sitter_php", "language_php"),
        "php",
        (".php", ".phtml"),
        publishes=True,
        self_names=("$this", "self", "static"),
        resolver="php",
    ),
    Language(
        "kotlin",
        ("tree_sitter_kotlin", "language"),
        "kotlin",
        (".kt", ".kts"),
        publishes=True,
        self_names=("this",),
        capitals_are_classes=True,
    ),
    Language(
        "swift",
        ("tree_sitter_swift", "language"),
        "swift",
        (".swift",),
        publishes=True,
        self_names=("self", "Self"),
        capitals_are_classes=True,
    ),
    Language(
        "dart",
        ("tree_sitter_dart", "language"),
        "dart",
        (".dart",),
        publishes=True,
        private_prefix="_",
        self_names=("this",),
        capitals_are_classes=True,
    ),
    Language(
        "bash",
        ("tree_sitter_bash", "language"),
        "bash",
        (".sh", ".bash", ".bats"),
        publishes=True,
        capitals_are_constants=True,
    ),
    Language(
        "markdown",
        ("tree_sitter_markdown", "language"),
        "markdown",
        (".md", ".markdown", ".mdx"),
        publishes=True,
    ),
    Language("vue", None, "vue", (".vue",), blocks="script"),
    Language("svelte", None, "svelte", (".svelte",), blocks="script"),
    Language("astro", None, "astro", (".astro",), blocks="script|---"),
    Language(TEXT, None),
)

BY_NAME: Final[Mapping[str, Language]] = MappingProxyType({each.name: each for each in _TABLE})
_BY_EXTENSION: Final = {ext: each.name for each in _TABLE for ext in each.extensions}
_BY_FILE_NAME: Final = {name: each.name for each in _TABLE for name in each.file_names}
_BINARY: Final = re.compile(
    r"""\.(?:
        png | jpg | jpeg | gif | webp | ico | bmp | tiff | psd | pdf | zip | gz | tgz | bz2
        | xz | zst | 7z | rar | jar | war | whl | egg | so | dll | dylib | exe | o | a | lib
        | obj | pyc | pyo | class | wasm | node | bin | dat | db | sqlite | sqlite3 | mp3 |
        mp4 | wav | ogg | flac | avi | mov | webm | ttf | otf | woff | woff2 | eot | pyd |
        pack | idx | mo | npy | npz | parquet | pkl | onnx | gguf | safetensors
    )$""",
    re.IGNORECASE | re.VERBOSE,
)
_CPP_HEADER: Final = re.compile(
    rb"^[ \t]*(?:class\s+\w+[^;=]*[{:]|namespace\b|template\s*<|using\s+\w+\s*[=;:]"
    rb"|using\s+namespace|public:|private:|protected:)|\bstd::|\bconstexpr\b",
    re.MULTILINE,
)
_SHEBANG: Final = re.compile(rb"#![^\n]*\b(python|node|bash|sh|ruby|php)[\d.]*\s")
_BY_INTERPRETER: Final = {
    b"python": "python",
    b"node": "javascript",
    b"bash": "bash",
    b"sh": "bash",
    b"ruby": "ruby",
    b"php": "php",
}


_FAMILIES: Final = (
    frozenset({"javascript", "typescript", "tsx", "vue", "svelte", "astro"}),
    frozenset({"c", "cpp"}),
    frozenset({"java", "kotlin"}),
)


def family(language: str) -> frozenset[str]:
    """The languages that use each other's names as they are written, this one among them."""
    return next((each for each in _FAMILIES if language in each), frozenset({language}))


def of_path(path: str) -> str | None:
    """The language that a path promises; None for what is never text."""
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    extension = name[dot:].lower() if dot > 0 else ""
    if _BINARY.search(name):
        return None
    return _BY_FILE_NAME.get(name) or _BY_EXTENSION.get(extension, TEXT)


def of_content(language: str, path: str, data: bytes) -> str:
    """The language that the content shows: C++ in a ``.h`` file, a script without an ending."""
    if language == "c" and path.endswith((".h", ".H")) and _CPP_HEADER.search(data):
        return "cpp"
    if language == TEXT and (found := _SHEBANG.match(data)):
        return _BY_INTERPRETER[found.group(1)]
    return language
