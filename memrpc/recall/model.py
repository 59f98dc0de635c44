"""What recall takes and gives: documents to index, requests, hits."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from memrpc.recall.meaning import Meaning


class Kind(enum.StrEnum):
    """What can be indexed; a kind in a scope is a collection with statistics of its own."""

    EVENT = "event"
    MEMORY = "memory"
    ENTRY = "entry"
    TASK = "task"
    STANDARD = "standard"


class EmptyReason(enum.StrEnum):
    """Why a search found nothing."""

    NO_MATCH = "no_match"
    BELOW_RELEVANCE = "below_relevance"


@dataclass(frozen=True, slots=True)
class Document:
    """One subject's text and what surrounds it; recall cuts long text into units by itself."""

    kind: str
    subject: int
    scope: int
    text: str
    speaker: str = ""
    role: str = ""
    occurred_at: int = 0
    session: str = ""
    before: tuple[str, ...] = ()
    """The texts of the two previous documents of the session, nearest first."""
    after: tuple[str, ...] = ()
    """The texts of the two next ones, nearest first."""
    head: str = ""
    """A title or a signature: few words that say most."""


DEFAULT_FLOOR: Final = 0.18
"""Chosen on the curve that ``python -m benchmarks.quality`` draws; see docs/recall.md."""


def never_cancelled() -> None:
    """Stand in for a cancellation check where nothing can be cancelled."""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A question to the collections ``kinds`` of one scope."""

    text: str
    scope: int
    kinds: tuple[str, ...] = (Kind.EVENT,)
    now: int = 0
    within: Mapping[str, Collection[int]] | None = None
    """Per kind the only subjects that may be hits; a kind that is absent is not restricted."""
    limit: int = 10
    floor: float = DEFAULT_FLOOR
    """The share of what the question asks for (by rarity) that one of the best hits must hold."""
    checkpoint: Callable[[], None] = never_cancelled
    """Called between stages; raises when the search is not wanted any more."""
    meaning: Meaning | None = None
    """The question as an embedder reads it; None: only its words count."""
    exact: bool = False
    """Whether every word proposes, however common; takes much longer in a large collection."""

    def subjects(self, kind: str) -> Collection[int] | None:
        """The only subjects of this kind that may be hits; None where any may."""
        return None if self.within is None else self.within.get(kind)


@dataclass(frozen=True, slots=True)
class Hit:
    """A subject that matched, with the span (code points) of its best chunk."""

    kind: str
    subject: int
    score: float
    start: int
    length: int
    sources: Callable[[], tuple[str, ...]] = field(compare=False, repr=False)

    @property
    def matched_by(self) -> tuple[str, ...]:
        """Which groups of columns the match is in, found out when it is asked for."""
        return self.sources()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits of all kinds together, best first, on one scale."""

    hits: tuple[Hit, ...]
    reason: EmptyReason | None
    units: int
    """How many units the collections hold."""
    candidates: int
    """How many of them matched and were scored."""
    subjects: int
    """How many subjects those are of."""
