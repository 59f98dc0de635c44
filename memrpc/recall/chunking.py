"""Long texts as chunks: about 700 code points each, cut where the text itself pauses."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

WHOLE_CHARS: Final = 600
"""A shorter text is one unit and may carry its neighbours as context."""
CHUNK_CHARS: Final = 700
_EARLIEST_CUT: Final = 400
_PAUSES: Final = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r".*\n\s*\n",
        r".*\n",
        r".*(?:[.!?]['\")\]]*\s|[\u3002\uff01\uff1f])",  # the last three: CJK stops
        r".*(?:[,;:]\s|[\u3001\uff0c\uff1b\uff1a])",
        r".*\s",
    )
)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A span of a text, in code points."""

    start: int
    text: str


def chunks(text: str) -> Iterator[Chunk]:
    """Cover ``text`` without gaps or overlaps; a short one is a single chunk."""
    start = 0
    while len(text) - start > (CHUNK_CHARS if start else WHOLE_CHARS - 1):
        end = start + _cut(text[start : start + CHUNK_CHARS])
        yield Chunk(start, text[start:end])
        start = end
    if start < len(text) or not text:
        yield Chunk(start, text[start:])


def _cut(window: str) -> int:
    for pause in _PAUSES:
        found = pause.match(window, 0)
        if found and found.end() >= _EARLIEST_CUT:
            return found.end()
    return len(window)
