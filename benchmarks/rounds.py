"""Interleaved rounds: what is compared runs turn about, so that whatever else goes on hits all.

A figure is the median over the rounds.  A ratio is the median of the ratios inside each round.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import truediv

Sample = Mapping[str, float]
"""What one round found of one contender: metric -> cost (time or memory; less is better)."""


@dataclass(slots=True)
class Table:
    """Rounds by contender and metric; a contender may lack a metric, never a round of it."""

    samples: dict[str, dict[str, list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )

    def add(self, contender: str, sample: Sample) -> None:
        for metric, value in sample.items():
            self.samples[contender][metric].append(value)

    def median(self, contender: str, metric: str) -> float | None:
        values = self.samples.get(contender, {}).get(metric)
        return statistics.median(values) if values else None

    def ratio(self, metric: str, above: str, below: str) -> float | None:
        """How many times the cost of ``below`` that of ``above`` is."""
        numerators, denominators = self._values(above, metric), self._values(below, metric)
        if not numerators or not denominators:
            return None
        return statistics.median(map(truediv, numerators, denominators))

    def _values(self, contender: str, metric: str) -> Sequence[float]:
        return self.samples.get(contender, {}).get(metric, ())


def interleave(
    table: Table, subjects: Iterable[str], measure: Callable[[str], Sample], *, rounds: int
) -> None:
    """Measure each subject once a round; the order rotates, the first round only warms up."""
    order = list(subjects)
    for number in range(rounds + 1):
        for subject in order:
            sample = measure(subject)
            if number:
                table.add(subject, sample)
        order = [*order[1:], order[0]]


def percentile(values: Iterable[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]
