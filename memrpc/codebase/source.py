"""A file's bytes as source text in UTF-8, or why it is none."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from memrpc.codebase.model import Skip

if TYPE_CHECKING:
    from memrpc.codebase.languages import Language

MAX_FILE_BYTES: Final = 4 << 20
SNIFFED_BYTES: Final = 8_192
MINIFIED_FROM_BYTES: Final = 16_384
MINIFIED_LINE_BYTES: Final = 300
"""Code whose lines are longer than this on average was not written by a person."""

_UTF_8_BOM: Final = b"\xef\xbb\xbf"
_UTF_16_BOMS: Final = (b"\xff\xfe", b"\xfe\xff")
_MINIFIED_NAME: Final = re.compile(r"[.-]min\.(?:js|mjs|css)$")
_SCRIPT: Final = re.compile(rb"<script\b([^>]*)>(.*?)</script\s*>", re.IGNORECASE | re.DOTALL)
_TYPED: Final = re.compile(rb"""lang\s*=\s*["']?(?:ts|typescript|tsx)\b""", re.IGNORECASE)
_FRONT_MATTER: Final = re.compile(rb"\A\s*---[ \t]*\r?\n(.*?)^---[ \t]*$", re.DOTALL | re.MULTILINE)
_NOT_BREAKS: Final = re.compile(rb"[^\r\n]")
_MACRO_BEFORE_NAME: Final = re.compile(
    rb"""(?<=[\w*)])\s+  # behind a type
    ((?:[A-Z_][A-Z0-9_]{3,}(?:\s*\([^()\n]*\))?\s+)+)  # macros, with arguments or without
    (?=[a-z_]\w*\s*\()  # before a function's name""",
    re.VERBOSE,
)
_VARIANCE: Final = re.compile(
    rb"(?<=[<,\s])(?:in\s+out|in|out)(?=\s+[A-Z]\w*\s*(?:[,>=]|extends\b))"
)
_LAST_IN_BODY: Final = re.compile(rb"(?<=[^\s;{])[ \t](?=\}[ \t}]*\r?$)", re.MULTILINE)
_NO_TYPES: Final = re.compile(
    rb"(?:\b(?:static|extern|inline|return|else|const|define|case|do|struct|enum|unsigned|signed)|[A-Z_][A-Z0-9_]*|\))\Z"
)


class Skipped(Exception):
    """The file is left out of the index, for ``reason``."""

    def __init__(self, reason: Skip) -> None:
        super().__init__(reason.value)
        self.reason = reason


def decode(data: bytes, path: str, *, may_be_minified: bool = False) -> bytes:
    """The text in UTF-8 with its lines where they were.

    Raises Skipped for what is binary or was made by a minifier.
    """
    if data.startswith(_UTF_16_BOMS):
        data = data.decode("utf-16", "replace").encode("utf-8", "replace")
    elif b"\0" in data[:SNIFFED_BYTES]:
        raise Skipped(Skip.BINARY)
    data = data.removeprefix(_UTF_8_BOM)
    if may_be_minified and _is_minified(data, path):
        raise Skipped(Skip.MINIFIED)
    if b"\r" in data and b"\n" not in data:
        data = data.replace(b"\r", b"\n")
    if data.isascii():
        return data
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace").encode("utf-8")
    return data


def _is_minified(data: bytes, path: str) -> bool:
    if _MINIFIED_NAME.search(path):
        return True
    lines = data.count(b"\n") + 1
    return len(data) >= MINIFIED_FROM_BYTES and len(data) / lines > MINIFIED_LINE_BYTES


def code_in_markup(data: bytes, language: Language) -> tuple[bytes, str]:
    """The scripts of a component file with everything else blanked out, and their language.

    Blanks keep each line and column where it was.
    """
    spans = [found.span(2) for found in _SCRIPT.finditer(data)]
    if language.name == "astro":
        spans += [found.span(1) for found in _FRONT_MATTER.finditer(data)]
    typed = language.name == "astro" or any(
        _TYPED.search(found.group(1)) for found in _SCRIPT.finditer(data)
    )
    kept = bytearray(_NOT_BREAKS.sub(b" ", data))
    for start, end in spans:
        kept[start:end] = data[start:end]
    return bytes(kept), "typescript" if typed else "javascript"


def without_macros(data: bytes) -> bytes:
    """C with the macros blanked out that stand between a function's type and its name.

    ``static void PRINTF_LIKE(1, 2) warn(...)`` is no C before the preprocessor has run, and the
    grammar would take the function for something else.
    """
    return _MACRO_BEFORE_NAME.sub(_blanked, data)


def with_semicolons(data: bytes) -> bytes:
    """Kotlin with an end to the last statement of a body on one line, which the grammar needs."""
    return _LAST_IN_BODY.sub(b";", data)


def without_variance(data: bytes) -> bytes:
    """TypeScript without ``in`` and ``out`` before type parameters, which the grammar lacks."""
    return _VARIANCE.sub(lambda found: b" " * len(found.group()), data)


def _blanked(found: re.Match[bytes]) -> bytes:
    before = found.string[max(0, found.start() - 32) : found.start()]
    if _NO_TYPES.search(before):
        return found.group()
    return _NOT_BREAKS.sub(b" ", found.group())
