"""Lanes: threads, connections and queues that start late, fail cleanly and end in order."""

from __future__ import annotations

import gc
import threading
import weakref
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import apsw
import pytest

from memrpc.store.errors import Unavailable
from memrpc.store.lanes import Connector, Lane
from tests.store.lane_setup import ADD, Gate, begin, count, patience, prepare

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.anyio


async def test_wide_lane_runs_jobs_at_the_same_time(connector: Connector):
    lane = Lane("test", connector, patience(), width=3)
    everybody = threading.Barrier(3)
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(lane.run, lambda _: everybody.wait(30))
    lane.close()


async def test_slow_job_holds_up_nobody_behind_it_in_a_wide_lane(connector: Connector):
    lane, gate = Lane("test", connector, patience(), width=2), Gate()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lane.run, lambda _: gate.stop())
        await anyio.to_thread.run_sync(gate.reached.wait)
        assert [await lane.run(count) for _ in range(5)] == [0] * 5
        gate.released.set()
    lane.close()


def test_narrow_lane_starts_no_second_thread(lane: Lane):
    for _ in range(5):
        lane.call(count)
    assert sum(t.name.startswith("memrpc-test") for t in threading.enumerate()) == 1


def test_lane_that_nobody_used_has_no_thread_and_no_file(lane: Lane, path: Path):
    assert not any(t.name.startswith("memrpc-test") for t in threading.enumerate())
    assert not path.exists()


def test_call_returns_the_result_and_raises_the_error_of_its_job(lane: Lane):
    def fail(_: apsw.Connection) -> None:
        raise LookupError("no")

    assert lane.call(lambda _: 7) == 7
    with pytest.raises(LookupError, match="no"):
        lane.call(fail)


async def test_transaction_that_a_job_leaves_open_is_rolled_back(lane: Lane):
    def leave(db: apsw.Connection) -> None:
        begin(db)
        db.execute(ADD).fetchall()

    await lane.run(leave)
    assert await lane.run(lambda db: (db.in_transaction, count(db))) == (False, 0)


async def test_half_read_cursor_of_a_failed_job_disturbs_nobody(lane: Lane):
    def half_read(db: apsw.Connection) -> None:
        cursor = db.execute("VALUES (1), (2), (3)")
        next(cursor)
        raise LookupError("half-read")

    for _ in range(20):
        with pytest.raises(LookupError):
            await lane.run(half_read)
        await lane.run(begin)
    gc.collect()


async def test_error_keeps_its_line_numbers_and_not_the_locals_of_its_job(lane: Lane):
    """A cursor among them would be closed on another thread, while the lane is at work."""
    cursors = []

    def fail(db: apsw.Connection) -> None:
        cursor = db.cursor()
        cursors.append(weakref.ref(cursor))
        raise LookupError

    with pytest.raises(LookupError) as caught:
        await lane.run(fail)
    assert caught.traceback[-1].name == "fail"
    assert cursors[0]() is None


async def test_connection_that_could_not_be_prepared_is_tried_again(path: Path):
    failures = [apsw.CantOpenError("not yet")]

    def fail_once(db: apsw.Connection) -> None:
        if failures:
            raise failures.pop()
        prepare(db)

    lane = Lane("test", Connector(lambda: apsw.Connection(str(path)), fail_once), patience())
    with pytest.raises(apsw.CantOpenError):
        await lane.run(count)
    assert await lane.run(count) == 0
    lane.close()


async def test_closing_from_the_event_loop_finishes_the_queue(lane: Lane):
    gate, done = Gate(), []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lane.run, lambda _: gate.stop())
        tasks.start_soon(lane.run, lambda _: done.append(1))
        await anyio.to_thread.run_sync(gate.reached.wait)
        await anyio.wait_all_tasks_blocked()
        gate.released.set()
        lane.close()  # The loop stands still here; the lane must not need it.
    assert done == [1]


async def test_closed_lane_refuses_jobs(lane: Lane):
    lane.close()
    lane.close()
    with pytest.raises(Unavailable, match="closed"):
        await lane.run(count)


def test_idle_and_finish_run_once_after_the_jobs(path: Path):
    idle, finished = threading.Event(), []
    connector = Connector(
        lambda: apsw.Connection(str(path)),
        prepare,
        idle=lambda _: idle.set(),
        finish=finished.append,
    )
    lane = Lane("test", connector, patience())
    lane.call(count)
    assert idle.wait(30)
    assert finished == []
    lane.close()
    assert len(finished) == 1


def test_idle_work_that_fails_is_no_job_s_business(path: Path):
    tried = threading.Event()

    def fail(_: apsw.Connection) -> None:
        tried.set()
        raise apsw.BusyError("somebody reads")

    lane = Lane("test", Connector(lambda: apsw.Connection(str(path)), prepare, fail), patience())
    lane.call(count)
    assert tried.wait(30)
    assert lane.call(count) == 0
    lane.close()
