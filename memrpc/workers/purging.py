"""The job that removes the last traces of what was forgotten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from memrpc.recall.index import scrub
from memrpc.store import jobs, purge
from memrpc.store.database import Database
from memrpc.store.jobs import Lease
from memrpc.store.purge import Erasure

RETRY_US: Final = 2_000_000


async def run_purge(lease: Lease, database: Database, now_us: Callable[[], int]) -> None:
    """Purge, or put the job off while another connection is in the way."""
    outcome = await database.maintain(lambda db: purge.purge(db, scrub=scrub))
    now = now_us()
    if outcome is Erasure.COMPLETE:
        await database.write(lambda db: jobs.complete(db, lease, now=now))
    else:
        await database.write(
            lambda db: jobs.put_off(db, lease, due=now + RETRY_US, reason="another reader is open")
        )


def purge_at_exit(
    database: Database, owner: str, now_us: Callable[[], int], limit_s: float
) -> None:
    """Run an owed purge before the process ends, if the file's size says that it fits."""
    now = now_us()
    owed = database.read_blocking(lambda db: jobs.next_due(db, [purge.JOB_KIND]))
    if owed is None or purge.expected_s(database.size_bytes()) > limit_s:
        return
    due = max(now, owed)  # It would be due later, in a process that has ended by then.
    lease = database.write_blocking(
        lambda db: jobs.claim(db, [purge.JOB_KIND], owner=owner, now=due)
    )
    if lease is None:
        return
    outcome = database.maintain_blocking(lambda db: purge.purge(db, scrub=scrub))
    if outcome is Erasure.COMPLETE:
        database.write_blocking(lambda db: jobs.complete(db, lease, now=now))
