"""Doc comments: what a comment or docstring says, without its markers."""

from __future__ import annotations

import inspect
import re
from typing import Final

MAX_DOC_CHARS: Final = 1_000
_BLOCK_ENDS: Final = re.compile(r"\A\s*(?:/\*+!?|<!--|=begin)|(?:\*+/|-->|=end)\s*\Z")
_LINE_MARK: Final = re.compile(r"^[ \t]*(?:///?!?|#+!?|--+|\*+(?!/)|;+)?[ \t]?", re.MULTILINE)
_QUOTES: Final = re.compile(r"\A[A-Za-z]{0,2}(\"\"\"|'''|\"|')(.*)\1\Z", re.DOTALL)


def doc_of_comment(text: str) -> str | None:
    """What one comment or a block of line comments says; None if it says nothing."""
    bare = _LINE_MARK.sub("", _BLOCK_ENDS.sub("", text.strip()).strip())
    return _shorten(bare)


def doc_of_string(literal: str) -> str | None:
    """What a docstring says."""
    found = _QUOTES.match(literal)
    return _shorten(inspect.cleandoc(found.group(2))) if found else None


def _shorten(text: str) -> str | None:
    text = text.strip()
    if len(text) > MAX_DOC_CHARS:
        text = text[: MAX_DOC_CHARS - 1].rstrip() + "…"
    return text if any(map(str.isalnum, text)) else None
