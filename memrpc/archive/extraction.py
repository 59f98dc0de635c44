"""Extraction: memories are drawn from a committed event, at least once and without doubling.

``pending`` until an extractor has succeeded, ``complete`` from then on, ``failed`` once the queue
has given up, ``skipped`` where there is nothing that could be drawn.  Whatever happens here, the
event stays.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from memrpc.archive import (
    events,
    extraction_llm,
    extraction_verbatim,
    indexing,
    memories,
    recording,
    rules,
    scopes,
)
from memrpc.archive.memories import Origin
from memrpc.archive.model import Extraction, ExtractionState, Method, Status
from memrpc.store import jobs
from memrpc.store.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import apsw

    from memrpc.archive.answers import Receipt
    from memrpc.archive.model import Event, Statement


def extract(db: apsw.Connection, seq: int, *, now: int, new_id: Callable[[], str]) -> Receipt:
    """Draw the event's statements verbatim and settle its job.

    Raises NotFound when the event was forgotten meanwhile.
    """
    event = require(db, seq)
    statements = extraction_verbatim.extract(event)
    apply(db, event, extraction_verbatim.VERSION, statements, now=now, new_id=new_id)
    done = Extraction(ExtractionState.COMPLETE, Method.VERBATIM, event.extraction.attempts + 1)
    events.set_extraction(db, seq, done)
    jobs.cancel(db, recording.EXTRACT, str(seq))
    return recording.receipt(
        db, dataclasses.replace(event, extraction=done), scopes.name(db, event.scope)
    )


def apply(
    db: apsw.Connection,
    event: Event,
    extractor: str,
    statements: Sequence[Statement],
    *,
    now: int,
    new_id: Callable[[], str],
) -> None:
    """Store what ``extractor`` drew, once; what is not quoted from the text is dropped."""
    if memories.exist(db, event.seq, extractor):
        return
    proven = [statement for statement in statements if statement.quote in event.text]
    for position, statement in enumerate(proven[: rules.MAX_STATEMENTS]):
        origin = Origin(
            event.scope, event.seq, extractor, position, now, valid_to=statement.valid_to
        )
        key = memories.insert(db, statement, origin, new_id())
        indexing.add_memory(db, memories.by_keys(db, [key])[0], event)
        if statement.supersedes is not None:
            _supersede(db, event, statement, by=key)


def settle(
    db: apsw.Connection,
    seq: int,
    method: Method,
    statements: Sequence[Statement],
    *,
    now: int,
    new_id: Callable[[], str],
) -> None:
    """Store what a model drew from the event, and say that it is complete.

    Raises NotFound when the event was forgotten meanwhile.
    """
    event = require(db, seq)
    apply(db, event, extraction_llm.VERSION, statements, now=now, new_id=new_id)
    done = Extraction(ExtractionState.COMPLETE, method, event.extraction.attempts + 1)
    events.set_extraction(db, seq, done)


def _supersede(db: apsw.Connection, event: Event, statement: Statement, *, by: int) -> None:
    """Close the window of what the statement replaces, if that is still its to replace."""
    if statement.supersedes is None:
        return
    old = extraction_llm.still_replaces(db, event, statement.supersedes)
    if old is None:
        return
    memories.retire(db, old, Status.SUPERSEDED, by=by, at=statement.valid_from)
    indexing.refresh_around(db, [old.event_seq])
    indexing.add_memory(db, memories.by_keys(db, [old.key])[0], require(db, old.event_seq))


def note_failure(db: apsw.Connection, seq: int, error: str, *, final: bool) -> None:
    """Count an attempt that failed; ``error`` names the cause and never quotes the event."""
    event = require(db, seq)
    state = ExtractionState.FAILED if final else ExtractionState.PENDING
    failed = dataclasses.replace(
        event.extraction, state=state, attempts=event.extraction.attempts + 1, error=error
    )
    events.set_extraction(db, seq, failed)


def note_waiting(db: apsw.Connection, seq: int, reason: str) -> None:
    """Say at the event what its extraction waits for."""
    event = require(db, seq)
    events.set_extraction(db, seq, dataclasses.replace(event.extraction, error=reason))


def require(db: apsw.Connection, seq: int) -> Event:
    """Return the event at ``seq``; raises NotFound when there is none."""
    event = events.by_seq(db, seq)
    if event is None:
        raise NotFound("The event of this extraction is not there any more.")
    return event
