"""Importing: what an export holds and this archive does not, checked line by line.

It may be repeated: a record that is already here under the same id is left alone, except that a
memory which was still current here and has been corrected since takes over its end.  What was
forgotten here stays forgotten.  Links between memories are tied when all lines are in, whatever
their order.

A bad line is named by its number.  Unless bad lines are to be skipped the first one raises, and
the caller's transaction is rolled back, so that nothing is imported.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from memrpc.archive import (
    checkpoints,
    events,
    indexing,
    memories,
    persona,
    recording,
    rules,
    scopes,
    times,
)
from memrpc.archive.checkpoints import CheckpointInput, Snapshot
from memrpc.archive.exporting import FORMAT
from memrpc.archive.memories import Link, Origin
from memrpc.archive.model import (
    Category,
    Cue,
    CueKind,
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
from memrpc.archive.persona import Persona
from memrpc.archive.recording import RecordInput
from memrpc.store import json_column
from memrpc.store.errors import Conflict, DomainError, InvalidArguments, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import apsw

Record: TypeAlias = "Mapping[str, Any]"
Importer: TypeAlias = "Callable[[apsw.Connection, Record], tuple[Outcome, list[Link]]]"


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that was not imported, and why."""

    number: int
    message: str


class Outcome(Enum):
    """What became of a good line."""

    IMPORTED = "imported"
    KNOWN = "known"
    FORGOTTEN = "forgotten"
    HEADER = "header"


@dataclass(frozen=True, slots=True)
class Report:
    """What an import did."""

    imported: int
    known: int
    forgotten: int
    bad: tuple[BadLine, ...]


def import_lines(db: apsw.Connection, lines: Iterable[str], *, skip_bad: bool = False) -> Report:
    """Add what the lines say and this archive does not have.

    Raises InvalidArguments, naming line and cause, at the first bad line unless ``skip_bad``.
    """
    outcomes: Counter[Outcome] = Counter()
    bad: list[BadLine] = []
    links: list[Link] = []
    for number, line in enumerate(lines, 1):
        text = line.strip().removeprefix("\ufeff")
        if not text:
            continue
        try:
            with db:  # a savepoint: a bad line leaves nothing behind
                outcome, found = _import_line(db, text)
        except (DomainError, ValueError, TypeError, KeyError) as error:
            bad.append(BadLine(number, _cause(error)))
            if not skip_bad:
                raise InvalidArguments(
                    f"Line {number} is bad: {bad[-1].message} Nothing was imported.", line=number
                ) from error
        else:
            outcomes[outcome] += 1
            links += found
    _tie(db, links)
    return Report(
        imported=outcomes[Outcome.IMPORTED],
        known=outcomes[Outcome.KNOWN],
        forgotten=outcomes[Outcome.FORGOTTEN],
        bad=tuple(bad),
    )


def _import_line(db: apsw.Connection, text: str) -> tuple[Outcome, list[Link]]:
    record = json_column.decode_object(text)
    kind = record.get("type")
    if kind not in _IMPORTERS:
        raise InvalidArguments(f"type is {kind!r}; it must be one of {', '.join(_IMPORTERS)}.")
    return _IMPORTERS[kind](db, record)


def _import_header(_: apsw.Connection, record: Record) -> tuple[Outcome, list[Link]]:
    if record["format"] != FORMAT:
        raise InvalidArguments(f"format is {record['format']!r} and this memrpc reads {FORMAT}.")
    return Outcome.HEADER, []


def _import_event(db: apsw.Connection, record: Record) -> tuple[Outcome, list[Link]]:
    entry = _entry(record)
    recording.check(entry)
    if events.is_buried(db, entry.event_id):
        return Outcome.FORGOTTEN, []
    payload = bytes.fromhex(record["payload_sha256"])
    existing = events.by_id(db, entry.event_id)
    if existing is None:
        event = recording.append(db, _event(db, record, entry), payload, entry.cues)
    elif _is_same(db, existing, entry, payload):
        event = existing
    else:
        raise Conflict("event_id is taken here by an event with another payload or scope.")
    links = [_import_memory(db, m, event, place) for place, m in enumerate(record["memories"])]
    outcome = Outcome.IMPORTED if existing is None else Outcome.KNOWN
    return outcome, [link for link in links if link is not None]


def _import_memory(db: apsw.Connection, record: Record, event: Event, position: int) -> Link | None:
    """Add the memory if it is new; return its place in its chain if that is to be taken over."""
    link = Link(
        memory_id=_text(record, "memory_id"),
        status=Status(record["status"]),
        valid_to=_time_or_none(record, "valid_to"),
        superseded_by=record["superseded_by"],
        corrects=record["corrects"],
    )
    existing = memories.by_id(db, link.memory_id)
    if existing is None:
        statement = _statement(record, event)
        origin = Origin(
            event.scope,
            event.seq,
            _text(record, "extractor"),
            position,
            recorded_at=times.parse(record["recorded_at"], "recorded_at"),
            valid_to=link.valid_to,
        )
        memories.insert(db, statement, origin, link.memory_id)
        return link
    if existing.event_seq != event.seq:
        raise Conflict("memory_id is taken here by a memory of another event.")
    was_ended = existing.status is Status.CURRENT and link.status is not Status.CURRENT
    return link if was_ended else None


def _import_checkpoint(db: apsw.Connection, record: Record) -> tuple[Outcome, list[Link]]:
    covered = events.by_id(db, _text(record, "covered_event_id"))
    if covered is None:
        raise NotFound("covered_event_id names no event here.")
    state = checkpoints.read_state(json_column.encode(record["state"]))
    checkpoints.check(CheckpointInput(state, covered.event_id))
    snapshot = Snapshot(
        checkpoint_id=_text(record, "checkpoint_id"),
        scope=covered.scope,
        state=state,
        covered_event_id=covered.event_id,
        created_at=times.parse(record["created_at"], "created_at"),
        invalidated_at=_time_or_none(record, "invalidated_at"),
        invalidated_by=record["invalidated_by"],
    )
    is_new = checkpoints.restore(db, snapshot, covered)
    return Outcome.IMPORTED if is_new else Outcome.KNOWN, []


def _import_persona(db: apsw.Connection, record: Record) -> tuple[Outcome, list[Link]]:
    items = tuple(map(str, record["items"]))
    core = Persona(
        _text(record, "persona_id"), int(record["version"]), _text(record, "updated_at"), items
    )
    updated_at = times.parse(_text(record, "updated_at"), "updated_at")
    is_newer = persona.restore(db, core, now=updated_at)
    return Outcome.IMPORTED if is_newer else Outcome.KNOWN, []


_IMPORTERS: Final[Mapping[Any, Importer]] = {
    "archive": _import_header,
    "event": _import_event,
    "checkpoint": _import_checkpoint,
    "persona": _import_persona,
}


def _entry(record: Record) -> RecordInput:
    return RecordInput(
        event_id=_text(record, "event_id"),
        text=_text(record, "text"),
        role=Role(record["role"]),
        source=_text(record, "source"),
        category=Category(record["category"]),
        session_id=_text(record, "session_id"),
        cues=tuple(Cue(CueKind(c["kind"]), _text(c, "key"), c["label"]) for c in record["cues"]),
        scope=Scope(_text(record, "persona_id"), _text(record, "project_id")),
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
        occurred_at=times.parse(record["occurred_at"], "occurred_at"),
        recorded_at=times.parse(record["recorded_at"], "recorded_at"),
        reason=record["reason"],
        extraction=Extraction(
            ExtractionState(extraction["state"]),
            Method(extraction["method"]),
            int(extraction["attempts"]),
        ),
    )


def _is_same(db: apsw.Connection, existing: Event, entry: RecordInput, payload: bytes) -> bool:
    same_scope = existing.scope == scopes.find(db, entry.scope)
    return same_scope and events.payload(db, existing.seq) == payload


def _statement(record: Record, event: Event) -> Statement:
    statement = Statement(
        kind=MemoryKind(record["kind"]),
        content=_text(record, "content"),
        quote=_text(record, "quote"),
        valid_from=times.parse(record["valid_from"], "valid_from"),
        inferred=bool(record["inferred"]),
        confidence=float(record["confidence"]),
        gist=record["gist"],
    )
    rules.check_text(statement.content, "content", rules.MAX_CONTENT_CHARS)
    rules.check_text(statement.quote, "quote", rules.MAX_CONTENT_CHARS)
    if statement.quote not in event.text:
        raise InvalidArguments("quote does not occur in the event's text.")
    return statement


def _tie(db: apsw.Connection, links: Iterable[Link]) -> None:
    """Give the memories their places in their chains, and index what that changes."""
    seqs = {seq for link in links if (seq := memories.restore(db, link)) is not None}
    changed = {m.event_seq for m in memories.of_events(db, seqs) if indexing.stands_alone(m)}
    indexing.refresh_around(db, changed)
    sources = events.by_seqs(db, changed)
    for memory in memories.of_events(db, changed):
        indexing.add_memory(db, memory, sources[memory.event_seq])


def _text(record: Record, name: str) -> str:
    value = record[name]
    if not isinstance(value, str):
        raise InvalidArguments(f"{name} must be text.", field=name)
    return value


def _time_or_none(record: Record, name: str) -> int | None:
    value = record[name]
    return None if value is None else times.parse(value, name)


def _cause(error: Exception) -> str:
    """Say what is wrong without showing the line."""
    match error:
        case DomainError():
            return error.message
        case KeyError():
            return f"the field {error} is missing."
        case TypeError():
            return "a value has the wrong type."
        case _:
            return "it is not the JSON of a record."
