"""Correcting: the user says what is true instead, and from when.

The correction is an event of its own, the replacement its only memory.  Every version from the
corrected one on is revoked and its window closed where the replacement's begins: at the same
start nothing is left of it, at a later one it still held before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memrpc.archive import (
    checkpoints,
    cues,
    events,
    indexing,
    memories,
    reading,
    recording,
    rules,
    times,
)
from memrpc.archive.answers import CorrectionReceipt
from memrpc.archive.memories import Origin
from memrpc.archive.model import (
    DEFAULT_SCOPE,
    Category,
    Event,
    Extraction,
    ExtractionState,
    MemoryKind,
    Method,
    Role,
    Scope,
    Statement,
    Status,
)
from memrpc.archive.recording import RecordInput
from memrpc.store.errors import Forbidden, InvalidArguments, InvalidState

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from memrpc.archive.model import Memory

EXTRACTOR: Final = "correction:1"
SOURCE: Final = "correction"


@dataclass(frozen=True, slots=True)
class CorrectInput:
    """What memory_correct takes; ``valid_at`` is ISO 8601 with a zone, None for the old start."""

    memory_id: str
    content: str
    reason: str
    valid_at: str | None = None
    scope: Scope = DEFAULT_SCOPE


def correct(
    db: apsw.Connection, request: CorrectInput, *, now: int, new_id: Callable[[], str]
) -> CorrectionReceipt:
    """Put the right statement in place of the memory and of every later version of it.

    Raises NotFound for an unknown memory, Forbidden for the persona's, InvalidState for an
    emotion, InvalidArguments when the window would be empty; then nothing has changed.
    """
    check(request)
    old = _find(db, request)
    chain = later_versions(db, old)
    end = chain[-1].valid_to
    start = _start(request, old, end)
    event = _append(db, request, old, now=now, event_id=new_id())
    statement = Statement(old.kind, event.text, event.text, start, confidence=1.0)
    origin = Origin(event.scope, event.seq, EXTRACTOR, 0, now, valid_to=end, corrects=old.key)
    replacement_id = new_id()
    replacement = memories.insert(db, statement, origin, replacement_id)
    for version in chain:
        memories.retire(db, version, Status.REVOKED, by=replacement, at=start)
    memories.close(db, [memory.key for memory in _earlier(db, chain)], at=start)
    _reindex(db, chain)
    return CorrectionReceipt(
        replacement_id=replacement_id,
        revoked_ids=tuple(version.memory_id for version in chain),
        correction_event_id=event.event_id,
        invalidated_checkpoints=checkpoints.invalidate(db, event.scope, "correct", now=now),
        scope=request.scope,
    )


def check(request: CorrectInput) -> None:
    """Refuse a correction that says nothing or too much."""
    rules.check_scope(request.scope)
    rules.check_text(request.content, "content", rules.MAX_CONTENT_CHARS)
    rules.check_text(request.reason, "reason", rules.MAX_CONTENT_CHARS)


def later_versions(db: apsw.Connection, memory: Memory) -> list[Memory]:
    """Return the memory and every version that took its place, the newest last."""
    chain = [memory]
    while True:
        keys = {version.key for version in chain}
        later = [
            version
            for version in memories.linked(db, keys)
            if version.key not in keys and version.key > memory.key
        ]
        if not later:
            return sorted(chain, key=lambda version: version.key)
        chain += later


def _find(db: apsw.Connection, request: CorrectInput) -> Memory:
    event, memory = reading.find(db, request.memory_id, request.scope, field="memory_id")
    if memory is None:
        ids = [memory.memory_id for memory in memories.of_events(db, [event.seq])]
        raise InvalidArguments(
            "memory_id is the id of an event; send that of one of its memories: "
            f"{', '.join(ids) or 'it has none'}.",
            field="memory_id",
        )
    if memory.kind is MemoryKind.PERSONA:
        raise Forbidden(
            "memory_id is part of the persona, which only the user edits, at the command line "
            "(memrpc persona edit).",
            field="memory_id",
        )
    if memory.kind is MemoryKind.EMOTION:
        raise InvalidState(
            "memory_id is an emotion, which is not corrected: forget it with memory_forget and "
            "record a new expression of the assistant with memory_record.",
            field="memory_id",
        )
    return memory


def _start(request: CorrectInput, old: Memory, end: int | None) -> int:
    """Return when the replacement begins to hold; it must do so before the end it inherits."""
    if request.valid_at is None:
        start = old.valid_from
    else:
        start = times.parse(request.valid_at, "valid_at")
    if end is not None and start >= end:
        raise InvalidArguments(
            f"valid_at must lie before {times.to_text(end)}, when the memory ceases to hold; "
            "send an earlier time or leave valid_at out.",
            field="valid_at",
            valid_to=times.to_text(end),
        )
    return start


def _append(
    db: apsw.Connection, request: CorrectInput, old: Memory, *, now: int, event_id: str
) -> Event:
    """Write the correction into the log, in the session and with the cues of what it corrects."""
    corrected = events.by_seqs(db, [old.event_seq])[old.event_seq]
    attached = cues.of_event(db, corrected.seq)
    session_id = corrected.session_id
    entry = RecordInput(
        event_id, request.content, Role.USER, SOURCE, session_id=session_id, cues=attached
    )
    event = Event(
        seq=0,
        event_id=event_id,
        scope=old.scope,
        session_id=session_id,
        role=Role.USER,
        category=Category.CONVERSATION,
        source=SOURCE,
        text=request.content,
        occurred_at=now,
        recorded_at=now,
        reason=request.reason,
        extraction=Extraction(ExtractionState.COMPLETE, Method.CORRECTION, attempts=1),
    )
    return recording.append(db, event, recording.digest(entry), attached)


def _earlier(db: apsw.Connection, chain: list[Memory]) -> list[Memory]:
    """Return the versions before the chain, whose past must not reach into the replacement's."""
    first = min(version.key for version in chain)
    family = {version.key: version for version in chain}
    while True:
        linked = {memory.key: memory for memory in memories.linked(db, family)}
        if linked.keys() <= family.keys():
            return [memory for memory in family.values() if memory.key < first]
        family |= linked


def _reindex(db: apsw.Connection, chain: list[Memory]) -> None:
    """Take the revoked statements out of their events' units and let history find them."""
    seqs = {version.event_seq for version in chain}
    indexing.refresh_around(db, seqs)
    sources = events.by_seqs(db, seqs)
    for version in memories.by_keys(db, [version.key for version in chain]):
        indexing.add_memory(db, version, sources[version.event_seq])
