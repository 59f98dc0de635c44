"""Brief writes: on the thread of their caller where that keeps nobody waiting, else on the lane."""

from __future__ import annotations

import contextlib
import threading
import time
from functools import partial
from typing import TYPE_CHECKING

import anyio
import anyio.lowlevel
import apsw
import pytest

from memrpc.store import database as module
from memrpc.store import lane_thread, lanes
from memrpc.store.database import Database
from memrpc.store.errors import NotFound, Unavailable
from tests.store.lane_setup import SLOW, Gate
from tests.store.one_table import add, count, create

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_ALL = "SELECT count(*) FROM c"
pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("unhurried")]


@pytest.fixture
def begun(database: Database) -> Database:
    """A database whose log has begun, so that a commit writes no synced header."""
    database.write_blocking(create)
    return database


def note_thread(seen: list[str]) -> Callable[[apsw.Connection], None]:
    def work(db: apsw.Connection) -> None:
        add(db)
        seen.append(threading.current_thread().name)

    return work


def is_own(name: str) -> bool:
    return name == threading.current_thread().name


async def thread_of_write(database: Database, *, is_brief: bool = True) -> str:
    seen: list[str] = []
    await database.write(note_thread(seen), is_brief=is_brief)
    return seen[-1]


def make_idle(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the writer be idle until what ``begun`` created has moved from the log into the file."""
    with monkeypatch.context() as patch:
        patch.setattr(lane_thread, "IDLE_AFTER_S", 0)
        database.maintain_blocking(lambda _: None)
        for _ in range(600):
            if b"CREATE TABLE t" in database.path.read_bytes():
                break
            threading.Event().wait(0.05)
    database.maintain_blocking(lambda _: None)


@pytest.fixture
def brief(unhurried: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give an attempt no longer than a job takes to begin on a busy machine, too."""
    monkeypatch.setattr(lane_thread, "BRIEF_S", 0.2)


async def test_a_brief_write_is_done_on_the_thread_of_its_caller(begun: Database, path: Path):
    assert is_own(await thread_of_write(begun))
    assert apsw.Connection(str(path)).execute("SELECT count(*) FROM t").get == 1


async def test_any_other_write_is_done_on_the_lane(begun: Database):
    assert not is_own(await thread_of_write(begun, is_brief=False))


async def test_the_first_write_after_a_checkpoint_waits_for_the_disk_on_the_lane(
    begun: Database, monkeypatch: pytest.MonkeyPatch
):
    assert is_own(await thread_of_write(begun))
    await anyio.to_thread.run_sync(make_idle, begun, monkeypatch)
    assert not is_own(await thread_of_write(begun))
    assert is_own(await thread_of_write(begun))


async def test_a_brief_write_beside_a_search_is_done_on_the_lane(begun: Database):
    """A search computes in Python: after each statement the loop would wait for its thread."""
    gate = Gate()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(begun.search, lambda _: gate.stop())
        await anyio.to_thread.run_sync(gate.reached.wait)
        assert not is_own(await thread_of_write(begun))
        gate.released.set()
    assert is_own(await thread_of_write(begun))


async def test_what_a_brief_write_tells_the_loop_is_told_before_its_answer(begun: Database):
    told: list[int] = []
    tell = lanes.loop_call_soon()
    for number, is_brief in enumerate((False, True)):
        note = partial(told.append, number)
        await begun.write(lambda _, note=note: tell(note), is_brief=is_brief)
        assert told[-1] == number


async def test_a_durable_write_waits_for_the_disk_on_the_lane(path: Path):
    database = Database(path, jitter=lambda: 0.0, durable=True)
    database.write_blocking(create)
    assert not is_own(await thread_of_write(database))
    database.close()


async def check_that_it_takes_effect_once(
    database: Database, be_long: Callable[[apsw.Connection], object]
) -> None:
    """A write that is long the first time is undone, and done on the lane."""
    threads: list[str] = []

    def write(db: apsw.Connection) -> None:
        note_thread(threads)(db)
        if len(threads) == 1:
            be_long(db)

    await database.write(write, is_brief=True)
    assert [is_own(name) for name in threads] == [True, False]
    assert await database.read(count) == 1


@pytest.mark.usefixtures("brief")
async def test_a_brief_write_that_proves_long_takes_effect_once(begun: Database):
    await check_that_it_takes_effect_once(begun, lambda db: db.execute(SLOW).fetchall())


@pytest.mark.usefixtures("brief")
async def test_what_is_long_in_python_is_stopped_where_it_looks(begun: Database):
    def look_for_ever(_: apsw.Connection) -> None:
        while True:
            lanes.checkpoint()

    await check_that_it_takes_effect_once(begun, look_for_ever)


@pytest.mark.usefixtures("brief")
async def test_what_is_long_and_never_looks_is_undone_before_it_is_committed(begun: Database):
    def compute(_: apsw.Connection) -> None:
        until = time.monotonic() + lane_thread.BRIEF_S
        while time.monotonic() < until:
            pass

    await check_that_it_takes_effect_once(begun, compute)


@pytest.mark.usefixtures("brief")
async def test_a_statement_that_is_stopped_within_a_savepoint_runs_again(begun: Database):
    """The savepoint then ends with an error of another class."""

    def write_in_a_savepoint(db: apsw.Connection) -> None:
        with db:
            db.execute(SLOW.replace(_ALL, f"INSERT INTO t {_ALL}")).fetchall()

    await check_that_it_takes_effect_once(begun, write_in_a_savepoint)


async def test_an_error_of_a_brief_write_is_raised_and_nothing_is_kept(begun: Database):
    calls = []

    def fail(db: apsw.Connection) -> None:
        calls.append(1)
        add(db)
        raise NotFound("no")

    with pytest.raises(NotFound):
        await begun.write(fail, is_brief=True)
    assert calls == [1]
    assert await begun.read(count) == 0
    assert is_own(await thread_of_write(begun))


async def test_a_lock_of_another_process_keeps_the_lane_waiting_and_not_the_loop(
    begun: Database, path: Path
):
    other, threads = apsw.Connection(str(path)), []
    other.execute("BEGIN IMMEDIATE").fetchall()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(thread_of_write_into, begun, threads)
        await anyio.sleep(0.05)
        assert threads == []
        other.execute("COMMIT").fetchall()
    assert [is_own(name) for name in threads] == [False]
    assert await begun.read(count) == 1


async def thread_of_write_into(database: Database, threads: list[str]) -> None:
    await database.write(note_thread(threads), is_brief=True)


async def test_a_lock_that_is_never_given_up_is_said_after_the_patience(path: Path):
    database = Database(path, jitter=lambda: 0.0, busy_timeout_s=0.05)
    database.write_blocking(create)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE").fetchall()
    with pytest.raises(Unavailable, match="lock"):
        await database.write(add, is_brief=True)
    other.close()
    database.close()


async def test_a_brief_write_overtakes_nobody(begun: Database):
    gate, order = Gate(), []

    def first(_: apsw.Connection) -> None:
        gate.stop()
        order.append("first")

    async def second() -> None:
        await begun.write(lambda _: order.append("second"), is_brief=True)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(begun.write, first)
        await anyio.to_thread.run_sync(gate.reached.wait)
        tasks.start_soon(second)
        await anyio.wait_all_tasks_blocked()
        gate.released.set()
    assert order == ["first", "second"]


async def test_brief_writes_let_no_log_grow_for_ever(
    begun: Database, path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "WAL_PAGES", 50)
    log = path.with_name("memory.db-wal")
    await begun.write(add)
    size = log.stat().st_size
    threads = [await thread_of_write(begun) for _ in range(300)]
    assert 0 < sum(not is_own(name) for name in threads) < 30
    assert log.stat().st_size == size


async def test_a_closed_database_takes_no_brief_write(begun: Database):
    begun.close()
    with pytest.raises(Unavailable, match="closed"):
        await begun.write(add, is_brief=True)


async def test_threads_and_the_loop_write_side_by_side(begun: Database):
    """Each uses the connection in turn, whoever's thread it is on."""

    def add_many() -> None:
        for _ in range(200):
            begun.write_blocking(add)

    async def add_briefly() -> None:
        for _ in range(200):
            await begun.write(add, is_brief=True)
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as tasks:
        for _ in range(2):
            tasks.start_soon(anyio.to_thread.run_sync, add_many)
            tasks.start_soon(add_briefly)
    assert await begun.read(count) == 800


async def test_the_loop_makes_no_pause_for_a_lock(path: Path):
    paused: list[str] = []

    def jitter() -> float:
        paused.append(threading.current_thread().name)
        return 0.0

    database = Database(path, jitter=jitter, busy_timeout_s=0.05)
    database.write_blocking(create)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE").fetchall()
    with pytest.raises(Unavailable, match="lock"):
        await database.write(add, is_brief=True)
    other.close()
    database.close()
    assert paused
    assert not any(map(is_own, paused))


@pytest.mark.usefixtures("brief")
async def test_an_interrupt_of_the_process_is_no_reason_to_begin_anew(begun: Database):
    calls = []

    def interrupted(_: apsw.Connection) -> None:
        calls.append(1)
        with contextlib.suppress(lanes.JobCancelled):
            while len(calls) == 1:
                lanes.checkpoint()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await begun.write(interrupted, is_brief=True)
    assert calls == [1]


async def test_no_checkpoint_is_made_on_the_loop(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "WAL_PAGES", 20)
    threads: list[str] = []

    class Watched(Database):
        def _checkpoint(self, db: apsw.Connection) -> None:
            threads.append(threading.current_thread().name)
            super()._checkpoint(db)

    database = Watched(path, jitter=lambda: 0.0)
    database.write_blocking(create)
    for _ in range(100):
        await database.write(add, is_brief=True)
    database.close()
    assert threads
    assert not any(map(is_own, threads))


def test_a_commit_stands_although_another_process_keeps_its_log_long(
    begun: Database, path: Path, actor: Callable, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(module, "WAL_PAGES", 1)
    other = actor("keep_log", path)
    assert other.stdout.readline() == "kept\n"
    for _ in range(4):
        begun.write_blocking(add)
    assert begun.read_blocking(count) == 4
