"""What the archive answers, field for field as the tools' output schemas name them.

Times are ISO 8601 in UTC.  A field that is None is left out of an answer unless its schema
says that it may be null.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from memrpc.archive.model import (
        Category,
        Cue,
        EmptyReason,
        Erasure,
        Extraction,
        MemoryKind,
        Role,
        Scope,
        Shown,
        Status,
    )

# The mark of a field whose schema allows null: it is shown as null and not left out.
NULLABLE: Final[dict[str, Any]] = {"nullable": True}


@dataclass(frozen=True, slots=True)
class Receipt:
    """What memory_record answers."""

    event_id: str
    seq: int
    recorded_at: str
    extraction: Extraction
    memory_ids: tuple[str, ...]
    duplicate: bool
    scope: Scope


@dataclass(frozen=True, slots=True)
class FoundMemory:
    """A memory as a recall shows it."""

    memory_id: str
    content: str
    kind: MemoryKind
    inferred: bool
    confidence: float
    asserted_by: Role
    category: Category
    quote: str | None
    event_id: str
    session_id: str
    source: str
    occurred_at: str
    recorded_at: str
    valid_from: str
    valid_to: str | None
    status: Status
    superseded_by: str | None
    corrects: str | None
    detail: Shown
    score: float
    matched_by: tuple[str, ...]
    truncated: bool | None = None
    context: str | None = None


@dataclass(frozen=True, slots=True)
class RawEvent:
    """An event that matches without a memory in the answer."""

    event_id: str
    excerpt: str
    truncated: bool
    read_offset: int
    role: Role
    category: Category
    source: str
    session_id: str
    occurred_at: str
    recorded_at: str
    score: float
    matched_by: tuple[str, ...]
    superseded: bool | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """What there was to look at, and how much of it was looked at."""

    events: int
    memories: int
    pending_extractions: int
    pending_vectors: int
    vectors_eligible: int
    vectors_scanned: int
    mode: str


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """What memory_recall answers; the two lists merge into one by falling score."""

    memories: tuple[FoundMemory, ...]
    raw: tuple[RawEvent, ...]
    coverage: Coverage
    warnings: tuple[str, ...]
    scope: Scope
    reason: EmptyReason | None = None
    near_projects: tuple[str, ...] | None = None
    truncated: bool | None = None
    next_offset: int | None = None


@dataclass(frozen=True, slots=True)
class EventRecord:
    """An event as memory_read shows it, without its text."""

    event_id: str
    seq: int
    session_id: str
    role: Role
    category: Category
    source: str
    occurred_at: str
    recorded_at: str
    payload_sha256: str
    reason: str | None
    cues: tuple[Cue, ...]
    extraction: Extraction
    memory_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MemoryRecord:
    """A memory as memory_read shows it."""

    memory_id: str
    kind: MemoryKind
    content: str
    quote: str
    event_id: str
    asserted_by: Role
    category: Category
    inferred: bool
    confidence: float
    valid_from: str
    valid_to: str | None
    recorded_at: str
    status: Status
    superseded_by: str | None
    corrects: str | None
    gist: str | None


@dataclass(frozen=True, slots=True)
class SourcePage:
    """A page of an event's original text; offsets count Unicode code points."""

    text: str
    offset: int
    next_offset: int | None = field(metadata=NULLABLE)
    total_chars: int = 0


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """What memory_read answers."""

    record_id: str
    event: EventRecord
    source_page: SourcePage
    scope: Scope
    memory: MemoryRecord | None = None


@dataclass(frozen=True, slots=True)
class ForgetReceipt:
    """What memory_forget answers."""

    deleted_event_ids: tuple[str, ...]
    deleted_memory_ids: tuple[str, ...]
    invalidated_checkpoints: int
    erasure: Erasure
    scope: Scope


@dataclass(frozen=True, slots=True)
class CorrectionReceipt:
    """What memory_correct answers."""

    replacement_id: str
    revoked_ids: tuple[str, ...]
    correction_event_id: str
    invalidated_checkpoints: int
    scope: Scope


@dataclass(frozen=True, slots=True)
class CheckpointState:
    """Where a task stands, in the caller's words."""

    goal: str
    completed: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    next_step: str = ""


@dataclass(frozen=True, slots=True)
class CheckpointReceipt:
    """What session_checkpoint answers."""

    checkpoint_id: str
    state: CheckpointState
    session_id: str
    covered_event_id: str
    covered_seq: int
    created_at: str
    scope: Scope


@dataclass(frozen=True, slots=True)
class TokenMethod:
    """By which counter a context was measured."""

    tokenizer: str
    exact: bool


@dataclass(frozen=True, slots=True)
class Omitted:
    """A part that was selected for a context and left out of it."""

    component: str
    id: str
    tokens: int
    reason: str


@dataclass(frozen=True, slots=True)
class ResumeAnswer:
    """What session_resume answers."""

    context: str
    status: str
    token_count: int
    token_method: TokenMethod
    omitted: tuple[Omitted, ...]
    warnings: tuple[str, ...]
    scope: Scope
    checkpoint_id: str | None = field(metadata=NULLABLE, default=None)
    required_tokens: int | None = None
