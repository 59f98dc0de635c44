"""The job that draws memories from an event whose extraction did not happen at once."""

from __future__ import annotations

from collections.abc import Callable

import apsw

from memrpc.archive import extraction
from memrpc.store import jobs
from memrpc.store.database import Database
from memrpc.store.errors import NotFound
from memrpc.store.jobs import Lease


async def extract(
    lease: Lease, database: Database, now_us: Callable[[], int], new_id: Callable[[], str]
) -> None:
    """Draw, and complete the job in the same transaction.  A failure is noted at the event."""
    seq = int(lease.subject)

    def work(db: apsw.Connection) -> None:
        try:
            extraction.extract(db, seq, now=now_us(), new_id=new_id)
        except NotFound:
            jobs.complete(db, lease, now=now_us())

    try:
        await database.write(work)
    except Exception as error:
        reason, is_last = type(error).__name__, lease.attempts >= jobs.MAX_ATTEMPTS
        await database.write(lambda db: extraction.note_failure(db, seq, reason, final=is_last))
        raise
