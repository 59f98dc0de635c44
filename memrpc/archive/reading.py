"""Reading: the original of a record, page by page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memrpc.archive import cues, events, memories, rules, scopes, times
from memrpc.archive.answers import EventRecord, MemoryRecord, ReadAnswer, SourcePage
from memrpc.archive.model import DEFAULT_SCOPE, Scope
from memrpc.store.errors import NotFound

if TYPE_CHECKING:
    import apsw

    from memrpc.archive.model import Event, Memory


@dataclass(frozen=True, slots=True)
class ReadInput:
    """What memory_read takes; offsets count Unicode code points."""

    record_id: str
    offset: int = 0
    max_chars: int = 4_000
    scope: Scope = DEFAULT_SCOPE


def read(db: apsw.Connection, request: ReadInput) -> ReadAnswer:
    """Return the record with a page of its event's text.

    Raises NotFound when the scope has no record of this id, whoever else may have one.
    """
    rules.check_scope(request.scope)
    rules.check_range(request.offset, "offset", 0, rules.MAX_TEXT_CHARS)
    rules.check_range(request.max_chars, "max_chars", 1, rules.MAX_PAGE_CHARS)
    event, memory = find(db, request.record_id, request.scope)
    return ReadAnswer(
        record_id=request.record_id,
        event=_event_record(db, event),
        memory=None if memory is None else _memory_record(db, memory, event),
        source_page=page(event.text, request.offset, request.max_chars),
        scope=request.scope,
    )


def find(
    db: apsw.Connection, record_id: str, scope: Scope, *, field: str = "record_id"
) -> tuple[Event, Memory | None]:
    """Return the scope's event of this id, or its memory of this id with the memory's event."""
    key = scopes.find(db, scope)
    event = events.by_id(db, record_id)
    memory = None
    if event is None or event.scope != key:
        memory = memories.by_id(db, record_id)
        event = None if memory is None else events.by_seq(db, memory.event_seq)
    if key is None or event is None or event.scope != key:
        raise not_found(field)
    return event, memory


def not_found(field: str) -> NotFound:
    """Build the refusal that looks the same for an unknown id and for one of another scope."""
    return NotFound(
        f"No record of this {field} in this scope; send an id that memory_recall or memory_record "
        "returned for the same persona_id and project_id.",
        field=field,
    )


def page(text: str, offset: int, max_chars: int) -> SourcePage:
    """Cut ``max_chars`` code points of ``text`` from ``offset`` on."""
    end = min(offset + max_chars, len(text))
    return SourcePage(
        text=text[offset:end],
        offset=offset,
        next_offset=end if end < len(text) else None,
        total_chars=len(text),
    )


def links(memory: Memory) -> list[int]:
    """Return the rows of the memories that this one points at."""
    return [key for key in (memory.superseded_by, memory.corrects) if key is not None]


def _event_record(db: apsw.Connection, event: Event) -> EventRecord:
    return EventRecord(
        event_id=event.event_id,
        seq=event.seq,
        session_id=event.session_id,
        role=event.role,
        category=event.category,
        source=event.source,
        occurred_at=times.to_text(event.occurred_at),
        recorded_at=times.to_text(event.recorded_at),
        payload_sha256=events.payload(db, event.seq).hex(),
        reason=event.reason,
        cues=cues.of_event(db, event.seq),
        extraction=event.extraction,
        memory_ids=tuple(memory.memory_id for memory in memories.of_events(db, [event.seq])),
    )


def _memory_record(db: apsw.Connection, memory: Memory, event: Event) -> MemoryRecord:
    ids = memories.ids(db, links(memory))
    return MemoryRecord(
        memory_id=memory.memory_id,
        kind=memory.kind,
        content=memory.content,
        quote=memory.quote,
        event_id=event.event_id,
        asserted_by=event.role,
        category=event.category,
        inferred=memory.inferred,
        confidence=memory.confidence,
        valid_from=times.to_text(memory.valid_from),
        valid_to=times.to_text_or_none(memory.valid_to),
        recorded_at=times.to_text(memory.recorded_at),
        status=memory.status,
        superseded_by=ids[memory.superseded_by],
        corrects=ids[memory.corrects],
        gist=memory.gist,
    )
