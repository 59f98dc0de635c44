"""Code: what a text is written in, and the two lines by which a definition is known.

A text is code if it opens with a definition; comments and decorators may come first.  Whoever asks
for it says what it does, in the words of its name and of its first remark, so these stand in the
``head`` of its units, after the name of the language: a question that says "in Python" is then met
by all of the code that is, and where all of it is, that says nothing.

Only languages whose definitions look like nothing in prose are told; a text that merely has a
snippet in it is no code.
"""

from __future__ import annotations

import re
from typing import Final

MAX_LINE_CHARS: Final = 200
_LOOKED_AT_CHARS: Final = 2_000

_OPENINGS: Final = {
    "ruby": r"def +[\w.]+[?!=]? *(?:\([^)\n]*\))? *\n(?=(?:.*\n)*? *end\b)",
    "python": r"(?:async +)?def +\w+ *\(|class +\w+ *(?:\([^)\n]*\))? *: *$",
    "javascript": r"(?:export +)?(?:default +)?(?:async +)?function *\*? *[\w$]* *(?:<[^>\n]*> *)?"
    r"\([^)]*\)[^\n{]*\{|(?:export +)?(?:const|let|var) +[\w$]+ *=.*(?:=>|\bfunction\b)",
    "go": r"func +(?:\([^)\n]*\) *)?\w+ *[(\[]",
    "rust": r"(?:pub *(?:\(\w+\))? *)?(?:(?:async|const|unsafe) +)*fn +\w+ *[(<]|impl\b.*\{ *$",
    "c": r"(?:(?:static|inline|const|unsigned|struct) +)*(?:void|int|char|bool|float|double|size_t)"
    r"[ *]+\w+ *\([^)]*\)\s*\{",
    "java": r"(?:(?:public|private|protected|static|final|abstract) +)+.*?(?:\{ *$|\) *\n *\{)",
    "sql": r"CREATE +(?:OR +REPLACE +)?(?:TABLE|VIEW|FUNCTION|PROCEDURE|TRIGGER|INDEX)\b",
}
_NAMES: Final = "|".join(f"(?P<{name}>{pattern})" for name, pattern in _OPENINGS.items())
_BEFORE: Final = r"(?:[ \t]*(?:[#@*/][^\n]*|--[^\n]*)?\n)*"
_OPENING: Final = re.compile(rf"{_BEFORE}[ \t]*(?:{_NAMES})", re.MULTILINE)
_REMARK: Final = re.compile(
    r"""^[ \t]*(?:[rRuUbBfF]{0,2}(?:\"{3}|'{3})|/\*+|//[/!]?|\#+[ \t]|--[ \t])[\s*]*(\w[^\n]*)""",
    re.MULTILINE,
)


def head(text: str) -> str:
    """The language, the line that opens the definition, and the first remark; "" for no code."""
    shown = text[:_LOOKED_AT_CHARS]
    opening = _OPENING.match(shown)
    if opening is None or opening.lastgroup is None:
        return ""
    signature = _line_at(shown, opening.start(opening.lastgroup))
    remark = _REMARK.search(shown)
    said = remark[1][:MAX_LINE_CHARS] if remark else ""
    return f"{opening.lastgroup} code\n{signature}\n{said}"


def _line_at(text: str, start: int) -> str:
    return text[start:].partition("\n")[0][:MAX_LINE_CHARS]
