"""The job that draws memories from an event whose extraction did not happen at once.

What the embedded extractor owes is drawn inside one transaction.  A model is asked between two:
the event is read, the model is asked portion by portion, and what can be believed of its answers is
stored with the job's completion.  A model that cannot be reached is asked again a minute later, as
often as it takes, and the event stays pending; one that answers with nothing usable has so many
attempts, and then the event is marked as failed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, TypeAlias

import apsw

from memrpc.archive import extraction, extraction_llm
from memrpc.archive.extraction_llm import Assignment
from memrpc.archive.model import Method, Statement
from memrpc.recall.endpoint import Declined
from memrpc.store import jobs
from memrpc.store.database import Database
from memrpc.store.errors import NotFound, Unavailable
from memrpc.store.jobs import Lease

RETRY_US: Final = 60_000_000

Model: TypeAlias = Callable[[str, str], Awaitable[str]]
"""Instructions and a question in, the model's text out.  Raises Unavailable."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Clock, ids, and the models by the extractor that asks them."""

    now_us: Callable[[], int]
    new_id: Callable[[], str]
    models: Mapping[Method, Model] = field(default_factory=lambda: MappingProxyType({}))


async def extract(lease: Lease, database: Database, ports: Ports) -> None:
    """Draw, and complete the job in the same transaction.  A failure is noted at the event."""
    seq = int(lease.subject)
    try:
        given = await database.read(lambda db: _assignment(db, seq, ports.now_us()))
        if given is None:
            await database.write(lambda db: _verbatim(db, seq, ports))
        else:
            await _ask(lease, database, ports, given)
    except NotFound:
        await database.write(lambda db: jobs.complete(db, lease, now=ports.now_us()))
    except Exception as error:
        if isinstance(error, Unavailable) and not isinstance(error, Declined):
            await _put_off(lease, database, seq, error.message, ports.now_us())
            return
        reason = error.message if isinstance(error, Declined) else type(error).__name__
        is_last = lease.attempts >= jobs.MAX_ATTEMPTS
        await database.write(lambda db: extraction.note_failure(db, seq, reason, final=is_last))
        raise


def _assignment(db: apsw.Connection, seq: int, now: int) -> Assignment | None:
    """What a model is to be asked; None where none is."""
    event = extraction.require(db, seq)
    if event.extraction.method not in {Method.LLM, Method.CLIENT}:
        return None
    return extraction_llm.assignment(db, event, now=now)


def _verbatim(db: apsw.Connection, seq: int, ports: Ports) -> None:
    extraction.extract(db, seq, now=ports.now_us(), new_id=ports.new_id)


async def _ask(lease: Lease, database: Database, ports: Ports, given: Assignment) -> None:
    method = given.event.extraction.method
    model = ports.models.get(method)
    if model is None:
        raise Unavailable(f"No model is there for the extractor {method} in this session.")
    drawn: list[Statement] = []
    for question in given.questions():
        answer = await model(extraction_llm.INSTRUCTIONS, question)
        drawn += extraction_llm.statements(answer, given)

    def keep(db: apsw.Connection) -> None:
        now = ports.now_us()
        extraction.settle(db, given.event.seq, method, drawn, now=now, new_id=ports.new_id)
        jobs.complete(db, lease, now=now)

    await database.write(keep)


async def _put_off(lease: Lease, database: Database, seq: int, reason: str, now: int) -> None:
    """Try again later: what is in the way lies outside and counts as no attempt."""

    def work(db: apsw.Connection) -> None:
        extraction.note_waiting(db, seq, reason)
        jobs.put_off(db, lease, due=now + RETRY_US, reason=reason)

    await database.write(work)
