"""The job of the workspace's daily upkeep."""

from __future__ import annotations

from collections.abc import Callable

import apsw

from memrpc.store import jobs
from memrpc.store.database import Database
from memrpc.store.jobs import Lease
from memrpc.workspace import upkeep, upkeep_due
from memrpc.workspace.model import Act
from memrpc.workspace.times import DAY_US


async def keep_up(
    lease: Lease,
    database: Database,
    now_us: Callable[[], int],
    new_id: Callable[[], str],
    keep_actions_days: int,
) -> None:
    """Do every batch that is due, then owe the next day's."""
    while not await database.write(lambda db: _batch(db, lease, now_us, new_id, keep_actions_days)):
        pass


def _batch(
    db: apsw.Connection,
    lease: Lease,
    now_us: Callable[[], int],
    new_id: Callable[[], str],
    keep_actions_days: int,
) -> bool:
    now = now_us()
    act = Act(upkeep.TOOL, upkeep.TOOL, "", now, new_id)
    done = upkeep.keep_up(db, act, keep_actions_us=keep_actions_days * DAY_US)
    if done.is_done:
        jobs.complete(db, lease, now=now)
        upkeep_due.owe(db, now=now)
    return done.is_done
