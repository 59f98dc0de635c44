"""Cancels: a job is stopped, settled and undone before its caller goes on."""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import apsw
import pytest

from memrpc.store import lane_thread, lanes
from memrpc.store.lane_thread import Job, Worker
from memrpc.store.lanes import Connector, Lane
from tests.store.lane_setup import ADD, LASTING, SLOW, Gate, begin, cancel_at, count, patience

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.anyio


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


@pytest.mark.parametrize("is_brief", [False, True])
async def test_cancelled_caller_starts_nothing(lane: Lane, *, is_brief: bool):
    ran = []
    await lane.run(count)
    with anyio.CancelScope() as scope:
        scope.cancel()
        await lane.run(lambda _: ran.append(1), is_brief=is_brief)
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


async def cancel_once_begun(lane: Lane, work: Callable[[apsw.Connection], object]) -> None:
    """Run work that would never end, and cancel it as soon as it has begun."""
    started = threading.Event()

    def job(db: apsw.Connection) -> None:
        started.set()
        work(db)

    with anyio.fail_after(10):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(lane.run, job)
            await anyio.to_thread.run_sync(started.wait)
            tasks.cancel_scope.cancel()


async def test_interrupt_alone_stops_a_statement(
    connector: Connector, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(lane_thread, "PROGRESS_STEPS", 2**31 - 1)
    lane = Lane("test", connector, patience())
    await cancel_once_begun(lane, lambda db: db.execute(SLOW).fetchall())
    lane.close()


async def test_progress_handler_alone_stops_a_statement(
    connector: Connector, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Worker, "interrupt", lambda _worker, _job: None)
    lane = Lane("test", connector, patience())
    await cancel_once_begun(lane, lambda db: db.execute(SLOW).fetchall())
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
    def spin(_: apsw.Connection) -> None:
        while True:
            lanes.checkpoint()

    await cancel_once_begun(lane, spin)


def test_checkpoint_and_seal_mean_nothing_outside_a_lane():
    lanes.checkpoint()
    lanes.seal()
