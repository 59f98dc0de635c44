"""Lending: the worker's connection on its caller's thread, and whom that must not disturb."""

from __future__ import annotations

import queue
import threading
from dataclasses import replace
from functools import partial

import anyio
import anyio.to_thread
import apsw
import pytest

from memrpc.store import lanes
from memrpc.store.lane_thread import Job, Worker
from memrpc.store.lanes import Connector, Lane
from tests.store.lane_setup import ADD, LASTING, Gate, begin, count, patience

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("unhurried")]


class Jobs:
    """A queue to which nothing comes in time as often as the test says so."""

    def __init__(self, *jobs: Job) -> None:
        self.ready = list(jobs)
        self.looks: queue.SimpleQueue[float | None] = queue.SimpleQueue()
        self.passed = threading.Semaphore(0)

    def get(self, timeout: float | None = None) -> Job | None:
        if self.ready:
            return self.ready.pop()
        self.looks.put(timeout)
        assert self.passed.acquire(timeout=30)
        if timeout is None:
            return None
        raise queue.Empty


def test_whoever_lends_its_connection_is_not_idle(connector: Connector):
    """Else a stream of brief writes would meet a checkpoint again and again."""
    jobs, tidied = Jobs(Job(count)), []
    idle = replace(connector, idle=tidied.append)
    worker = Worker("memrpc-test", jobs, idle, patience(), lambda: None)
    for is_lent in (True, True, False):
        assert jobs.looks.get(timeout=30)
        assert tidied == []
        assert not is_lent or worker.attempt(count)
        jobs.passed.release()
    assert jobs.looks.get(timeout=30) is None
    assert len(tidied) == 1
    jobs.passed.release()
    worker.thread.join()


def test_no_attempt_waits_for_what_is_done_when_idle(connector: Connector):
    gate, looked = Gate(), Jobs(Job(count))
    idle = replace(connector, idle=lambda _: gate.stop())
    worker = Worker("memrpc-test", looked, idle, patience(), lambda: None)
    looked.passed.release()
    assert gate.reached.wait(30)
    assert worker.attempt(count) is None
    gate.released.set()
    looked.passed.release()
    worker.thread.join()


def test_no_job_begins_while_the_connection_is_lent(connector: Connector):
    jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
    worker = Worker("memrpc-test", jobs, connector, patience(), lambda: None)
    opened, begun = threading.Event(), threading.Event()
    jobs.put(Job(count, opened.set))
    assert opened.wait(30)

    def attempted(_: apsw.Connection) -> bool:
        jobs.put(Job(lambda _: begun.set()))
        return begun.wait(0.05)

    while (done := worker.attempt(attempted)) is None:
        pass
    assert done.outcome() is False
    assert begun.wait(30)
    jobs.put(None)
    worker.thread.join()


def test_no_attempt_opens_a_connection(connector: Connector):
    """That looks at the file, and may migrate it."""
    opened, failed = [], threading.Event()

    def fail() -> apsw.Connection:
        opened.append(threading.current_thread().name)
        raise apsw.CantOpenError

    jobs = Jobs(Job(count, failed.set))
    worker = Worker("memrpc-test", jobs, replace(connector, open=fail), patience(), lambda: None)
    assert failed.wait(30)
    assert worker.attempt(count) is None
    assert opened == ["memrpc-test"]
    for _ in range(3):
        jobs.passed.release()
    worker.thread.join()


async def test_a_brief_job_comes_after_the_one_that_waits(lane: Lane):
    """The connection is free for a moment between two jobs of the queue."""
    gate, order = Gate(), []
    await lane.run(count)
    lane._submit(Job(count, wake=gate.stop))
    await anyio.to_thread.run_sync(gate.reached.wait)
    lane._submit(Job(lambda _: order.append("first")))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(lane.run, lambda _: order.append("second"), is_brief=True))
        await anyio.wait_all_tasks_blocked()
        gate.released.set()
    assert order == ["first", "second"]


async def test_a_thread_that_was_lent_a_connection_has_none_afterwards(lane: Lane):
    """What it says outside of a job must not reach the job that runs then."""
    gate = Gate()
    await lane.run(count)
    await lane.run(count, is_brief=True)

    def job(db: apsw.Connection) -> None:
        begin(db)
        db.execute(ADD).fetchall()
        gate.stop()
        db.execute(LASTING).fetchall()
        lanes.seal()
        db.execute("COMMIT").fetchall()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lane.run, job)
        await anyio.to_thread.run_sync(gate.reached.wait)
        lanes.seal()
        tasks.cancel_scope.cancel()
        with anyio.CancelScope(shield=True):
            await anyio.wait_all_tasks_blocked()
        gate.released.set()
    assert await lane.run(count) == 0
