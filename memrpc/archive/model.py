"""The archive's nouns: frozen values and closed sets, without behaviour.

Integer times are microseconds since the epoch, UTC.  ``seq`` and ``key`` are row numbers and stay
inside; callers see ``event_id`` and ``memory_id``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

DEFAULT_SESSION: Final = "default"
"""The session of events whose caller named none: it says nothing about what belongs together."""


class Role(StrEnum):
    """Who spoke, as the host asserts it."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SYSTEM = "system"


class Category(StrEnum):
    """What a text is: said in the conversation, quoted from a document, or a role definition."""

    CONVERSATION = "conversation"
    REFERENCE = "reference"
    PERSONA = "persona"


class MemoryKind(StrEnum):
    """What a memory states."""

    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    EMOTION = "emotion"
    PERSONA = "persona"


class Status(StrEnum):
    """Where a memory stands in its chain of versions."""

    CURRENT = "current"
    SUPERSEDED = "superseded"
    REVOKED = "revoked"


class ExtractionState(StrEnum):
    """How far an event's extraction has come."""

    PENDING = "pending"
    COMPLETE = "complete"
    FAILED = "failed"
    SKIPPED = "skipped"


class Method(StrEnum):
    """What makes memories out of an event."""

    NONE = "none"
    VERBATIM = "verbatim"
    LLM = "llm"
    CLIENT = "client"
    CORRECTION = "correction"


class CueKind(StrEnum):
    """What a cue points at; it is matched, never loaded."""

    TEXT = "text"
    PHOTO = "photo"


class Detail(StrEnum):
    """How much of an episodic memory a recall shows."""

    AUTO = "auto"
    GIST = "gist"
    DETAILED = "detailed"


class Shown(StrEnum):
    """How a memory is shown."""

    FULL = "full"
    GIST = "gist"


class SearchMode(StrEnum):
    """How far a recall looks."""

    FAST = "fast"
    SEMANTIC = "semantic"
    DEEP = "deep"


class EmptyReason(StrEnum):
    """Why a recall found nothing."""

    NO_MATCH = "no_match"
    BELOW_RELEVANCE = "below_relevance"
    SCOPE_EMPTY = "scope_empty"
    OUTSIDE_WINDOW = "outside_window"


class Erasure(StrEnum):
    """Whether the last traces of a forgotten text have left the files."""

    COMPLETE = "complete"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class Scope:
    """The pair that content never leaves."""

    persona_id: str = "default"
    project_id: str = "default"


DEFAULT_SCOPE: Final = Scope()


@dataclass(frozen=True, slots=True)
class Cue:
    """A caller's handle on an event."""

    kind: CueKind
    key: str
    label: str | None = None


@dataclass(frozen=True, slots=True)
class Extraction:
    """The state of an event's extraction; ``error`` never quotes the event."""

    state: ExtractionState
    method: Method
    attempts: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """What was said or seen, exactly."""

    seq: int
    event_id: str
    scope: int
    session_id: str
    role: Role
    category: Category
    source: str
    text: str
    occurred_at: int
    recorded_at: int
    reason: str | None
    extraction: Extraction


@dataclass(frozen=True, slots=True)
class Statement:
    """What an extractor found in an event: a memory to be."""

    kind: MemoryKind
    content: str
    quote: str
    valid_from: int
    inferred: bool = False
    confidence: float = 1.0
    gist: str | None = None
    valid_to: int | None = None
    supersedes: int | None = None
    """The key of the memory that this one makes untrue."""


@dataclass(frozen=True, slots=True)
class Memory:
    """A statement with its source and the half-open window in which it holds."""

    key: int
    memory_id: str
    scope: int
    event_seq: int
    kind: MemoryKind
    content: str
    quote: str
    inferred: bool
    confidence: float
    valid_from: int
    valid_to: int | None
    recorded_at: int
    status: Status
    superseded_by: int | None
    corrects: int | None
    gist: str | None

    def holds_at(self, instant: int) -> bool:
        """Say whether the window contains ``instant``."""
        return self.valid_from <= instant and (self.valid_to is None or instant < self.valid_to)
