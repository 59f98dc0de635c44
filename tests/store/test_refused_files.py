"""Files that cannot be opened, are not ours or are not whole: refused, named and left alone."""

from __future__ import annotations

import os
import random
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from memrpc.store import backups, migrate
from memrpc.store.database import Database
from memrpc.store.errors import DomainError, Unusable
from tests.store.one_table import add, count, create

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Actor = Callable[..., subprocess.Popen[str]]


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


def test_b57_path_that_is_a_folder(tmp_path: Path):
    refused = refusal(tmp_path)
    assert (refused.code, refused.retryable) == ("unavailable", False)
    assert "folder" in refused.message


@pytest.mark.skipif(sys.platform == "win32", reason="no named pipes in folders")
def test_a_pipe_is_refused_at_once(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    assert "no ordinary file" in refusal(pipe).message
    assert "no ordinary file" in refusal(Path("/dev/null")).message


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
    told = refusal(path).message
    assert "If another file was meant, name that with --db." in told
    assert ".recover" in told
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
