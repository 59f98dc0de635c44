"""Purges ahead of their time, on a real database, while callers wait for them."""

from __future__ import annotations

import random
import threading
from contextlib import asynccontextmanager, closing

import anyio
import anyio.to_thread
import apsw
import pytest

from memrpc.recall import index
from memrpc.store import jobs, purge
from memrpc.store.database import Database
from memrpc.store.errors import Unavailable
from memrpc.store.purge import Erasure
from memrpc.workers import purging
from tests.memory_file import open_beside
from tests.recall.shelves import document

NOW = 1_000_000_000
SCHEMA_VERSION = "PRAGMA schema_version"  # which VACUUM raises by one


@pytest.fixture
def anyio_backend():
    return "asyncio"


@pytest.fixture
def database(tmp_path):
    with closing(Database(tmp_path / "m.db", jitter=random.random)) as database:
        yield database


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """On a busy machine a purge may take long, which is not what is tested here."""
    monkeypatch.setattr(purging, "PATIENCE_S", 60.0)
    monkeypatch.setattr(purging, "REST_S", 60.0)


class Said:
    """What an eraser said to its ports."""

    def __init__(self):
        self.woken = 0
        self.logged = []

    def wake(self):
        self.woken += 1

    def log(self, *words, **more):
        self.logged.append((words, more))


@asynccontextmanager
async def erasing(database, said=None):
    said = said or Said()
    ports = purging.Ports(lambda: NOW, said.wake, said.log)
    eraser = purging.Eraser(lambda: database, "me", ports)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(eraser.run)
        await anyio.wait_all_tasks_blocked()
        yield eraser
        tasks.cancel_scope.cancel()


async def forget(database, subject=1):
    def work(db):
        index.put(db, document(subject, f"zwetschge{subject}"))
        index.remove(db, "event", subject)
        purge.request(db, now=NOW)

    await database.write(work)


async def owed(database):
    return await database.read(jobs.list_jobs)


async def rewritings(database):
    return await database.read(lambda db: db.execute(SCHEMA_VERSION).get)


@pytest.mark.anyio
async def test_what_is_forgotten_alone_is_erased_before_its_caller_goes_on(database):
    async with erasing(database) as eraser:
        await forget(database)
        before = await rewritings(database)
        assert await eraser.erase()
        assert (await owed(database), await rewritings(database)) == ([], before + 1)


@pytest.mark.anyio
async def test_forgets_that_come_together_share_one_purge(database):
    said = []

    async def one(eraser, subject):
        await forget(database, subject)
        said.append(await eraser.erase())

    async with erasing(database) as eraser:
        await forget(database)
        before = await rewritings(database)
        reached, released = threading.Event(), threading.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(database.maintain, lambda _: reached.set() or released.wait(30))
            await anyio.to_thread.run_sync(reached.wait)
            for subject in range(2, 12):
                tasks.start_soon(one, eraser, subject)
            await anyio.wait_all_tasks_blocked()
            released.set()
        assert said == [True] * 10
        assert await rewritings(database) == before + 1


@pytest.mark.anyio
async def test_a_second_forget_within_a_second_is_left_to_the_runner(database):
    said = Said()
    async with erasing(database, said) as eraser:
        await forget(database, 1)
        assert await eraser.erase()
        before, woken = await rewritings(database), said.woken
        await forget(database, 2)
        assert not await eraser.erase()
        (job,) = await owed(database)
        assert (job.state, job.due_at) == (jobs.State.READY, NOW + purge.QUIET_US)
        assert (await rewritings(database), said.woken) == (before, woken + 1)


@pytest.mark.anyio
async def test_a_purge_that_would_take_long_is_left_to_the_runner(database, monkeypatch):
    monkeypatch.setattr(purge, "expected_s", lambda _: purging.PATIENCE_S + 1)
    said = Said()
    async with erasing(database, said) as eraser:
        await forget(database)
        assert not await eraser.erase()
        (job,) = await owed(database)
        assert (job.attempts, job.due_at, said.woken) == (0, NOW + purge.QUIET_US, 1)


@pytest.mark.anyio
async def test_a_reader_in_the_way_leaves_the_purge_to_the_runner(database):
    said = Said()
    async with erasing(database, said) as eraser:
        await forget(database, 1)
        reader = open_beside(database.path)
        reader.execute("BEGIN").fetchall()
        reader.execute("SELECT count(*) FROM jobs").fetchall()
        await forget(database, 2)
        assert not await eraser.erase()
        reader.close()
        (job,) = await owed(database)
        assert (job.state, job.due_at) == (jobs.State.READY, NOW + purging.RETRY_US)
        assert (said.woken, said.logged) == (1, [])


@pytest.mark.anyio
async def test_a_reader_that_is_soon_gone_does_not_hold_the_purge_up(database, monkeypatch):
    monkeypatch.setattr(purging, "_PAUSES_S", (0, *[0.02] * 1_000))
    async with erasing(database) as eraser:
        await forget(database)
        reading, released = threading.Event(), threading.Event()

        def read(db):
            db.execute("SELECT count(*) FROM jobs").fetchall()
            reading.set()
            released.wait(30)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(database.read, read)
            await anyio.to_thread.run_sync(reading.wait)
            await forget(database, 2)
            tasks.start_soon(eraser.erase)
            while (await owed(database))[0].error is None:
                pass  # until it was in the way once
            released.set()
            assert await eraser.erase()


@pytest.mark.anyio
async def test_a_caller_that_is_cancelled_loses_the_answer_and_not_the_purge(database):
    async with erasing(database) as eraser:
        await forget(database)
        reached, released = threading.Event(), threading.Event()
        async with anyio.create_task_group() as lane:
            lane.start_soon(database.maintain, lambda _: reached.set() or released.wait(30))
            await anyio.to_thread.run_sync(reached.wait)
            async with anyio.create_task_group() as caller:
                caller.start_soon(eraser.erase)
                await anyio.wait_all_tasks_blocked()
                caller.cancel_scope.cancel()
            assert [job.kind for job in await owed(database)] == ["purge"]
            released.set()
        assert await eraser.erase()  # having joined the purge that goes on
        assert await owed(database) == []


@pytest.mark.anyio
async def test_a_purge_that_fails_is_still_owed_and_the_server_goes_on(database, monkeypatch):
    said = Said()
    async with erasing(database, said) as eraser:
        await forget(database)
        monkeypatch.setattr(purging, "purge_ahead", refuse)
        assert not await eraser.erase()
        assert [words for words, _ in said.logged] == [("warning", "purge_failed")]
        assert (len(await owed(database)), said.woken) == (1, 1)


def refuse(db, **_):
    raise LookupError


@pytest.mark.anyio
async def test_a_file_that_is_taken_away_makes_no_refusal_of_what_was_forgotten(database):
    async with erasing(database) as eraser:
        await forget(database)
        database.path.rename(database.path.with_name("elsewhere.db"))
        assert not await eraser.erase()


@pytest.mark.anyio
async def test_a_purge_that_another_process_is_at_is_left_to_it(database):
    await forget(database)
    lease = await database.write(
        lambda db: jobs.claim(db, [purge.JOB_KIND], owner="other", now=NOW + purge.QUIET_US)
    )
    assert await database.maintain(ahead) is Erasure.BLOCKED
    purging.purge_at_exit(database, "me", lambda: NOW)
    await database.write(lambda db: jobs.complete(db, lease, now=NOW))
    assert await database.maintain(ahead) is Erasure.COMPLETE


@pytest.mark.anyio
async def test_a_purge_that_fails_may_be_tried_again_by_anybody(database, monkeypatch):
    await forget(database)
    with monkeypatch.context() as disk:
        disk.setattr(purge, "purge", fail)
        with pytest.raises(Unavailable):
            await database.maintain(ahead)
    (job,) = await owed(database)
    assert (job.state, job.due_at) == (jobs.State.READY, NOW + purging.RETRY_US)
    assert await database.maintain(ahead) is Erasure.COMPLETE


def fail(*_, **__):
    raise apsw.FullError


def ahead(db):
    return purging.purge_ahead(db, "me", lambda: NOW)


@pytest.mark.anyio
async def test_what_another_process_forgets_meanwhile_is_owed_another_purge(database, monkeypatch):
    def scrub(db):
        beside = open_beside(database.path)
        purge.request(beside, now=NOW)
        beside.close()
        index.scrub(db)

    monkeypatch.setattr(purging, "scrub", scrub)
    await forget(database)
    assert await database.maintain(ahead) is Erasure.COMPLETE
    assert [job.state for job in await owed(database)] == [jobs.State.READY]


@pytest.mark.anyio
async def test_writers_beside_wait_for_the_purges_and_are_not_refused(database):
    stop = threading.Event()

    def write_on():
        written = 0
        with closing(Database(database.path, jitter=random.random)) as beside:
            while not stop.is_set():
                written += 1
                beside.write_blocking(lambda db: index.put(db, document(100, "beside")))
        return written

    async def keep_on():
        assert await anyio.to_thread.run_sync(write_on) > 0

    await forget(database)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(keep_on)
        for subject in range(2, 12):
            await forget(database, subject)
            await database.maintain(ahead)
        stop.set()
