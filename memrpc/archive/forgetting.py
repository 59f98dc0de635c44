"""Forgetting: an event goes whole, with all that was drawn from it or connected to it.

From the commit on nothing recalls it.  The bytes that deletion leaves in the files are the purge
job's, which is owed in the same transaction and holds no text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrpc.archive import checkpoints, events, indexing, memories, reading, recording, rules
from memrpc.archive.answers import ForgetReceipt
from memrpc.archive.model import Erasure, Scope
from memrpc.store import jobs, purge

if TYPE_CHECKING:
    import apsw

    from memrpc.archive.model import Event, Memory


def forget(db: apsw.Connection, record_id: str, scope: Scope, *, now: int) -> ForgetReceipt:
    """Delete the record's event with its memories and every connected correction.

    Raises NotFound when the scope has no such record, which is also true of the second call.
    """
    rules.check_scope(scope)
    event, _ = reading.find(db, record_id, scope)
    gone_events, gone_memories = closure(db, event)
    near = indexing.neighbours(db, gone_events) - {gone.seq for gone in gone_events}
    indexing.remove(db, gone_events, gone_memories)
    for gone in gone_events:
        jobs.cancel(db, recording.EXTRACT, str(gone.seq))
    events.bury(db, gone_events, now=now)
    indexing.refresh_events(db, near)
    invalidated = checkpoints.invalidate(db, event.scope, "forget", now=now)
    checkpoints.erase_from(db, event.scope, min(gone.seq for gone in gone_events))
    purge.request(db, now=now)
    return ForgetReceipt(
        deleted_event_ids=tuple(gone.event_id for gone in gone_events),
        deleted_memory_ids=tuple(memory.memory_id for memory in gone_memories),
        invalidated_checkpoints=invalidated,
        erasure=Erasure.PENDING,
        scope=scope,
    )


def closure(db: apsw.Connection, event: Event) -> tuple[list[Event], list[Memory]]:
    """Return the events and memories that go with ``event``, in order of arrival."""
    seqs = {event.seq}
    while True:
        derived = memories.of_events(db, seqs)
        linked = memories.linked(db, [memory.key for memory in derived])
        grown = seqs | {memory.event_seq for memory in linked}
        if grown == seqs:
            return list(events.by_seqs(db, seqs).values()), derived
        seqs = grown
