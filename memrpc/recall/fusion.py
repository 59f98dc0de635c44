"""Fusion: what likeness in meaning adds to what the words say.

*Ranking.*  Both are standard scores over the whole collection, so they weigh alike whatever the
question.  A unit that has no vector yet counts as an average one.

*Relevance.*  A question that nothing answers should find nothing.  Neither sign is enough alone:
half of all foreign questions share a word with something, and what answers is often not the most
alike.  Together they are: the share of the question that a unit holds, raised or lowered by how far
its cosine is from ``chance``.  A cosine of ``floor`` is enough by itself.  The cosines of a model
that nobody knows are first put on the scale of the built-in one (``Model.comparable``).  What
somebody wrote down to be found, an entry or a task of a few lines, is only raised: a question in
other words shares little with it, and a cosine over two short texts says too little to take that
away.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memrpc.recall.model import DEFAULT_FLOOR

if TYPE_CHECKING:
    from collections.abc import Collection

    from memrpc.recall.embedders import Model

FLOOR_SHARE: Final = DEFAULT_FLOOR
"""What likeness at a model's floor is worth: as much of a question as must be held at least."""
RUN_LENIENCY: Final = 0.15
"""So much less of ``chance`` where the question is a sentence without spaces: of its pairs of
characters, many of which straddle two words, an answer holds a smaller share."""
FULL_UNITS: Final = 1_000
FEW_UNITS: Final = 40
UNIT_LENIENCY: Final = 0.09
"""So much less of ``chance`` for each time that a collection is smaller by a factor of e: by
accident the best of few units holds less of a question than the best of many."""
_ALIKE_FROM: Final = 1.0


def leniency(units: int) -> float:
    """Return how much less than ``chance`` is asked of a collection for being small."""
    return UNIT_LENIENCY * math.log(FULL_UNITS / min(max(units, FEW_UNITS), FULL_UNITS))


@dataclass(frozen=True, slots=True)
class Alike:
    """How alike candidates and question are in meaning: by unit, the cosine and its standard."""

    model: Model
    trust: float
    chance: float
    cosines: dict[int, float]
    standards: dict[int, float]
    best: Collection[int] = ()
    """The units that likeness proposed."""
    lowers: bool = True
    """Whether a small likeness speaks against a unit."""

    def fused(self, unit_id: int, lexical: float) -> float:
        """The lexical standard score and that of the cosine, weighted."""
        return (1 - self.trust) * lexical + self.trust * self.standards.get(unit_id, 0.0)

    def relevance(self, unit_id: int, held: float) -> float:
        """The share ``held`` of a question, corrected by likeness; never below 0."""
        if unit_id not in self.cosines:
            return held
        cosine = self._cosine(unit_id)
        by_meaning = FLOOR_SHARE * cosine / self.model.floor
        least = 0.0 if self.lowers else held
        return max(held + cosine - self.chance, by_meaning, least)

    def is_alike(self, unit_id: int) -> bool:
        """Whether likeness proposed the unit and has something to say for it."""
        if unit_id not in self.best:
            return False
        is_near = self._cosine(unit_id) >= self.model.floor
        return is_near or self.standards[unit_id] >= _ALIKE_FROM

    def _cosine(self, unit_id: int) -> float:
        return self.model.comparable(self.cosines[unit_id])
