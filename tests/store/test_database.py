"""The database: opening in company, snapshots, transactions, and the files that are not ours."""

from __future__ import annotations

import random
import shutil
import stat
import sys
import threading
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import apsw
import pytest

from memrpc.store import backups, migrate
from memrpc.store.database import Database
from memrpc.store.errors import DomainError, Unavailable, Unusable

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Actor = Callable[..., subprocess.Popen[str]]

pytestmark = pytest.mark.anyio

COUNT = "SELECT count(*) FROM t"
SETTINGS = {
    "journal_mode": "wal",
    "synchronous": 1,
    "foreign_keys": 1,
    "secure_delete": 1,
    "temp_store": 2,
    "mmap_size": 0,
    "query_only": 0,
}


def create(db: apsw.Connection) -> None:
    db.execute("CREATE TABLE t (x)").fetchall()


def add(db: apsw.Connection) -> None:
    db.execute("INSERT INTO t VALUES (1)").fetchall()


def count(db: apsw.Connection) -> int:
    return db.execute(COUNT).get


def bytes_of(path: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in sorted(path.parent.iterdir())}


def refusal(path: Path) -> DomainError:
    """What a database at ``path`` says when it is first used, by reading and by writing alike."""
    database = Database(path, jitter=random.random)
    with pytest.raises(DomainError) as reading:
        database.read_blocking(lambda db: db.pragma("user_version"))
    with pytest.raises(DomainError) as writing:
        database.write_blocking(create)
    database.close()
    assert reading.value.message == writing.value.message
    assert str(path) in reading.value.message
    return reading.value


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


def test_b57_path_that_is_a_folder(tmp_path: Path):
    refused = refusal(tmp_path)
    assert (refused.code, refused.retryable) == ("unavailable", False)
    assert "folder" in refused.message


def test_b57_path_below_a_file(tmp_path: Path):
    (tmp_path / "file").write_text("hello")
    assert refusal(tmp_path / "file" / "memory.db").retryable is False
    assert (tmp_path / "file").read_text() == "hello"


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are not POSIX")
@pytest.mark.parametrize("mode", [0o555, 0o000])
def test_b57_folder_that_may_not_be_written(tmp_path: Path, actor: Actor, mode: int):
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    folder = tmp_path / "closed"
    folder.mkdir(mode=mode)
    answer = actor("as_nobody", folder / "memory.db").communicate(timeout=30)[0]
    assert answer.startswith("unavailable False ")
    assert str(folder / "memory.db") in answer
    assert list(folder.iterdir()) == []
    folder.chmod(0o755)


@pytest.mark.skipif(sys.platform == "win32", reason="permissions are not POSIX")
def test_b57_file_that_may_not_be_written(tmp_path: Path, path: Path, actor: Actor):
    database = Database(path, jitter=random.random)
    database.write_blocking(create)
    database.close()
    for folder in (tmp_path, *tmp_path.parents[:2]):
        folder.chmod(0o755)
    path.chmod(0o444)
    before = bytes_of(path)
    answer = actor("as_nobody", path).communicate(timeout=30)[0]
    assert answer.startswith("unavailable False ")
    assert str(path) in answer
    assert bytes_of(path) == before


@pytest.mark.skipif(not shutil.which("unshare"), reason="no way to mount a small disk")
def test_b57_full_disk_is_reported_and_reading_goes_on(
    tmp_path: Path, full_disk: Callable[..., str]
):
    lines = full_disk(tmp_path / "disk", "fill").splitlines()
    written = sum(line.isdecimal() for line in lines[:-1])
    assert lines[-2].startswith("unavailable There is no space left for ")
    assert written > 0
    assert int(lines[-1]) == written


def soundly_closed(path: Path) -> None:
    database = Database(path, jitter=random.random)
    database.write_blocking(create)
    for _ in range(3):
        database.write_blocking(
            lambda db: db.execute("INSERT INTO t VALUES (randomblob(20000))").fetchall()
        )
    database.close()


def test_b64_truncated_file(path: Path):
    soundly_closed(path)
    with path.open("r+b") as file:
        file.truncate(3 * 4096)
    before = bytes_of(path)
    refused = refusal(path)
    assert ".recover" in refused.message
    assert refused.retryable is False
    assert bytes_of(path) == before


def test_b64_file_that_is_no_database(path: Path):
    path.write_text("hello")
    assert ".recover" in refusal(path).message
    assert path.read_text() == "hello"


def test_b64_empty_file_is_a_new_database(path: Path):
    path.touch()
    database = Database(path, jitter=random.random)
    database.write_blocking(create)
    assert database.read_blocking(count) == 0
    database.close()


def test_b64_empty_file_beside_a_log_is_left_alone(path: Path):
    soundly_closed(path)
    log = path.with_name(path.name + "-wal")
    log.write_bytes(b"what was not yet moved")
    path.write_bytes(b"")
    before = bytes_of(path)
    assert "backup" in refusal(path).message
    assert bytes_of(path) == before


def test_b64_missing_log_loses_what_it_held_and_nothing_else(path: Path, tmp_path: Path):
    soundly_closed(path)
    database = Database(path, jitter=random.random)
    database.write_blocking(add)
    kept = tmp_path / "copy" / path.name
    kept.parent.mkdir()
    shutil.copy(path, kept)
    database.close()
    copy = Database(kept, jitter=random.random)
    assert copy.read_blocking(count) == 3
    assert copy.read_blocking(lambda db: db.pragma("integrity_check")) == "ok"
    copy.close()


@pytest.mark.parametrize("journal_mode", ["delete", "wal"])
@pytest.mark.parametrize("mark", [0, 77])
def test_b64_database_of_another_program(path: Path, journal_mode: str, mark: int):
    other = apsw.Connection(str(path))
    other.pragma("journal_mode", journal_mode)
    other.pragma("application_id", mark)
    other.execute("CREATE TABLE theirs (x)").fetchall()
    other.close()
    before = bytes_of(path)
    refused = refusal(path)
    assert "another program" in refused.message
    assert bytes_of(path) == before


def test_b64_log_of_another_program_is_left_alone_too(path: Path, tmp_path: Path):
    """Opening and closing it as one's own would move its log into the file."""
    theirs = tmp_path / "theirs" / path.name
    theirs.parent.mkdir()
    other = apsw.Connection(str(theirs))
    other.execute("CREATE TABLE theirs (x)").fetchall()
    other.pragma("journal_mode", "wal")
    other.execute("INSERT INTO theirs VALUES (1)").fetchall()
    (tmp_path / "copy").mkdir()
    for name in (path.name, path.name + "-wal"):
        shutil.copy(theirs.with_name(name), tmp_path / "copy")
    other.close()
    copy = tmp_path / "copy" / path.name
    before = bytes_of(copy)
    assert "another program" in refusal(copy).message
    assert bytes_of(copy) == before


def test_b65_newer_file_is_refused_untouched(path: Path):
    soundly_closed(path)
    db = apsw.Connection(str(path))
    db.pragma("user_version", migrate.latest() + 1)
    db.close()
    before = bytes_of(path)
    refused = refusal(path)
    assert "newer memrpc" in refused.message
    assert refused.details["found"] == migrate.latest() + 1
    assert bytes_of(path) == before
    assert backups.every(path) == []


def test_damage_found_later_names_the_recovery(path: Path):
    soundly_closed(path)
    content = bytearray(path.read_bytes())
    root = (
        apsw.Connection(str(path))
        .execute("SELECT rootpage FROM sqlite_schema WHERE name = 't'")
        .get
    )
    content[(root - 1) * 4096 : root * 4096] = b"\xff" * 4096
    path.write_bytes(content)
    database = Database(path, jitter=random.random)
    with pytest.raises(Unusable, match="recover"):
        database.read_blocking(lambda db: db.execute("SELECT x FROM t").fetchall())
    database.close()
