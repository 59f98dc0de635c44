"""Read and replace single members of JSON text, and leave every other byte as it was.

A bridge that parsed and wrote a message again would hide what the server really wrote: digits of
big numbers, escapes, the order of members, duplicates.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

Path = tuple[str, ...]
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_DECODER: Final = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Span:
    """Where a value stands in the text."""

    start: int
    end: int


def locate(text: str, path: Path) -> Span | None:
    """Where the value at ``path`` stands; None where there is none."""
    start = _skip(text, 0)
    span = Span(start, len(text))
    for name in path:
        found = _members(text, span.start).get(name)
        if found is None:
            return None
        span = found
    return span


def replace(text: str, edits: Mapping[Path, str]) -> str:
    """``text`` with the value at each path replaced by other JSON text, where it is there."""
    spans = [(span, new) for path, new in edits.items() if (span := locate(text, path))]
    for span, new in sorted(spans, key=lambda pair: pair[0].start, reverse=True):
        text = text[: span.start] + new + text[span.end :]
    return text


def _members(text: str, start: int) -> dict[str, Span]:
    """The members of the object that begins at ``start``; the last of two equal names counts."""
    members: dict[str, Span] = {}
    if text[start] != "{":
        return members
    at = _skip(text, start + 1)
    while text[at] != "}":
        name, at = _DECODER.raw_decode(text, at)
        value_start = _skip(text, _skip(text, at) + 1)
        _, value_end = _DECODER.raw_decode(text, value_start)
        members[name] = Span(value_start, value_end)
        at = _skip(text, value_end)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return members


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
