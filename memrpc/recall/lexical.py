"""Words: how well a candidate's own tokens answer what is asked.

BM25 over weighted columns that saturate together (BM25F), with the collection's own document
frequencies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from memrpc.recall.query import Term

COLUMN_WEIGHTS: Final = (1.0, 0.6, 1.5, 0.4, 0.4, 0.2, 0.8)
"""Of own, joined, head, prev, next, near, meta."""
ANSWER_WEIGHTS: Final = (1.0, 0.6, 1.5, 1.2, 0.4, 0.2, 0.8)
"""The same where the text before is a question: what it asks is what this one is about."""
_SOURCES: Final = ("text", "text", "text", "context", "context", "context", "date_or_speaker")
SATURATION: Final = 1.2
RUN_SATURATION: Final = 0.8
"""Of pairs: one that stands in a text again and again is rather a name than a point made."""
LENGTH_SHARE: Final = 0.85
CONTEXT_LENGTH_SHARE: Final = 0.4
"""BM25's k1 and b; to units with neighbours length counts less, for much of it is not their own."""
COMMON_WEIGHT: Final = 0.35
UNHELD_PAIR_SHARE: Final = 0.35


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
    counts: tuple[int, ...]
    """How many units hold each of its spellings."""
    frequency: int
    rarity: float

    @classmethod
    def of(cls, term: Term, counts: tuple[int, ...], collection: Collection) -> WeighedTerm:
        """Weigh by the term's own weight and inverse document frequency, always positive."""
        frequency = min(sum(counts), collection.units)
        rarity = math.log(1 + (collection.units - frequency + 0.5) / (frequency + 0.5))
        return cls(term, counts, frequency, term.weight * rarity)


class Candidate(NamedTuple):
    """A unit that full text proposed; a named tuple because each search makes hundreds."""

    unit_id: int
    kind: str
    subject: int
    start: int
    length: int
    occurred_at: int
    session: str
    speaker: str
    role: str
    asks: int
    answers: int
    is_code: int
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

    def column_weights(self) -> tuple[float, ...]:
        """What a token is worth in each of the columns."""
        return ANSWER_WEIGHTS if self.answers else COLUMN_WEIGHTS


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


class Question:
    """What is sought, and how well a candidate answers it.

    Each token sought has a place in a list of weights, from 1 on.  The terms are kept as tuples of
    plain values, because the loops over them run for each of hundreds of candidates.
    """

    __slots__ = ("_count", "_find", "_held", "_saturation", "_terms", "asked", "phrases")

    def __init__(
        self, content: list[WeighedTerm], common: list[WeighedTerm], names: frozenset[str]
    ) -> None:
        self.asked = sum(_asked(each, names) for each in content)
        is_run = any(each.term.is_pair for each in content)
        self._saturation = RUN_SATURATION if is_run else SATURATION
        sought = [_Sought.of(each, names) for each in (*content, *common) if each.frequency]
        weighed = len([each for each in content if each.frequency])
        self.phrases = tuple(phrase for each in sought for phrase in each.phrases)
        tokens = dict.fromkeys(token for each in sought for token in each.tokens)
        places = {token: place for place, token in enumerate(tokens, start=1)}
        self._find = places.get
        self._held: dict[str, list[int]] = {}
        self._count = len(places) + 1
        self._terms = [
            (
                tuple(places[token] for token in each.tokens),
                each.phrases,
                each.rarity * (1.0 if number < weighed else COMMON_WEIGHT),
                each.asked if number < weighed else 0.0,
            )
            for number, each in enumerate(sought)
        ]

    def lexical(self, candidate: Candidate, mean_tokens: float) -> tuple[float, float]:
        """BM25F, and the share of the content's rarity that the candidate holds."""
        columns = candidate.columns()
        factors = candidate.column_weights()
        weights = self._token_weights(columns, factors)
        drag = self._saturation * _stretch(candidate, mean_tokens)
        total = held = 0.0
        for places, phrases, rarity, asked in self._terms:
            weight = 0.0
            for place in places:
                weight += weights[place]
            for phrase in phrases:
                weight += _phrase_weight(phrase, columns, factors)
            if weight:
                total += rarity * weight / (weight + drag)
                held += asked
        return total * (self._saturation + 1), held / self.asked if self.asked else 1.0

    def sources(self, candidate: Candidate) -> tuple[str, ...]:
        """Groups of columns that hold something of the question, most telling first."""
        held: dict[str, None] = {}
        for column, source in zip(candidate.columns(), _SOURCES, strict=True):
            if column and source not in held and self._is_in(column):
                held[source] = None
        return tuple(held)

    def _is_in(self, column: str) -> bool:
        if self._places(column):
            return True
        padded = f" {column} "
        return any(phrase in padded for phrase in self.phrases)

    def _token_weights(self, columns: tuple[str, ...], factors: tuple[float, ...]) -> list[float]:
        """By place, a token's occurrences, each worth its column."""
        weights = [0.0] * self._count
        for column, factor in zip(columns, factors, strict=True):
            if column:
                for place in self._places(column):
                    weights[place] += factor
        return weights

    def _places(self, column: str) -> list[int]:
        """The places of the tokens sought that the column holds.

        They are kept, because a text is met again as the context of its neighbours.
        """
        found = self._held.get(column)
        if found is None:
            found = self._held[column] = list(filter(None, map(self._find, column.split())))
        return found


def _phrase_weight(phrase: str, columns: tuple[str, ...], factors: tuple[float, ...]) -> float:
    weighed = zip(columns, factors, strict=True)
    return sum(factor * f" {column} ".count(phrase) for column, factor in weighed if column)


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


def _stretch(candidate: Candidate, mean_tokens: float) -> float:
    """By how much the candidate's length stretches BM25's k1."""
    share = CONTEXT_LENGTH_SHARE if candidate.prev or candidate.next else LENGTH_SHARE
    return 1 - share + share * (candidate.tokens / mean_tokens)
