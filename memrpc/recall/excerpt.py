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
from typing import TYPE_CHECKING, Final

from memrpc.recall.query import parse
from memrpc.recall.text import index_text

if TYPE_CHECKING:
    from memrpc.recall.query import Term

_LONGEST_STRETCH: Final = 160
_SHORTEST_STRETCH: Final = 16
_STRETCHES: Final = 4
"""How many stretches an excerpt has at least, within those bounds."""
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
    spans = _spans(text, max_chars)
    ends = [end for _, end in spans]
    worth = _worth([text[start:end] for start, end in spans], request_text)
    lead = int(max_chars * _LEAD_SHARE)
    best, best_worth = 0, 0.0
    for first, (start, _) in enumerate(spans):
        after = max(bisect.bisect_right(ends, start + max_chars - lead), first + 1)
        total = sum(worth[first:after])
        if worth[first] and total > best_worth:
            best, best_worth = max(start - lead, 0), total
    return max(0, min(_word_start(text, best), len(text) - max_chars))


def _spans(text: str, max_chars: int) -> list[tuple[int, int]]:
    """The text as stretches, cut at spaces where there are any."""
    size = min(max(max_chars // _STRETCHES, _SHORTEST_STRETCH), _LONGEST_STRETCH)
    stretch = re.compile(rf".{{1,{size}}}(?:\s+|$)|.{{1,{size}}}", re.DOTALL)
    return [match.span() for match in stretch.finditer(text)]


def _worth(stretches: list[str], request_text: str) -> list[float]:
    terms = parse(request_text)
    sought = terms.content or terms.common
    held = [[term for term in sought if _holds(stretch, term)] for stretch in stretches]
    frequency = Counter(term for each in held for term in each)
    return [sum(1 / frequency[term] for term in each) for each in held]


def _holds(stretch: str, term: Term) -> bool:
    tokens = index_text(stretch)
    padded = f" {tokens.parts} {tokens.joined} "
    end = "" if term.is_prefix else " "
    return any(f" {' '.join(spelling)}{end}" in padded for spelling in term.spellings)


def _word_start(text: str, at: int) -> int:
    """The first beginning of a word at or after ``at``, if one is near."""
    if at <= 0 or text[at - 1].isspace():
        return max(at, 0)
    gap = re.search(r"\s+", text[at : at + 40])
    return at + gap.end() if gap else at
