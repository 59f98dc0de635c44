"""What the tests of lanes share: slow statements, gates inside jobs, a lane on a small table."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from memrpc.store.lanes import Patience

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

SLOW = """
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 300000000)
SELECT count(*) FROM c
"""
LASTING = SLOW.replace("300000000", "300000")  # long enough to be hit by repeated interrupts
COUNT = "SELECT count(*) FROM t"
ADD = "INSERT INTO t VALUES (1)"


class Gate:
    """A place in a job where the test decides what happens next."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.released = threading.Event()

    def stop(self) -> None:
        self.reached.set()
        assert self.released.wait(30)


async def cancel_at(gate: Gate, run: Callable[[], object]) -> None:
    """Start ``run``, cancel it when its job stands at the gate, then open the gate."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await anyio.to_thread.run_sync(gate.reached.wait)
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await anyio.wait_all_tasks_blocked()
        gate.released.set()


def prepare(db: apsw.Connection) -> None:
    db.pragma("journal_mode", "wal")
    db.execute("CREATE TABLE IF NOT EXISTS t (x)").fetchall()


def patience(jitter: Callable[[], float] = lambda: 0.0, timeout_s: float = 30) -> Patience:
    return Patience(timeout_s, jitter)


def begin(db: apsw.Connection) -> None:
    db.execute("BEGIN IMMEDIATE").fetchall()


def count(db: apsw.Connection) -> int:
    return db.execute(COUNT).get
