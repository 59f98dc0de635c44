"""Ranking: what a candidate is worth, from its tokens, its speaker, its session and its time.

The lexical part is BM25 over weighted columns that saturate together (BM25F), with the collection's
own document frequencies.  Priors are added in units of the spread (standard deviation) of the lexical
scores over the whole collection, units without a match counting as zero; so they weigh alike in
every collection, whatever the question's length.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from memrpc.recall.text import fold

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memrpc.recall.query import SearchTerms, Term

COLUMN_WEIGHTS: Final = (1.0, 0.6, 1.5, 0.6, 0.4, 0.2, 0.6)
"""Of own, joined, head, prev, next, near, meta."""
SATURATION: Final = 1.2
LENGTH_SHARE: Final = 0.75
COMMON_WEIGHT: Final = 0.5
SPEAKER_PRIOR: Final = 0.8
WHEN_PRIOR: Final = 0.5
SESSION_PRIOR: Final = 0.3
_SESSION_BEST: Final = 3

_TIME_WORDS: Final = frozenset(
    """
    yesterday today tomorrow tonight ago last next week month year day weekend monday tuesday wednesday
    thursday friday saturday sunday januari februari march april may june juli august septemb octob
    novemb decemb morn even afternoon night sinc recent summer winter spring autumn fall
    """.split()
)


@dataclass(frozen=True, slots=True)
class Collection:
    """One kind in one scope, with what its statistics need."""

    kind: str
    prefix: str
    units: int
    tokens: int

    @property
    def mean_tokens(self) -> float:
        """Tokens of an average unit, at least one."""
        return max(self.tokens / max(self.units, 1), 1.0)


@dataclass(frozen=True, slots=True)
class WeighedTerm:
    """A term with how many units hold it and how much that says."""

    term: Term
    frequency: int
    rarity: float

    @classmethod
    def of(cls, term: Term, frequency: int, collection: Collection) -> WeighedTerm:
        """Weigh by inverse document frequency, always positive."""
        rarity = math.log(1 + (collection.units - frequency + 0.5) / (frequency + 0.5))
        return cls(term, frequency, rarity)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A unit that full text proposed."""

    unit_id: int
    kind: str
    subject: int
    start: int
    length: int
    occurred_at: int
    session: str
    speaker: str
    role: str
    tokens: int
    own: str
    joined: str
    head: str
    prev: str
    next: str
    near: str
    meta: str

    def columns(self) -> tuple[str, ...]:
        """The token columns in the order of ``COLUMN_WEIGHTS``."""
        return (self.own, self.joined, self.head, self.prev, self.next, self.near, self.meta)


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its score and the share of the question's rarity that it holds."""

    candidate: Candidate
    score: float
    coverage: float
    matched_by: tuple[str, ...]


def score(
    candidates: list[Candidate],
    content: list[WeighedTerm],
    common: list[WeighedTerm],
    collection: Collection,
    terms: SearchTerms,
) -> list[Scored]:
    """Score ``candidates`` in full; in no particular order."""
    question = _Question(content, common)
    lexical = [question.lexical(each, collection) for each in candidates]
    mean, spread = _moments([value for value, _ in lexical], collection.units)
    standard = [(value - mean) / spread for value, _ in lexical]
    priors = _priors(candidates, standard, terms)
    return [
        Scored(candidate, z + prior, coverage, ("text",))
        for candidate, z, prior, (_, coverage) in zip(
            candidates, standard, priors, lexical, strict=True
        )
    ]


def best_by_subject(scored: Iterable[Scored]) -> list[Scored]:
    """The best unit of each subject, best first; ties go to the newer one."""
    best: dict[tuple[str, int], Scored] = {}
    for each in scored:
        key = (each.candidate.kind, each.candidate.subject)
        if key not in best or each.score > best[key].score:
            best[key] = each
    return sorted(best.values(), key=lambda each: (-each.score, -each.candidate.occurred_at))


def _moments(values: list[float], units: int) -> tuple[float, float]:
    """Mean and spread over the collection, zeros included; the spread is never zero."""
    count = max(units, len(values), 1)
    mean = sum(values) / count
    variance = sum(value * value for value in values) / count - mean * mean
    return mean, math.sqrt(max(variance, 1e-12))


class _Question:
    """Weighed terms, prepared for looking at many candidates."""

    __slots__ = ("asked", "common", "content", "wanted")

    def __init__(self, content: list[WeighedTerm], common: list[WeighedTerm]) -> None:
        self.content = [each for each in content if each.frequency]
        self.common = [each for each in common if each.frequency]
        self.asked = sum(each.rarity for each in content)
        self.wanted = frozenset(
            token
            for each in (*content, *common)
            for spelling in each.term.spellings
            for token in spelling
        )

    def lexical(self, candidate: Candidate, collection: Collection) -> tuple[float, float]:
        """BM25F, and the share of the content's rarity that the candidate holds."""
        seen = _Seen(candidate, self.wanted)
        ratio = candidate.tokens / collection.mean_tokens
        drag = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * ratio)
        total = held = 0.0
        for each in self.content:
            weight = seen.weight(each.term)
            if weight:
                total += each.rarity * weight * (SATURATION + 1) / (weight + drag)
                held += each.rarity
        for each in self.common:
            weight = seen.weight(each.term)
            total += COMMON_WEIGHT * each.rarity * weight * (SATURATION + 1) / (weight + drag)
        return total, held / self.asked if self.asked else 1.0


class _Seen:
    """What of a question's tokens a candidate has: token -> its column weights, summed."""

    __slots__ = ("columns", "weights")

    def __init__(self, candidate: Candidate, wanted: frozenset[str]) -> None:
        self.columns = candidate.columns()
        self.weights: dict[str, float] = {}
        weights = self.weights
        for column, factor in zip(self.columns, COLUMN_WEIGHTS, strict=True):
            for token in column.split():
                if token in wanted:
                    weights[token] = weights.get(token, 0.0) + factor

    def weight(self, term: Term) -> float:
        """The weight of ``term``: occurrences of any spelling, each worth its column."""
        return sum(
            self.weights.get(spelling[0], 0.0)
            if len(spelling) == 1 and not term.is_prefix
            else self._phrase_weight(spelling, is_prefix=term.is_prefix)
            for spelling in term.spellings
        )

    def _phrase_weight(self, spelling: tuple[str, ...], *, is_prefix: bool) -> float:
        if not all(token in self.weights for token in spelling[:-1]):
            return 0.0
        phrase = f" {' '.join(spelling)}" + ("" if is_prefix else " ")
        return sum(
            factor * f" {column} ".count(phrase)
            for column, factor in zip(self.columns, COLUMN_WEIGHTS, strict=True)
        )


def _priors(candidates: list[Candidate], standard: list[float], terms: SearchTerms) -> list[float]:
    named = _named_speaker(candidates, terms)
    sessions = _session_means(candidates, standard)
    return [
        (SPEAKER_PRIOR if _is_by(each, named, terms) else 0.0)
        + (WHEN_PRIOR if terms.asks_when and _tells_time(each) else 0.0)
        + SESSION_PRIOR * sessions.get(each.session, 0.0)
        for each in candidates
    ]


def _named_speaker(candidates: list[Candidate], terms: SearchTerms) -> str:
    """The one speaker that the question names, if it names exactly one."""
    speakers = {each.speaker for each in candidates if each.speaker}
    named = [name for name in speakers if _is_named(name, terms)]
    return named[0] if len(named) == 1 else ""


def _is_named(speaker: str, terms: SearchTerms) -> bool:
    words = fold(speaker).casefold().split()
    return bool(words) and all(word in terms.words for word in words)


def _is_by(candidate: Candidate, named: str, terms: SearchTerms) -> bool:
    if named:
        return candidate.speaker == named
    return terms.is_first_person and candidate.role == "user"


def _tells_time(candidate: Candidate) -> bool:
    return not _TIME_WORDS.isdisjoint(candidate.own.split())


def _session_means(candidates: list[Candidate], standard: list[float]) -> dict[str, float]:
    """Mean of each named session's best standard scores; missing ones count as zero."""
    by_session: dict[str, list[float]] = defaultdict(list)
    for candidate, value in zip(candidates, standard, strict=True):
        if candidate.session:
            by_session[candidate.session].append(value)
    return {
        session: sum(sorted(values, reverse=True)[:_SESSION_BEST]) / _SESSION_BEST
        for session, values in by_session.items()
    }
