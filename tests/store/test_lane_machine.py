"""Cancels at every step of many jobs at once: what is in the file is what was not cancelled."""

from __future__ import annotations

import tempfile
import threading
from enum import Enum
from pathlib import Path

import anyio
import anyio.from_thread
import anyio.to_thread
import apsw
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from memrpc.store.database import Database

SLOW = """
WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 300000000)
SELECT count(*) FROM c
"""
ADD = "INSERT INTO rows_written (id) VALUES (:id)"
ROWS = "SELECT id FROM rows_written ORDER BY id"


class Step(Enum):
    """Where a job stands when its caller is cancelled."""

    NEVER = "never"
    BEFORE_WRITING = "before writing"
    AFTER_WRITING = "after writing"
    IN_A_STATEMENT = "in a statement"


class Attempt:
    """One write that announces a step and goes on when the test says so."""

    def __init__(self, row: int, step: Step) -> None:
        self.row, self.step = row, step
        self.reached, self.released = threading.Event(), threading.Event()

    def __call__(self, db: apsw.Connection) -> None:
        self._at(Step.BEFORE_WRITING)
        db.execute(ADD, {"id": self.row}).fetchall()
        self._at(Step.AFTER_WRITING)
        if self.step is Step.IN_A_STATEMENT:
            self.reached.set()
            db.execute(SLOW).fetchall()

    def _at(self, step: Step) -> None:
        if self.step is step:
            self.reached.set()
            assert self.released.wait(30)


async def attempt(database: Database, write: Attempt) -> None:
    if write.step is Step.NEVER:
        await database.write(write, is_brief=write.row % 2 == 0)
        return
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(database.write, write)
        await anyio.to_thread.run_sync(write.reached.wait)
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await anyio.wait_all_tasks_blocked()
        write.released.set()


async def attempt_all(database: Database, writes: list[Attempt]) -> None:
    async with anyio.create_task_group() as tasks:
        for write in writes:
            tasks.start_soon(attempt, database, write)


class LaneMachine(RuleBasedStateMachine):
    @initialize()
    def open(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.database = Database(Path(self.folder.name) / "memory.db", jitter=lambda: 0.0)
        self.database.write_blocking(
            lambda db: db.execute("CREATE TABLE rows_written (id INTEGER PRIMARY KEY)").fetchall()
        )
        self.portal_context = anyio.from_thread.start_blocking_portal()
        self.portal = self.portal_context.__enter__()
        self.expected: list[int] = []
        self.next_row = 1

    @rule(steps=st.lists(st.sampled_from(Step), min_size=1, max_size=5))
    def write_at_once(self, steps: list[Step]) -> None:
        writes = [Attempt(self.next_row + i, step) for i, step in enumerate(steps)]
        self.next_row += len(writes)
        self.portal.call(attempt_all, self.database, writes)
        self.expected += [write.row for write in writes if write.step is Step.NEVER]

    @rule()
    def close_and_open_again(self) -> None:
        self.database.close()
        self.database = Database(self.database.path, jitter=lambda: 0.0)

    @invariant()
    def the_file_holds_what_was_not_cancelled(self) -> None:
        if hasattr(self, "expected"):
            rows = self.database.read_blocking(lambda db: db.execute(ROWS).fetchall())
            assert [row for (row,) in rows] == self.expected

    def teardown(self) -> None:
        if hasattr(self, "expected"):
            self.database.close()
            self.portal_context.__exit__(None, None, None)
            self.folder.cleanup()


TestLanes = LaneMachine.TestCase
TestLanes.settings = settings(
    max_examples=8,
    stateful_step_count=6,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
