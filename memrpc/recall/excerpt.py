"""Excerpts: the part of a text that answers a question, in code points.

The text is cut into short stretches; each is worth the distinct things asked for that it holds, and
the excerpt is the window of stretches that is worth most, the earliest on a tie.  What is common to
many stretches says little about where to look, so a term weighs less the more of them hold it.
"""

from __future__ import annotations

import bisect
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memrpc.recall.query import parse
from memrpc.recall.sought import Sought

_STRETCH: Final = re.compile(r".{1,48}(?:\s+|$)|.{1,48}", re.DOTALL)
_LEAD_SHARE: Final = 0.25
"""How much of the excerpt may stand before its best stretch."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A span of a text; ``start`` and ``len(text)`` are code points."""

    text: str
    start: int
    truncated: bool


def excerpt(text: str, request_text: str, max_chars: int) -> Excerpt:
    """At most ``max_chars`` of ``text``, around the densest match of ``request_text``."""
    if len(text) <= max_chars:
        return Excerpt(text, 0, truncated=False)
    start = _best_start(text, request_text, max_chars)
    return Excerpt(text[start : start + max_chars], start, truncated=True)


def _best_start(text: str, request_text: str, max_chars: int) -> int:
    """Where the excerpt begins: never so late that it would be shorter than it may be."""
    spans, worth = _stretches(text, request_text)
    ends = [end for _, end in spans]
    lead = int(max_chars * _LEAD_SHARE)
    best, best_worth = 0, 0.0
    for first, (start, _) in enumerate(spans):
        if not worth[first]:
            continue
        after = max(bisect.bisect_right(ends, start + max_chars - lead), first + 1)
        total = sum(worth[first:after])
        if total > best_worth:
            best, best_worth = max(start - lead, 0), total
    return max(0, min(_word_start(text, best), len(text) - max_chars))


@lru_cache(maxsize=32)
def _stretches(text: str, request_text: str) -> tuple[list[tuple[int, int]], list[float]]:
    """The spans of the text's stretches, and what each is worth.

    Kept for a while: an answer that must shrink asks again for shorter excerpts of the same texts.
    """
    spans = [match.span() for match in _STRETCH.finditer(text)]
    sought = Sought(parse(request_text))
    held = [sorted(sought.places(text[start:end])) for start, end in spans]
    frequency = Counter(place for each in held for place in each)
    return spans, [sum(1 / frequency[place] for place in each) for each in held]


def _word_start(text: str, at: int) -> int:
    """The first beginning of a word at or after ``at``, if one is near."""
    if at <= 0 or text[at - 1].isspace():
        return max(at, 0)
    gap = re.search(r"\s+", text[at : at + 40])
    return at + gap.end() if gap else at
