"""Lanes: a job is stopped, settled and undone before its caller goes on."""

from __future__ import annotations

import gc
import queue
import threading
import weakref
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import apsw
import pytest

from memrpc.store import lane_thread, lanes
from memrpc.store.errors import Unavailable
from memrpc.store.lane_thread import Job, Worker
from memrpc.store.lanes import Connector, Lane, Patience

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.anyio

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


@pytest.fixture
def connector(path: Path) -> Connector:
    return Connector(lambda: apsw.Connection(str(path)), prepare)


@pytest.fixture
def lane(connector: Connector) -> Iterator[Lane]:
    lane = Lane("test", connector, patience())
    yield lane
    lane.close()


def begin(db: apsw.Connection) -> None:
    db.execute("BEGIN IMMEDIATE").fetchall()


def count(db: apsw.Connection) -> int:
    return db.execute(COUNT).get


async def test_cancelled_write_is_rolled_back_before_the_scope_exits(lane: Lane):
    for _ in range(20):
        inserted = threading.Event()

        def insert(db: apsw.Connection, inserted: threading.Event = inserted) -> None:
            begin(db)
            db.execute(ADD).fetchall()
            inserted.set()
            db.execute(SLOW).fetchall()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lane.run, insert)
            await anyio.to_thread.run_sync(inserted.wait)
            tasks.cancel_scope.cancel()
        assert await lane.run(count) == 0


async def test_cancel_between_two_statements_is_not_forgotten(
    connector: Connector, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lane_thread, "PROGRESS_STEPS", 2**31 - 1)
    lane, gate = Lane("test", connector, patience()), Gate()

    def job(db: apsw.Connection) -> None:
        begin(db)
        db.execute(ADD).fetchall()
        gate.stop()
        db.execute(SLOW).fetchall()

    with anyio.fail_after(10):
        await cancel_at(gate, lambda: lane.run(job))
    assert await lane.run(count) == 0
    lane.close()


async def test_cancel_ends_a_wait_for_another_connection_s_lock(
    connector: Connector, path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lane_thread, "MAX_PAUSE_S", 60)  # The cancel must end the pause, too.
    waiting = threading.Event()

    def jitter() -> float:
        waiting.set()
        return 1.0

    lane = Lane("test", connector, patience(jitter))
    await lane.run(count)
    other = apsw.Connection(str(path))
    begin(other)
    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lane.run, begin)
            await anyio.to_thread.run_sync(waiting.wait)
            tasks.cancel_scope.cancel()
    other.close()
    lane.close()


async def test_wait_for_a_lock_ends_at_its_deadline(connector: Connector, path: Path):
    lane = Lane("test", connector, patience(timeout_s=0.02))
    await lane.run(count)
    other = apsw.Connection(str(path))
    begin(other)
    with pytest.raises(apsw.BusyError):
        await lane.run(begin)
    other.close()
    await lane.run(begin)
    lane.close()


async def test_no_waiting_finds_a_lock_taken_at_once(lane: Lane, path: Path):
    def impatient(db: apsw.Connection) -> None:
        with lanes.no_waiting():
            begin(db)

    await lane.run(count)
    other = apsw.Connection(str(path))
    begin(other)
    with anyio.fail_after(5), pytest.raises(apsw.BusyError):
        await lane.run(impatient)
    other.close()


async def test_queued_job_cancelled_before_it_starts_never_runs(lane: Lane):
    gate, ran = Gate(), []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lane.run, lambda _: gate.stop())
        await anyio.to_thread.run_sync(gate.reached.wait)
        async with anyio.create_task_group() as queued:
            queued.start_soon(lane.run, lambda _: ran.append(1))
            await anyio.wait_all_tasks_blocked()
            queued.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await anyio.wait_all_tasks_blocked()
            gate.released.set()
    assert ran == []


async def test_cancelled_caller_starts_nothing(lane: Lane):
    ran = []
    with anyio.CancelScope() as scope:
        scope.cancel()
        await lane.run(lambda _: ran.append(1))
    await lane.run(count)
    assert ran == []


async def test_interrupt_never_hits_the_job_after_the_cancelled_one(lane: Lane):
    for _ in range(100):
        started = threading.Event()

        def quick(db: apsw.Connection, started: threading.Event = started) -> None:
            started.set()
            db.execute("SELECT 1").fetchall()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lane.run, quick)
            await anyio.to_thread.run_sync(started.wait)
            tasks.cancel_scope.cancel()
        assert await lane.run(count) == 0


def test_cancel_of_a_job_that_is_over_does_not_hit_the_one_that_runs(connector: Connector):
    jobs: queue.SimpleQueue[Job[int] | None] = queue.SimpleQueue()
    worker = Worker("memrpc-test", jobs, connector, patience(), lambda: None)
    over, running, done = threading.Event(), threading.Event(), threading.Event()

    def last(db: apsw.Connection) -> int:
        running.set()
        return db.execute(LASTING).get

    first, second = Job(count, over.set), Job(last, done.set)
    jobs.put(first)
    assert over.wait(30)
    jobs.put(second)
    assert running.wait(30)
    while not done.is_set():
        first.cancel()
    assert second.outcome() == 300_000
    jobs.put(None)
    worker.thread.join()


async def test_interrupt_alone_stops_a_statement(
    connector: Connector, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lane_thread, "PROGRESS_STEPS", 2**31 - 1)
    lane, started = Lane("test", connector, patience()), threading.Event()

    def job(db: apsw.Connection) -> None:
        started.set()
        db.execute(SLOW).fetchall()

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lane.run, job)
            await anyio.to_thread.run_sync(started.wait)
            tasks.cancel_scope.cancel()
    lane.close()


async def test_progress_handler_alone_stops_a_statement(
    connector: Connector, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Worker, "interrupt", lambda _worker, _job: None)
    lane, started = Lane("test", connector, patience()), threading.Event()

    def job(db: apsw.Connection) -> None:
        started.set()
        db.execute(SLOW).fetchall()

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lane.run, job)
            await anyio.to_thread.run_sync(started.wait)
            tasks.cancel_scope.cancel()
    lane.close()


async def test_sealed_job_takes_effect_although_its_caller_is_cancelled(lane: Lane):
    gate = Gate()

    def job(db: apsw.Connection) -> None:
        begin(db)
        db.execute(ADD).fetchall()
        lanes.seal()
        gate.stop()
        db.execute(LASTING).fetchall()
        db.execute("COMMIT").fetchall()

    await cancel_at(gate, lambda: lane.run(job))
    assert await lane.run(count) == 1


async def test_job_cancelled_before_its_seal_does_not_pass_it(lane: Lane):
    gate, passed = Gate(), []

    def job(_: apsw.Connection) -> None:
        gate.stop()
        lanes.seal()
        passed.append(1)

    await cancel_at(gate, lambda: lane.run(job))
    assert passed == []


async def test_checkpoint_stops_a_python_loop(lane: Lane):
    started = threading.Event()

    def spin(_: apsw.Connection) -> None:
        started.set()
        while True:
            lanes.checkpoint()

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lane.run, spin)
            await anyio.to_thread.run_sync(started.wait)
            tasks.cancel_scope.cancel()


def test_checkpoint_and_seal_mean_nothing_outside_a_lane():
    lanes.checkpoint()
    lanes.seal()


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
