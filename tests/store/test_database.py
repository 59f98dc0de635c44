"""The database: opening in company, snapshots, transactions, and deaths in the middle of them."""

from __future__ import annotations

import random
import stat
import threading
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import apsw
import pytest

from memrpc.store.database import Database
from memrpc.store.errors import Unavailable, Unusable
from tests.store.one_table import COUNT, add, count, create

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Actor = Callable[..., subprocess.Popen[str]]

pytestmark = pytest.mark.anyio

SETTINGS = {
    "journal_mode": "wal",
    "synchronous": 1,
    "foreign_keys": 1,
    "secure_delete": 1,
    "temp_store": 2,
    "mmap_size": 0,
    "query_only": 0,
}


async def test_every_lane_has_the_house_settings(database: Database):
    def ask(db: apsw.Connection) -> dict[str, object]:
        return {name: db.pragma(name) for name in SETTINGS}

    assert await database.maintain(ask) == SETTINGS
    assert await database.read(ask) == SETTINGS | {"query_only": 1}


async def test_durable_database_syncs_each_commit(path: Path):
    database = Database(path, jitter=random.random, durable=True)
    assert await database.maintain(lambda db: db.pragma("synchronous")) == 2
    database.close()


async def test_double_quoted_string_is_no_literal(database: Database):
    with pytest.raises(apsw.SQLError, match="no such column"):
        await database.read(lambda db: db.execute('SELECT "text"').get)


async def test_write_is_one_transaction(database: Database):
    def fail_late(db: apsw.Connection) -> None:
        add(db)
        raise LookupError

    await database.write(create)
    with pytest.raises(LookupError):
        await database.write(fail_late)
    await database.write(add)
    assert await database.read(count) == 1


async def test_read_is_one_snapshot(database: Database):
    await database.write(create)
    seen, written = threading.Event(), threading.Event()

    def count_twice(db: apsw.Connection) -> tuple[int, int]:
        first = count(db)
        seen.set()
        assert written.wait(30)
        return first, count(db)

    answers = []
    async with anyio.create_task_group() as tasks:

        async def read() -> None:
            answers.append(await database.read(count_twice))

        tasks.start_soon(read)
        await anyio.to_thread.run_sync(seen.wait)
        await database.write(add)
        written.set()
    assert answers == [(0, 0)]
    assert await database.read(count) == 1


async def test_searches_take_turns_and_a_read_passes_them(database: Database):
    await database.write(create)
    begun, released = threading.Event(), threading.Event()
    order: list[str] = []

    def long(_: apsw.Connection) -> None:
        begun.set()
        assert released.wait(30)
        order.append("long")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(database.search, long)
        await anyio.to_thread.run_sync(begun.wait)
        tasks.start_soon(database.search, lambda _: order.append("short"))
        await anyio.wait_all_tasks_blocked()
        assert await database.read(count) == 0
        assert order == []
        released.set()
    assert order == ["long", "short"]


async def test_reader_cannot_write(database: Database):
    await database.write(create)
    with pytest.raises(Unusable):
        await database.read(add)
    assert await database.read(count) == 0


async def test_data_version_changes_with_each_commit_and_only_then(database: Database):
    await database.write(create)
    first = await database.data_version()
    assert await database.data_version() == first
    await database.write(add)
    assert await database.data_version() != first


def test_size_counts_the_log_too(database: Database, path: Path):
    assert database.size_bytes() == 0
    database.write_blocking(create)
    log = path.with_name(path.name + "-wal")
    assert database.size_bytes() == path.stat().st_size + log.stat().st_size > 0


def test_log_is_empty_or_gone_after_closing(database: Database, path: Path):
    database.write_blocking(create)
    other = apsw.Connection(str(path))
    other.execute(COUNT).fetchall()
    database.close()
    assert path.with_name(path.name + "-wal").stat().st_size == 0
    other.close()


def test_log_is_moved_into_the_file_when_the_writer_is_idle(database: Database, path: Path):
    database.write_blocking(lambda db: db.execute("CREATE TABLE moved_when_idle (x)").fetchall())
    assert b"moved_when_idle" not in path.read_bytes()
    for _ in range(200):
        if b"moved_when_idle" in path.read_bytes():
            return
        threading.Event().wait(0.05)
    pytest.fail("the log was never moved")


def test_database_left_open_does_not_keep_the_process_alive(path: Path, actor: Actor):
    assert actor("leave_open", path).wait(30) == 3


def test_files_are_their_owner_s_only(database: Database, path: Path):
    database.write_blocking(create)
    modes = {stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    assert modes == {0o600}


def test_missing_folders_are_made(tmp_path: Path):
    path = tmp_path / "a b" / "ü" / "memory.db"
    database = Database(path, jitter=random.random)
    database.write_blocking(create)
    database.close()
    assert path.is_file()
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_lock_that_outlasts_the_wait_is_retryable(path: Path):
    database = Database(path, jitter=random.random, busy_timeout_s=0.01)
    database.write_blocking(create)
    other = apsw.Connection(str(path))
    other.execute("BEGIN IMMEDIATE").fetchall()
    with pytest.raises(Unavailable, match="try again") as caught:
        database.write_blocking(add)
    assert (caught.value.retryable, caught.value.details) == (True, {"path": str(path)})
    other.close()
    database.write_blocking(add)
    database.close()


def test_eight_processes_open_an_absent_file_at_once(path: Path, actor: Actor):
    openers = [actor("open_and_add", path, f"p{i}") for i in range(8)]
    for opener in openers:
        assert opener.stdout.readline() == "ready\n"
    for opener in openers:
        opener.stdin.write("go\n")
    things = sorted(int(opener.stdout.readline()) for opener in openers)
    assert things == list(range(1, 9))
    assert [opener.wait(30) for opener in openers] == [0] * 8


def test_b41_four_processes_write_and_read_one_file(path: Path, actor: Actor, database: Database):
    writers = [actor("add_many", path, f"p{i}", 200) for i in range(4)]
    acknowledged = [
        line for writer in writers for line in writer.communicate(timeout=60)[0].split()
    ]
    assert [writer.returncode for writer in writers] == [0] * 4
    rows = database.read_blocking(lambda db: db.execute("SELECT id FROM things").fetchall())
    assert sorted(map(int, acknowledged)) == [row for (row,) in rows] == list(range(1, 801))


def test_b42_a_held_write_lock_stops_neither_readers_nor_openers(
    path: Path, actor: Actor, database: Database
):
    database.write_blocking(create)
    holder = actor("hold", path)
    assert holder.stdout.readline() == "held\n"
    assert [database.read_blocking(count) for _ in range(5)] == [0] * 5
    newcomer = Database(path, jitter=random.random, busy_timeout_s=0.01)
    assert newcomer.read_blocking(count) == 0
    with pytest.raises(Unavailable):  # The lock is really held.
        newcomer.write_blocking(add)
    newcomer.close()
    holder.stdin.write("go\n")
    assert holder.wait(30) == 0


def kill_at_a_random_moment(path: Path, actor: Actor, chance: random.Random) -> None:
    """Kill a writer somewhere after its n-th acknowledgement and check what it has left."""
    writer = actor("add_many", path, f"k{chance.randrange(10**9)}")
    acknowledged = [writer.stdout.readline() for _ in range(chance.randint(1, 60))]
    threading.Event().wait(chance.random() * 0.002)  # anywhere within a transaction
    writer.kill()
    acknowledged += writer.communicate()[0].splitlines(keepends=True)
    things = {int(line) for line in acknowledged if line.endswith("\n")}
    database = Database(path, jitter=random.random)
    database.read_blocking(lambda db: assert_whole(db, things))
    database.maintain_blocking(
        lambda db: db.execute(
            "INSERT INTO thing_words (thing_words, rank) VALUES ('integrity-check', 0)"
        ).fetchall()
    )
    database.close()


def assert_whole(db: apsw.Connection, acknowledged: set[int]) -> None:
    assert db.pragma("integrity_check") == "ok"
    things = set(db.execute("SELECT id, word FROM things").fetchall())
    assert acknowledged <= {thing for thing, _ in things}
    assert set(db.execute("SELECT rowid, word FROM thing_words").fetchall()) == things
    subjects = {int(job) for (job,) in db.execute("SELECT subject FROM jobs").fetchall()}
    assert subjects == {thing for thing, _ in things}


def test_b44_killed_writer_leaves_whole_transactions(path: Path, actor: Actor):
    chance = random.Random(44)
    for _ in range(4):
        kill_at_a_random_moment(path, actor, chance)


@pytest.mark.slow
def test_b44_writer_killed_at_fifty_random_moments(path: Path, actor: Actor):
    chance = random.Random()
    for _ in range(50):
        kill_at_a_random_moment(path, actor, chance)


def take_away(path: Path, how: str) -> Callable[[], None]:
    away = path.rename(path.with_name("away"))
    if how == "replaced":
        path.write_bytes(b"")
    return lambda: away.replace(path) and None


@pytest.mark.parametrize("how", ["deleted", "replaced"])
async def test_nothing_is_written_to_a_file_that_was_taken_away(
    database: Database, path: Path, how: str
):
    await database.write(create)
    await database.write(add)
    put_back = take_away(path, how)
    for job in (database.write(add), database.read(count)):
        with pytest.raises(Unusable, match="was deleted, moved or replaced while it was in use"):
            await job
    put_back()
    await database.write(add)
    assert await database.read(count) == 2
