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
    lexical = [_lexical(each, content, common, collection) for each in candidates]
    mean, spread = _moments([value for value, _, _ in lexical], collection.units)
    standard = [(value - mean) / spread for value, _, _ in lexical]
    priors = _priors(candidates, standard, terms)
    return [
        Scored(candidate, z + prior, coverage, matched_by)
        for candidate, z, prior, (_, coverage, matched_by) in zip(
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


def _lexical(
    candidate: Candidate,
    content: list[WeighedTerm],
    common: list[WeighedTerm],
    collection: Collection,
) -> tuple[float, float, tuple[str, ...]]:
    """BM25F, the share of content rarity that is held, and where."""
    columns = [_Column(text) for text in candidate.columns()]
    length = 1 - LENGTH_SHARE + LENGTH_SHARE * candidate.tokens / collection.mean_tokens
    total = held = 0.0
    sources: set[str] = set()
    for each in content:
        gain, found = _gain(each.term, columns, length)
        total += each.rarity * gain
        held += each.rarity if gain else 0.0
        sources |= found
    for each in common:
        total += COMMON_WEIGHT * each.rarity * _gain(each.term, columns, length)[0]
    asked = sum(each.rarity for each in content)
    return total, held / asked if asked else 1.0, tuple(sorted(sources))


_SOURCES: Final = ("text", "text", "text", "context", "context", "context", "date_or_speaker")


def _gain(term: Term, columns: list[_Column], length: float) -> tuple[float, set[str]]:
    weight = 0.0
    sources: set[str] = set()
    for column, factor, source in zip(columns, COLUMN_WEIGHTS, _SOURCES, strict=True):
        count = column.count(term)
        if count:
            weight += factor * count
            sources.add(source)
    return weight * (SATURATION + 1) / (weight + SATURATION * length), sources


class _Column:
    """A column's tokens, counted once."""

    __slots__ = ("counts", "padded")

    def __init__(self, text: str) -> None:
        self.counts: dict[str, int] = defaultdict(int)
        self.padded = f" {text} "
        for token in text.split():
            self.counts[token] += 1

    def count(self, term: Term) -> int:
        """How often any spelling of ``term`` stands here."""
        if term.is_prefix:
            return sum(self.padded.count(" " + " ".join(each)) for each in term.spellings)
        return sum(
            self.counts.get(each[0], 0)
            if len(each) == 1
            else self.padded.count(f" {' '.join(each)} ")
            for each in term.spellings
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
