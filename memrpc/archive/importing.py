"""Importing: what an export holds of the archive and this one does not, checked line by line.

A record that is already here under the same id is left alone, except that a memory which was
still current here and has been corrected since takes over its end.  What was forgotten here stays
forgotten.  Events are indexed once the portion is in of which they are a part.  Links between
memories are tied when all lines are in, whatever their order.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING, Final, NamedTuple

from memrpc.archive import (
    checkpoints,
    events,
    indexing,
    memories,
    model,
    persona,
    recording,
    rules,
    scopes,
    times,
)
from memrpc.archive.answers import CheckpointState
from memrpc.archive.checkpoints import CheckpointInput, Snapshot
from memrpc.archive.memories import Link, Origin
from memrpc.archive.model import Event, Memory
from memrpc.archive.persona import Persona
from memrpc.archive.recording import RecordInput
from memrpc.store import transfer
from memrpc.store.errors import Conflict, InvalidArguments, NotFound
from memrpc.store.transfer import Outcome, Reader, Record

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import apsw

MAX_VERSION: Final = 1_000_000_000
_DIGEST: Final = re.compile(r"[0-9a-fA-F]{64}")


class _Arrival(NamedTuple):
    """An event that an import met, and what it says of the chains of its memories."""

    seq: int
    is_new: bool
    links: tuple[Link, ...]


def _import_event(db: apsw.Connection, record: Record) -> tuple[Outcome, list[_Arrival]]:
    entry = _entry(record)
    recording.check(entry)
    if events.is_buried(db, entry.event_id):
        return Outcome.FORGOTTEN, []
    payload = _digest(record, "payload_sha256")
    existing = events.by_id(db, entry.event_id)
    if existing is None:
        event = recording.write(db, _event(db, record, entry), payload, entry.cues)
    elif _is_same(db, existing, entry, payload):
        event = existing
    else:
        raise Conflict("event_id is taken here by an event with another payload or scope.")
    links = [_import_memory(db, m, event, place) for place, m in enumerate(record["memories"])]
    changed = tuple(link for link in links if link is not None)
    outcome = Outcome.IMPORTED if existing is None else Outcome.KNOWN
    return outcome, [_Arrival(event.seq, existing is None, changed)]


def _import_memory(db: apsw.Connection, record: Record, event: Event, position: int) -> Link | None:
    """Add the memory if it is new; return its place in its chain if that is to be taken over."""
    link = Link(
        memory_id=transfer.text(record, "memory_id"),
        status=transfer.choice(record, "status", model.Status),
        valid_to=_time_or_none(record, "valid_to"),
        superseded_by=_text_or_none(record, "superseded_by"),
        corrects=_text_or_none(record, "corrects"),
    )
    rules.check_name(link.memory_id, "memory_id")
    existing = memories.by_id(db, link.memory_id)
    if existing is None:
        statement = _statement(record, event)
        extractor = transfer.text(record, "extractor")
        if memories.exist(db, event.seq, extractor, position):
            return None  # Both sides drew it, each under an id of its own.
        origin = Origin(
            event.scope,
            event.seq,
            extractor,
            position,
            recorded_at=_time(record, "recorded_at"),
            valid_to=link.valid_to,
        )
        memories.insert(db, statement, origin, link.memory_id)
        return link
    if existing.event_seq != event.seq:
        raise Conflict("memory_id is taken here by a memory of another event.")
    was_ended = existing.status is model.Status.CURRENT and link.status is not model.Status.CURRENT
    is_taken = was_ended or _ends_sooner(existing, link) or _has_loose_ends(existing, link)
    return link if is_taken else None


def _ends_sooner(existing: Memory, link: Link) -> bool:
    """Say whether a later correction elsewhere has cut short what was history here as well."""
    if model.Status.CURRENT in {existing.status, link.status} or link.valid_to is None:
        return False
    return existing.valid_to is None or link.valid_to < existing.valid_to


def _has_loose_ends(existing: Memory, link: Link) -> bool:
    """Say whether an import that was stopped half-way left the memory's place in its chain open."""
    pairs = ((existing.superseded_by, link.superseded_by), (existing.corrects, link.corrects))
    is_open = any(here is None and there is not None for here, there in pairs)
    return existing.status is link.status and is_open


def _import_checkpoint(db: apsw.Connection, record: Record) -> tuple[Outcome, tuple[()]]:
    covered = events.by_id(db, transfer.text(record, "covered_event_id"))
    if covered is None:
        raise NotFound("covered_event_id names no event here.")
    state = _state(record["state"])
    checkpoints.check(CheckpointInput(state, covered.event_id))
    snapshot = Snapshot(
        checkpoint_id=transfer.text(record, "checkpoint_id"),
        scope=covered.scope,
        state=state,
        covered_event_id=covered.event_id,
        created_at=_time(record, "created_at"),
        invalidated_at=_time_or_none(record, "invalidated_at"),
        invalidated_by=record["invalidated_by"],
    )
    is_new = checkpoints.restore(db, snapshot, covered)
    return Outcome.IMPORTED if is_new else Outcome.KNOWN, ()


def _state(record: Record) -> CheckpointState:
    return CheckpointState(
        goal=transfer.text(record, "goal"),
        completed=transfer.texts(record, "completed"),
        pending=transfer.texts(record, "pending"),
        constraints=transfer.texts(record, "constraints"),
        next_step=transfer.text(record, "next_step"),
    )


def _import_persona(db: apsw.Connection, record: Record) -> tuple[Outcome, tuple[()]]:
    core = Persona(
        transfer.text(record, "persona_id"),
        _version(record),
        transfer.text(record, "updated_at"),
        transfer.texts(record, "items"),
    )
    updated_at = _time(record, "updated_at")
    is_newer = persona.restore(db, core, now=updated_at)
    return Outcome.IMPORTED if is_newer else Outcome.KNOWN, ()


def _entry(record: Record) -> RecordInput:
    return RecordInput(
        event_id=transfer.text(record, "event_id"),
        text=transfer.text(record, "text"),
        role=transfer.choice(record, "role", model.Role),
        source=transfer.text(record, "source"),
        category=transfer.choice(record, "category", model.Category),
        session_id=transfer.text(record, "session_id"),
        cues=tuple(
            model.Cue(
                transfer.choice(c, "kind", model.CueKind), transfer.text(c, "key"), c["label"]
            )
            for c in record["cues"]
        ),
        scope=model.Scope(transfer.text(record, "persona_id"), transfer.text(record, "project_id")),
    )


def _event(db: apsw.Connection, record: Record, entry: RecordInput) -> Event:
    extraction = record["extraction"]
    return Event(
        seq=0,
        event_id=entry.event_id,
        scope=scopes.ensure(db, entry.scope),
        session_id=entry.session_id,
        role=entry.role,
        category=entry.category,
        source=entry.source,
        text=entry.text,
        occurred_at=_time(record, "occurred_at"),
        recorded_at=_time(record, "recorded_at"),
        reason=record["reason"],
        extraction=model.Extraction(
            transfer.choice(extraction, "state", model.ExtractionState),
            transfer.choice(extraction, "method", model.Method),
            int(extraction["attempts"]),
        ),
    )


def _is_same(db: apsw.Connection, existing: Event, entry: RecordInput, payload: bytes) -> bool:
    same_scope = existing.scope == scopes.find(db, entry.scope)
    return same_scope and events.payload(db, existing.seq) == payload


def _statement(record: Record, event: Event) -> model.Statement:
    statement = model.Statement(
        kind=transfer.choice(record, "kind", model.MemoryKind),
        content=transfer.text(record, "content"),
        quote=transfer.text(record, "quote"),
        valid_from=_time(record, "valid_from"),
        inferred=transfer.flag(record, "inferred"),
        confidence=transfer.number(record, "confidence"),
        gist=_text_or_none(record, "gist"),
    )
    rules.check_text(statement.content, "content", rules.MAX_CONTENT_CHARS)
    rules.check_text(statement.quote, "quote", rules.MAX_CONTENT_CHARS)
    if statement.gist is not None:
        rules.check_text(statement.gist, "gist", rules.MAX_CONTENT_CHARS)
    if statement.quote not in event.text:
        raise InvalidArguments("quote does not occur in the event's text.")
    return statement


def _settle(db: apsw.Connection, ties: Sequence[tuple[int, _Arrival]]) -> None:
    """Give the portion's memories their state, and index what is new or changed by that."""
    arrivals = [arrival for _, arrival in ties]
    _restore(db, chain.from_iterable(arrival.links for arrival in arrivals))
    changed = {a.seq for a in arrivals if a.is_new or a.links}
    indexing.refresh_around(db, changed)
    sources = events.by_seqs(db, changed)
    for memory in memories.of_events(db, changed):
        indexing.add_memory(db, memory, sources[memory.event_seq])


def _tie(db: apsw.Connection, ties: Sequence[tuple[int, _Arrival]]) -> tuple[()]:
    """Name the others of each chain, now that all are here."""
    links = chain.from_iterable(arrival.links for _, arrival in ties)
    _restore(db, (link for link in links if link.superseded_by or link.corrects))
    return ()


def _restore(db: apsw.Connection, links: Iterable[Link]) -> None:
    for link in links:
        memories.restore(db, link)


def _text_or_none(record: Record, name: str) -> str | None:
    return None if record[name] is None else transfer.text(record, name)


def _time(record: Record, name: str) -> int:
    return times.parse(transfer.text(record, name), name)


def _time_or_none(record: Record, name: str) -> int | None:
    return None if record[name] is None else _time(record, name)


def _version(record: Record) -> int:
    value = record["version"]
    if type(value) is not int or not 1 <= value <= MAX_VERSION:
        raise InvalidArguments(
            f"version must be a whole number from 1 to {MAX_VERSION:,}.", field="version"
        )
    return value


def _digest(record: Record, name: str) -> bytes:
    text = transfer.text(record, name)
    if not _DIGEST.fullmatch(text):
        raise InvalidArguments(f"{name} must be 64 hexadecimal digits.", field=name)
    return bytes.fromhex(text)


READER: Final = Reader(
    {"event": _import_event, "checkpoint": _import_checkpoint, "persona": _import_persona},
    _tie,
    _settle,
)
