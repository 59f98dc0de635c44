"""Recording: an event is durable before anything is made of it.

``record`` commits the event, its place in the index and the job that owes its extraction, all in
the caller's transaction.  ``extraction.extract`` follows in a transaction of its own.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memrpc.archive import cues, events, indexing, memories, rules, scopes, times
from memrpc.archive.answers import Receipt
from memrpc.archive.model import (
    DEFAULT_SCOPE,
    DEFAULT_SESSION,
    Category,
    Cue,
    Event,
    Extraction,
    ExtractionState,
    Method,
    Role,
    Scope,
)
from memrpc.store import jobs
from memrpc.store.errors import Conflict, InvalidState

if TYPE_CHECKING:
    import apsw

EXTRACT: Final = "extract"


@dataclass(frozen=True, slots=True)
class RecordInput:
    """What memory_record takes; ``occurred_at`` is ISO 8601 with a zone."""

    event_id: str
    text: str
    role: Role
    source: str
    category: Category = Category.CONVERSATION
    session_id: str = DEFAULT_SESSION
    occurred_at: str | None = None
    cues: tuple[Cue, ...] = ()
    scope: Scope = DEFAULT_SCOPE


def record(
    db: apsw.Connection, entry: RecordInput, *, now: int, method: Method = Method.VERBATIM
) -> Receipt:
    """Append the event, or return the same receipt for the same payload again.

    Raises InvalidArguments or LimitExceeded for what no event may be, Conflict when the id
    belongs to another payload or scope, InvalidState when it was forgotten.
    """
    check(entry)
    occurred_at = _occurred_at(entry, now)
    payload = digest(entry)
    existing = events.by_id(db, entry.event_id)
    if existing is not None:
        return _repeated(db, existing, entry, payload)
    refuse_forgotten(db, entry.event_id)
    event = Event(
        seq=0,
        event_id=entry.event_id,
        scope=scopes.ensure(db, entry.scope),
        session_id=entry.session_id,
        role=entry.role,
        category=entry.category,
        source=entry.source,
        text=entry.text,
        occurred_at=occurred_at,
        recorded_at=now,
        reason=None,
        extraction=Extraction(ExtractionState.PENDING, method),
    )
    return receipt(db, append(db, event, payload, entry.cues), entry.scope)


def append(db: apsw.Connection, event: Event, payload: bytes, attached: tuple[Cue, ...]) -> Event:
    """Write the event with its cues, its units and, if it owes an extraction, its job."""
    stored = write(db, event, payload, attached)
    indexing.add_event(db, stored)
    return stored


def write(db: apsw.Connection, event: Event, payload: bytes, attached: tuple[Cue, ...]) -> Event:
    """Do as ``append`` and leave the units to the caller."""
    seq = events.insert(db, event, payload)
    cues.add(db, seq, attached)
    stored = events.by_seqs(db, [seq])[seq]
    waits = stored.extraction.state is ExtractionState.PENDING
    if waits and stored.extraction.method is not Method.NONE:
        jobs.enqueue(db, EXTRACT, str(seq), now=stored.recorded_at)
    return stored


def receipt(db: apsw.Connection, event: Event, scope: Scope, *, duplicate: bool = False) -> Receipt:
    """Say what has become of the event so far."""
    return Receipt(
        event_id=event.event_id,
        seq=event.seq,
        recorded_at=times.to_text(event.recorded_at),
        extraction=event.extraction,
        memory_ids=tuple(memory.memory_id for memory in memories.of_events(db, [event.seq])),
        duplicate=duplicate,
        scope=scope,
    )


def check(entry: RecordInput) -> None:
    """Refuse what no event may be."""
    rules.check_scope(entry.scope)
    rules.check_name(entry.event_id, "event_id")
    rules.check_text(entry.text, "text", rules.MAX_TEXT_CHARS)
    rules.check_name(entry.source, "source")
    rules.check_name(entry.session_id, "session_id")
    rules.check_cues(entry.cues)


def digest(entry: RecordInput) -> bytes:
    """Return the SHA-256 of all that makes a payload, byte for byte."""
    parts = [
        entry.text,
        entry.role,
        entry.category,
        entry.source,
        entry.session_id,
        entry.occurred_at,
        [[cue.kind, cue.key, cue.label] for cue in entry.cues],
    ]
    return hashlib.sha256(json.dumps(parts).encode()).digest()


def refuse_forgotten(db: apsw.Connection, event_id: str) -> None:
    """Raise InvalidState if an event of this id was forgotten."""
    if events.is_buried(db, event_id):
        raise InvalidState(
            "The event of this event_id was forgotten, and a forgotten id is not used again; "
            "record under a new event_id if the user wants it kept after all.",
            field="event_id",
        )


def _occurred_at(entry: RecordInput, now: int) -> int:
    return now if entry.occurred_at is None else times.parse(entry.occurred_at, "occurred_at")


def _repeated(db: apsw.Connection, existing: Event, entry: RecordInput, payload: bytes) -> Receipt:
    same_scope = existing.scope == scopes.find(db, entry.scope)
    if not same_scope or events.payload(db, existing.seq) != payload:
        raise Conflict(
            "event_id is taken by an event with another payload or in another scope; nothing was "
            "changed. Send a new event_id, or exactly what was sent before.",
            field="event_id",
        )
    return receipt(db, existing, entry.scope, duplicate=True)
