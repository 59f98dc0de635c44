"""Masks: an event's text without the statements that no longer hold.

The log is never rewritten, yet a corrected statement must not come back through the raw text as
if it still held.  Where text is searched, spaces of the same number cover such a statement, so
that every offset into the event stays true; where text is shown, a mark stands for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SHOWN: Final = "[…]"


def blank(text: str, quotes: Iterable[str]) -> str:
    """Return ``text`` with every occurrence of the quotes covered by as many spaces."""
    pieces: list[str] = []
    position = 0
    for start, end in _spans(text, quotes):
        pieces += (text[position:start], " " * (end - start))
        position = end
    return "".join(pieces) + text[position:]


def show(text: str, quotes: Iterable[str], start: int = 0, end: int | None = None) -> str:
    """Return ``text[start:end]`` with a mark wherever a quote reaches into it."""
    pieces: list[str] = []
    position, stop = start, len(text) if end is None else end
    for left, right in _spans(text, quotes):
        if right <= position or left >= stop:
            continue
        pieces += (text[position:left], SHOWN)
        position = min(right, stop)
    return "".join(pieces) + text[position:stop]


def _spans(text: str, quotes: Iterable[str]) -> list[tuple[int, int]]:
    """List where the quotes stand, in order, overlapping places joined."""
    joined: list[tuple[int, int]] = []
    for start, end in sorted(span for quote in set(quotes) for span in _occurrences(text, quote)):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _occurrences(text: str, quote: str) -> Iterator[tuple[int, int]]:
    start = text.find(quote)
    while start >= 0:
        yield start, start + len(quote)
        start = text.find(quote, start + len(quote))
