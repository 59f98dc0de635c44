"""Statistics: what the archive holds and what is still owed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memrpc.store import jobs, purge

if TYPE_CHECKING:
    import apsw

_COUNTS: Final = """
SELECT (SELECT count(*) FROM scopes),
       (SELECT count(*) FROM events),
       (SELECT count(*) FROM memories),
       (SELECT count(*) FROM memories WHERE status = 'current'),
       (SELECT count(*) FROM checkpoints),
       (SELECT count(*) FROM tombstones),
       (SELECT count(*) FROM events WHERE state = 'pending')
"""


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts of rows; ``pending_purges`` is 1 while traces of forgotten text may be left."""

    scopes: int
    events: int
    memories: int
    current_memories: int
    checkpoints: int
    forgotten_events: int
    pending_extractions: int
    pending_purges: int
    waiting_jobs: int
    dead_jobs: int


def count(db: apsw.Connection) -> Statistics:
    """Count everything, over all scopes."""
    row: tuple[Any, ...] = db.execute(_COUNTS).fetchall()[0]
    owed = jobs.counts(db)
    dead = sum(job.count for job in owed if job.state is jobs.State.DEAD)
    purges = sum(job.count for job in owed if job.kind == purge.JOB_KIND)
    waiting = sum(job.count for job in owed) - dead
    return Statistics(*[*row, purges, waiting, dead])
