"""What an answer is worth: recall at four depths, reciprocal rank, nDCG with binary gains.

Where items belong to sessions, an answer is also worth something by the sessions of what it found,
each at the place of its first item.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

DEPTHS = (1, 5, 10, 20)
SESSION_NAMES = ("R@10", "hit@5")
NAMES = (*(f"R@{depth}" for depth in DEPTHS), "MRR", "nDCG@10")


@dataclass(frozen=True, slots=True)
class Marks:
    """One question's marks, in the order of ``NAMES``."""

    values: tuple[float, ...]


def mark(found: Sequence[str], relevant: frozenset[str]) -> Marks:
    recalls = [len(relevant & set(found[:depth])) / len(relevant) for depth in DEPTHS]
    ranks = [rank for rank, each in enumerate(found, start=1) if each in relevant]
    gained = sum(1 / math.log2(rank + 1) for rank in ranks if rank <= 10)
    best = sum(1 / math.log2(rank + 1) for rank in range(1, min(len(relevant), 10) + 1))
    return Marks((*recalls, 1 / ranks[0] if ranks else 0.0, gained / best))


def session_mark(found: Sequence[str], relevant: frozenset[str], sessions: dict[str, str]) -> Marks:
    """Recall at ten sessions, and whether one of the first five is relevant."""
    reached = list(dict.fromkeys(sessions[each] for each in found))
    wanted = {sessions[each] for each in relevant}
    recall = len(wanted & set(reached[:10])) / len(wanted)
    return Marks((recall, float(not wanted.isdisjoint(reached[:5]))))


def mean(marks: Iterable[Marks]) -> Marks:
    rows = [each.values for each in marks]
    return Marks(tuple(sum(column) / len(rows) for column in zip(*rows, strict=True)))
