"""Ranking: what a candidate is worth, from its tokens, its speaker, its session and its time.

The lexical part is that of ``lexical``.  Priors are added in units of the spread (standard
deviation) of the lexical scores over the whole collection, units without a match counting as
zero; so they weigh alike whatever the question's length.  In a large collection that spread is
small, because hardly a unit matches: words alone would decide, ever more the more there is.  So no
unit is put farther than ``FARTHEST`` by its words.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, NamedTuple

from memrpc.recall import priors
from memrpc.recall.lexical import Question
from memrpc.recall.proposing import CANDIDATES
from memrpc.recall.text import fold

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memrpc.recall.fusion import Alike
    from memrpc.recall.lexical import Candidate, Collection, WeighedTerm
    from memrpc.recall.query import SearchTerms

FARTHEST: Final = 10.0
"""So many spreads above the mean is the unit whose words answer best, at most."""
STRANGER: Final = 0.4
"""So much less is a text worth to a question about a name that nothing here holds."""
WEAKEST_SHARE: Final = 0.25
_BEST: Final = 5


class Scored(NamedTuple):
    """A candidate with its score and the share of the question that it answers.

    ``coverage`` is the share of the question's rarity that the candidate holds, corrected by
    likeness where that is known.
    """

    candidate: Candidate
    score: float
    coverage: float
    question: Question
    is_alike: bool = False

    def matched_by(self) -> tuple[str, ...]:
        """Which groups of columns the match is in, and whether its meaning is alike."""
        return self.question.sources(self.candidate) + ("meaning",) * self.is_alike


def score(
    candidates: list[Candidate],
    content: list[WeighedTerm],
    common: list[WeighedTerm],
    collection: Collection,
    terms: SearchTerms,
    alike: Alike | None = None,
) -> list[Scored]:
    """Score ``candidates`` in full; in no particular order."""
    speakers = priors.named_speakers(candidates, terms)
    named = speakers[0] if len(speakers) == 1 else ""
    names = frozenset(fold(named).casefold().split())
    question = Question(content, common, names)
    doubt = STRANGER if not speakers and _names_a_stranger(content, terms) else 0.0
    mean_tokens = collection.mean_tokens
    lexical = [question.lexical(each, mean_tokens) for each in candidates]
    farthest = math.inf if terms.is_run else FARTHEST
    mean, spread = _moments([value for value, _ in lexical], collection.units, farthest)
    standard = [(value - mean) / spread for value, _ in lexical]
    if alike is not None:
        standard = [
            alike.fused(candidate.unit_id, z)
            for candidate, z in zip(candidates, standard, strict=True)
        ]
    values = priors.added(candidates, standard, terms, named)
    return [
        _scored(question, candidate, value, held, alike, doubt)
        for candidate, value, (_, held) in zip(candidates, values, lexical, strict=True)
    ]


def _scored(
    question: Question,
    candidate: Candidate,
    value: float,
    held: float,
    alike: Alike | None,
    doubt: float,
) -> Scored:
    if alike is None:
        return Scored(candidate, value, max(held - doubt, 0.0), question)
    unit = candidate.unit_id
    coverage = max(alike.relevance(unit, held) - doubt, 0.0)
    return Scored(candidate, value, coverage, question, alike.is_alike(unit))


def _names_a_stranger(content: list[WeighedTerm], terms: SearchTerms) -> bool:
    """Say whether the question names somebody that no unit names, while other words are held.

    Where none is held, as in a question in another language, its words say nothing either way.
    """
    unheld = [each.term.spellings for each in content if not each.frequency]
    is_named = any(not terms.names.isdisjoint(word) for each in unheld for word in each)
    return is_named and len(unheld) < len(content)


def best_by_subject(scored: Iterable[Scored]) -> list[Scored]:
    """The best unit of each subject, best first; ties go to the newer one."""
    best: dict[tuple[str, int], Scored] = {}
    for each in scored:
        key = (each.candidate.kind, each.candidate.subject)
        if key not in best or each.score > best[key].score:
            best[key] = each
    return sorted(best.values(), key=lambda each: (-each.score, -each.candidate.occurred_at))


def relevant(hits: list[Scored], floor: float) -> list[Scored]:
    """The hits that are worth showing: none unless one of the best holds ``floor`` of the question.

    Where something is known, weaker hits may add to it, down to a share of the floor.
    """
    if max((hit.coverage for hit in hits[:_BEST]), default=0.0) < floor:
        return []
    return [hit for hit in hits if hit.coverage >= floor * WEAKEST_SHARE]


def _moments(values: list[float], units: int, farthest: float) -> tuple[float, float]:
    """Mean and spread over the collection, zeros included; the spread is never zero.

    Only so many of the best values count as are always proposed, so that both are the same where a
    later page needs more.
    The spread is taken for so large that no value is farther from the mean than ``farthest``.
    """
    best = sorted(values, reverse=True)[:CANDIDATES]
    count = max(units, len(best), 1)
    mean = sum(best) / count
    variance = sum(value * value for value in best) / count - mean * mean
    largest = max(best, default=0.0) - mean
    return mean, max(math.sqrt(max(variance, 1e-12)), largest / farthest)
