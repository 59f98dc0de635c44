"""Fusion: what likeness in meaning adds to what the words say.

Both are standard scores over the whole collection, so they weigh alike whatever the question.  A
unit that has no vector yet counts as an average one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from memrpc.recall.embedders import Model

FLOOR_SHARE: Final = 0.2
"""What likeness at a model's floor is worth: as much of a question as must be held at least."""


@dataclass(frozen=True, slots=True)
class Alike:
    """How alike candidates and question are in meaning: by unit, the cosine and its standard."""

    model: Model
    cosines: dict[int, float]
    standards: dict[int, float]

    def fused(self, unit_id: int, lexical: float) -> float:
        """The lexical standard score and that of the cosine, weighted."""
        trust = self.model.trust
        return (1 - trust) * lexical + trust * self.standards.get(unit_id, 0.0)

    def share(self, unit_id: int) -> float:
        """The cosine as a share of the question; 0 where it may be chance."""
        chance, floor = self.model.chance, self.model.floor
        cosine = self.cosines.get(unit_id, 0.0)
        return min(max(FLOOR_SHARE * (cosine - chance) / (floor - chance), 0.0), 1.0)
