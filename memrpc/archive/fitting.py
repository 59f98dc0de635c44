"""Fitting: an answer no longer than its reader's host takes, losing the least telling first.

The text around contents goes, excerpts shrink, long contents are cut, then the tail goes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from memrpc.archive import rules

if TYPE_CHECKING:
    from memrpc.archive.answers import RecallAnswer

Measure: TypeAlias = "Callable[[RecallAnswer], int]"
Draw: TypeAlias = "Callable[[Sizes, int], RecallAnswer]"


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much of an excerpt, of a content and of the text around a content is shown."""

    excerpt_chars: int
    content_chars: int
    contexts: int = 0
    """So many of the best matches come with the text around them."""


ROOM_FOR_CONTEXT: Final = 0.7
"""The share of an answer's size beyond which the text around contents costs more than it tells."""
FULL: Final = Sizes(rules.MAX_EXCERPT_CHARS, rules.MAX_CONTENT_CHARS, contexts=5)
STEPS: Final = (
    FULL,
    Sizes(rules.MAX_EXCERPT_CHARS, rules.MAX_CONTENT_CHARS, contexts=2),
    Sizes(rules.MAX_EXCERPT_CHARS, rules.MAX_CONTENT_CHARS),
    Sizes(1_000, rules.MAX_CONTENT_CHARS),
    Sizes(500, rules.MAX_CONTENT_CHARS),
    Sizes(250, rules.MAX_CONTENT_CHARS),
    Sizes(250, 2_000),
)
LAST_RESORT: Final = Sizes(100, 300)


def fit(draw: Draw, count: int, max_chars: int, measure: Measure | None) -> RecallAnswer:
    """Return the fullest answer of ``count`` records that ``measure`` finds short enough.

    One record always stays, cut as far as need be.
    """
    if measure is None:
        return draw(FULL, count)
    for sizes in STEPS:
        answer = draw(sizes, count)
        if measure(answer) <= max_chars * (ROOM_FOR_CONTEXT if sizes.contexts else 1):
            return answer
    kept = _most(lambda kept: measure(draw(STEPS[-1], kept)) <= max_chars, count)
    return draw(STEPS[-1], kept) if kept else draw(LAST_RESORT, 1)


def _most(fits: Callable[[int], bool], count: int) -> int:
    """Return the largest number below ``count`` that fits, 0 if none does."""
    low, high = 0, count
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
