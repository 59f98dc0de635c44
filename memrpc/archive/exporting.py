"""Exporting: the archive as JSON Lines, a record a line, with ids and windows as they are.

Row numbers stay inside: memories point at each other by memory_id, checkpoints at their event by
event_id.  Forgotten ids and invalidated checkpoints without text are not exported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrpc.archive import checkpoints, cues, events, memories, persona, reading, scopes, times
from memrpc.store import json_column

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from memrpc.archive.checkpoints import Snapshot
    from memrpc.archive.model import Event, Memory, Scope
    from memrpc.archive.persona import Persona
    from memrpc.store.json_column import JSON


def export_lines(
    db: apsw.Connection, *, since: int | None = None, scope: Scope | None = None
) -> Iterator[str]:
    """Yield every record as a line without its end, events in order of arrival.

    ``since`` leaves out what was recorded before it and has not changed, ``scope`` what belongs to
    another one.
    """
    yield from _event_lines(db, since, scope)
    yield from _checkpoint_lines(db, since, scope)
    yield from _persona_lines(db, since, scope)


def _event_lines(db: apsw.Connection, since: int | None, scope: Scope | None) -> Iterator[str]:
    touched = set() if since is None else memories.touched_since(db, since)
    names: dict[int, Scope] = {}
    for seq in events.all_seqs(db):
        event = events.by_seqs(db, [seq])[seq]
        name = names.setdefault(event.scope, scopes.name(db, event.scope))
        is_new = since is None or event.recorded_at >= since or seq in touched
        if is_new and scope in {None, name}:
            yield json_column.encode(_event(db, event, name))


def _checkpoint_lines(db: apsw.Connection, since: int | None, scope: Scope | None) -> Iterator[str]:
    for snapshot in checkpoints.snapshots(db):
        changed_at = snapshot.invalidated_at or snapshot.created_at
        is_new = since is None or changed_at >= since
        if is_new and scope in {None, scopes.name(db, snapshot.scope)}:
            yield json_column.encode(_checkpoint(snapshot))


def _persona_lines(db: apsw.Connection, since: int | None, scope: Scope | None) -> Iterator[str]:
    for name in persona.names(db):
        core = persona.current(db, name)
        if core.updated_at is None or (scope is not None and scope.persona_id != name):
            continue
        if since is None or times.parse(core.updated_at, "updated_at") >= since:
            yield json_column.encode(_persona(core))


def _event(db: apsw.Connection, event: Event, scope: Scope) -> dict[str, JSON]:
    drawn = memories.of_events(db, [event.seq])
    by = memories.extractors(db, event.seq)
    ids = memories.ids(db, [key for memory in drawn for key in reading.links(memory)])
    extraction = event.extraction
    return {
        "type": "event",
        "event_id": event.event_id,
        "persona_id": scope.persona_id,
        "project_id": scope.project_id,
        "session_id": event.session_id,
        "role": event.role.value,
        "category": event.category.value,
        "source": event.source,
        "text": event.text,
        "occurred_at": times.to_text(event.occurred_at),
        "recorded_at": times.to_text(event.recorded_at),
        "payload_sha256": events.payload(db, event.seq).hex(),
        "reason": event.reason,
        "extraction": {
            "state": extraction.state.value,
            "method": extraction.method.value,
            "attempts": extraction.attempts,
        },
        "cues": [
            {"kind": cue.kind.value, "key": cue.key, "label": cue.label}
            for cue in cues.of_event(db, event.seq)
        ],
        "memories": [_memory(memory, by[memory.key], ids) for memory in drawn],
    }


def _memory(memory: Memory, extractor: str, ids: dict[int | None, str | None]) -> dict[str, JSON]:
    return {
        "memory_id": memory.memory_id,
        "extractor": extractor,
        "kind": memory.kind.value,
        "content": memory.content,
        "quote": memory.quote,
        "inferred": memory.inferred,
        "confidence": memory.confidence,
        "valid_from": times.to_text(memory.valid_from),
        "valid_to": times.to_text_or_none(memory.valid_to),
        "recorded_at": times.to_text(memory.recorded_at),
        "status": memory.status.value,
        "superseded_by": ids[memory.superseded_by],
        "corrects": ids[memory.corrects],
        "gist": memory.gist,
    }


def _checkpoint(snapshot: Snapshot) -> dict[str, JSON]:
    state = snapshot.state
    return {
        "type": "checkpoint",
        "checkpoint_id": snapshot.checkpoint_id,
        "state": {
            "goal": state.goal,
            "completed": list(state.completed),
            "pending": list(state.pending),
            "constraints": list(state.constraints),
            "next_step": state.next_step,
        },
        "covered_event_id": snapshot.covered_event_id,
        "created_at": times.to_text(snapshot.created_at),
        "invalidated_at": times.to_text_or_none(snapshot.invalidated_at),
        "invalidated_by": snapshot.invalidated_by,
    }


def _persona(core: Persona) -> dict[str, JSON]:
    return {
        "type": "persona",
        "persona_id": core.persona_id,
        "version": core.version,
        "updated_at": core.updated_at,
        "items": list(core.items),
    }
