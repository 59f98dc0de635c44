"""Ranking: what a candidate is worth, from its tokens, its speaker, its session and its time.

The lexical part is BM25 over weighted columns that saturate together (BM25F), with the
collection's own document frequencies.  Priors are added in units of the spread (standard
deviation) of the lexical scores over the whole collection, units without a match counting as
zero; so they weigh alike in every collection, whatever the question's length.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memrpc.recall.text import fold, stemmed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memrpc.recall.fusion import Alike
    from memrpc.recall.query import SearchTerms, Term

COLUMN_WEIGHTS: Final = (1.0, 0.6, 1.5, 0.6, 0.4, 0.2, 0.6)
"""Of own, joined, head, prev, next, near, meta."""
_SOURCES: Final = ("text", "text", "text", "context", "context", "context", "date_or_speaker")
SATURATION: Final = 1.2
LENGTH_SHARE: Final = 0.85
CONTEXT_SATURATION: Final = 0.9
CONTEXT_LENGTH_SHARE: Final = 0.4
"""BM25's k1 and b; units with neighbours have theirs, for much of their length is not their own."""
COMMON_WEIGHT: Final = 0.35
UNHELD_PAIR_SHARE: Final = 0.35
SPEAKER_PRIOR: Final = 0.8
WHEN_PRIOR: Final = 0.5
SESSION_PRIOR: Final = 0.3
WEAKEST_SHARE: Final = 0.25
_SESSION_BEST: Final = 3
_BEST: Final = 5

_TELLING_TIME: Final = """
    yesterday today tomorrow tonight ago last next week month year day weekend monday tuesday
    wednesday thursday friday saturday sunday january february march april may june july august
    september october november december morning evening afternoon night since recent recently
    summer winter spring autumn fall
"""
_TIME_WORDS: Final = frozenset(map(stemmed, _TELLING_TIME.split()))


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
    """A candidate with its score and the share of the question that it answers.

    ``coverage`` is the share of the question's rarity that the candidate holds, corrected by
    likeness where that is known.
    """

    candidate: Candidate
    score: float
    coverage: float
    question: Question
    is_alike: bool = False

    @property
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
    named = _named_speaker(candidates, terms)
    names = frozenset(fold(named).casefold().split())
    question = Question(content, common, names)
    lexical = [question.lexical(each, collection) for each in candidates]
    mean, spread = _moments([value for value, _ in lexical], collection.units)
    standard = [(value - mean) / spread for value, _ in lexical]
    if alike is not None:
        standard = [
            alike.fused(candidate.unit_id, z)
            for candidate, z in zip(candidates, standard, strict=True)
        ]
    priors = _priors(candidates, standard, terms, named)
    return [
        _scored(question, candidate, z + prior, coverage, alike)
        for candidate, z, prior, (_, coverage) in zip(
            candidates, standard, priors, lexical, strict=True
        )
    ]


def _scored(
    question: Question, candidate: Candidate, value: float, held: float, alike: Alike | None
) -> Scored:
    if alike is None:
        return Scored(candidate, value, held, question)
    unit = candidate.unit_id
    return Scored(candidate, value, alike.relevance(unit, held), question, alike.is_alike(unit))


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


def _moments(values: list[float], units: int) -> tuple[float, float]:
    """Mean and spread over the collection, zeros included; the spread is never zero."""
    count = max(units, len(values), 1)
    mean = sum(values) / count
    variance = sum(value * value for value in values) / count - mean * mean
    return mean, math.sqrt(max(variance, 1e-12))


@dataclass(frozen=True, slots=True)
class _Sought:
    """A weighed term, taken apart for looking at many candidates."""

    tokens: tuple[str, ...]
    """Spellings of one whole token."""
    phrases: tuple[str, ...]
    """The other spellings, as text to be found between spaces."""
    rarity: float
    asked: float

    @classmethod
    def of(cls, weighed: WeighedTerm, names: frozenset[str]) -> _Sought:
        """Sort the spellings; a beginning has no space after it."""
        term = weighed.term
        is_token = [len(spelling) == 1 and not term.is_prefix for spelling in term.spellings]
        end = "" if term.is_prefix else " "
        sorted_out = list(zip(term.spellings, is_token, strict=True))
        return cls(
            tokens=tuple(spelling[0] for spelling, single in sorted_out if single),
            phrases=tuple(f" {' '.join(each)}{end}" for each, single in sorted_out if not single),
            rarity=weighed.rarity,
            asked=_asked(weighed, names),
        )

    def weight(self, columns: tuple[str, ...], weights: dict[str, float]) -> float:
        """Occurrences of any spelling, each worth its column."""
        total = 0.0
        for token in self.tokens:
            total += weights.get(token, 0.0)
        for phrase in self.phrases:
            for column, factor in zip(columns, COLUMN_WEIGHTS, strict=True):
                total += factor * f" {column} ".count(phrase)
        return total


class Question:
    """What is sought, and how well a candidate answers it."""

    __slots__ = ("asked", "common", "content", "phrases", "wanted")

    def __init__(
        self, content: list[WeighedTerm], common: list[WeighedTerm], names: frozenset[str]
    ) -> None:
        self.content = [_Sought.of(each, names) for each in content if each.frequency]
        self.common = [_Sought.of(each, names) for each in common if each.frequency]
        self.asked = sum(_asked(each, names) for each in content)
        sought = (*self.content, *self.common)
        self.wanted = frozenset(token for each in sought for token in each.tokens)
        self.phrases = tuple(phrase for each in sought for phrase in each.phrases)

    def lexical(self, candidate: Candidate, collection: Collection) -> tuple[float, float]:
        """BM25F, and the share of the content's rarity that the candidate holds."""
        columns = candidate.columns()
        weights = self._token_weights(columns)
        saturation, drag = _damping(candidate, collection)
        total = held = 0.0
        for each in self.content:
            weight = each.weight(columns, weights)
            if weight:
                total += each.rarity * weight / (weight + drag)
                held += each.asked
        for each in self.common:
            weight = each.weight(columns, weights)
            total += COMMON_WEIGHT * each.rarity * weight / (weight + drag)
        return total * (saturation + 1), held / self.asked if self.asked else 1.0

    def sources(self, candidate: Candidate) -> tuple[str, ...]:
        """Groups of columns that hold something of the question, most telling first."""
        held: dict[str, None] = {}
        for column, source in zip(candidate.columns(), _SOURCES, strict=True):
            if column and source not in held and self._is_in(column):
                held[source] = None
        return tuple(held)

    def _is_in(self, column: str) -> bool:
        if not self.wanted.isdisjoint(column.split()):
            return True
        padded = f" {column} "
        return any(phrase in padded for phrase in self.phrases)

    def _token_weights(self, columns: tuple[str, ...]) -> dict[str, float]:
        """Wanted token -> its occurrences, each worth its column."""
        weights: dict[str, float] = {}
        wanted = self.wanted
        for column, factor in zip(columns, COLUMN_WEIGHTS, strict=True):
            if not column:
                continue
            tokens = column.split()
            for token in wanted.intersection(tokens):
                weights[token] = weights.get(token, 0.0) + factor * tokens.count(token)
        return weights


def _asked(weighed: WeighedTerm, names: frozenset[str]) -> float:
    """How much a term counts in what was asked for: even what everything holds is something.

    A speaker's name says whose words are wanted, not which; a pair of code points that nothing
    holds may merely straddle two words.
    """
    spellings = weighed.term.spellings
    if any(len(spelling) == 1 and spelling[0] in names for spelling in spellings):
        return 0.0
    is_artefact = weighed.term.is_pair and not weighed.frequency
    return (1 + weighed.rarity) * (UNHELD_PAIR_SHARE if is_artefact else 1.0)


def _damping(candidate: Candidate, collection: Collection) -> tuple[float, float]:
    """BM25's k1, and k1 stretched by the candidate's length."""
    has_context = candidate.prev or candidate.next
    saturation = CONTEXT_SATURATION if has_context else SATURATION
    share = CONTEXT_LENGTH_SHARE if has_context else LENGTH_SHARE
    ratio = candidate.tokens / collection.mean_tokens
    return saturation, saturation * (1 - share + share * ratio)


def _priors(
    candidates: list[Candidate], standard: list[float], terms: SearchTerms, named: str
) -> list[float]:
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
