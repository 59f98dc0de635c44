"""Migrations: whole or not at all, once among many, with a backup, from every older version."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

import apsw
import pytest

from memrpc.store import backups, migrate
from memrpc.store.database import Database
from memrpc.store.errors import Unavailable

if TYPE_CHECKING:
    from pathlib import Path

JOB = """
INSERT INTO jobs (kind, subject, payload, state, enqueued_at, due_at)
VALUES ('embed', '7', '{}', 'ready', 1, 1)
"""
OLDER = [step.version for step in migrate.migrations()[:-1]]


def make_old(path: Path, version: int) -> None:
    """Make the file that a memrpc of ``version`` would have left, with a row in it."""
    db = apsw.Connection(str(path))
    db.pragma("journal_mode", "wal")
    for step in migrate.migrations():
        if step.version <= version:
            db.execute(step.path.read_text(encoding="utf-8")).fetchall()
    db.pragma("application_id", migrate.APPLICATION_ID)
    db.pragma("user_version", version)
    db.execute(JOB).fetchall()
    db.close()


def dump(path: Path) -> list[tuple[object, ...]]:
    db = apsw.Connection(str(path))
    try:
        schema = db.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY name").fetchall()
        return [*schema, *db.execute("SELECT * FROM jobs").fetchall()]
    finally:
        db.close()


def test_migrations_are_numbered_without_a_gap():
    versions = [step.version for step in migrate.migrations()]
    assert versions == list(range(1, len(versions) + 1))
    assert all(re.fullmatch(r"\d{4}_[a-z_]+\.sql", s.path.name) for s in migrate.migrations())


def test_new_file_gets_the_newest_version_and_a_key_of_its_own(tmp_path: Path):
    keys = set()
    for name in ("a.db", "b.db"):
        db = apsw.Connection(str(tmp_path / name))
        migrate.migrate(db)
        migrate.migrate(db)
        assert migrate.version(db) == migrate.latest()
        assert db.pragma("application_id") == migrate.APPLICATION_ID
        keys.add(db.execute("SELECT value FROM meta WHERE name = 'key'").get)
        db.close()
    assert {len(key) for key in keys} == {32}
    assert len(keys) == 2


def test_comments_of_migrations_do_not_reach_the_file(database: Database):
    schema = database.read_blocking(
        lambda db: db.execute("SELECT sql FROM sqlite_schema").fetchall()
    )
    assert not any("--" in (sql or "") for (sql,) in schema)


def test_no_literal_in_a_migration_looks_like_a_comment():
    text = "\n".join(s.path.read_text(encoding="utf-8") for s in migrate.migrations())
    assert (
        re.findall(r"'[^'\n]*--[^'\n]*'", re.sub(r"--.*", lambda m: m[0].replace("'", ""), text))
        == []
    )


def test_new_file_needs_no_backup(database: Database, path: Path):
    database.read_blocking(migrate.version)
    assert backups.every(path) == []


def test_opening_a_migrated_file_writes_nothing(database: Database, path: Path):
    database.read_blocking(migrate.version)
    before = database.size_bytes(), path.read_bytes()
    with_others = Database(path, jitter=random.random)
    with_others.read_blocking(migrate.version)
    assert (database.size_bytes(), path.read_bytes()) == before
    with_others.close()


@pytest.mark.parametrize("version", OLDER)
def test_b65_older_file_is_migrated_after_a_backup(path: Path, version: int):
    make_old(path, version)
    old = dump(path)
    database = Database(path, jitter=random.random)
    assert database.read_blocking(migrate.version) == migrate.latest()
    subjects = database.read_blocking(lambda db: db.execute("SELECT subject FROM jobs").get)
    assert subjects == "7"
    database.close()
    assert [b.name for b in backups.every(path)] == [f"memory.db.bak-{version}"]
    assert dump(backups.complete(path)[0]) == old


@pytest.mark.parametrize("version", [0, *OLDER])
def test_b65_migration_interrupted_at_any_statement_is_rolled_back(path: Path, version: int):
    """The n-th statement fails, for n = 1, 2, 3 ... until the migration comes through."""
    if version:
        make_old(path, version)
    stops = 0
    while not migrates_until(path, stops):
        stops += 1
        assert_at_a_whole_version(path)
    assert stops > 3
    db = apsw.Connection(str(path))
    assert migrate.version(db) == migrate.latest()
    db.close()


def migrates_until(path: Path, stop: int) -> bool:
    """Migrate, but fail before statement ``stop``; say whether there was no such statement."""
    db = apsw.Connection(str(path))
    left = iter(range(stop))

    def trace(_cursor: object, _sql: str, _bindings: object) -> bool:
        return next(left, None) is not None

    db.exec_trace = trace
    try:
        migrate.migrate(db)
    except apsw.Error:
        return False
    else:
        return True
    finally:
        db.exec_trace = None
        db.close(True)


def assert_at_a_whole_version(path: Path) -> None:
    db = apsw.Connection(str(path))
    reached = migrate.version(db)
    present = {name for (name,) in db.execute("SELECT name FROM sqlite_schema").fetchall()}
    db.close()
    fresh = apsw.Connection(":memory:")
    for step in migrate.migrations()[:reached]:
        fresh.execute(step.path.read_text(encoding="utf-8")).fetchall()
    assert present == {n for (n,) in fresh.execute("SELECT name FROM sqlite_schema").fetchall()}
    fresh.close()


def test_migration_whose_backup_fails_changes_nothing(path: Path):
    def no_space(_db: apsw.Connection, _version: int) -> None:
        raise apsw.FullError("no space")

    make_old(path, 1)
    old = dump(path)
    db = apsw.Connection(str(path))
    with pytest.raises(apsw.FullError):
        migrate.migrate(db, back_up=no_space)
    assert not db.in_transaction
    db.close()
    assert dump(path) == old


def test_file_that_another_process_never_lets_go_is_retryable(path: Path, monkeypatch):
    monkeypatch.setattr(migrate, "_WAL_ATTEMPTS", 2)
    other = apsw.Connection(str(path))
    other.execute("BEGIN EXCLUSIVE").fetchall()
    db = apsw.Connection(str(path))
    with pytest.raises((Unavailable, apsw.BusyError)):
        migrate.migrate(db)
    other.close()
    migrate.migrate(db)
    db.close()


def test_backup_holds_what_is_still_in_the_log(path: Path):
    make_old(path, 1)
    db = apsw.Connection(str(path))
    db.pragma("wal_autocheckpoint", 0)
    db.execute("UPDATE jobs SET subject = 'only in the log'").fetchall()
    backups.back_up(db, 1)
    assert "only in the log" in str(dump(backups.complete(path)[0]))
    db.close()


def test_backups_are_bounded_and_private(path: Path):
    make_old(path, 1)
    db = apsw.Connection(str(path))
    for version in (2, 9, 10, 11):
        backups.back_up(db, version)
    db.close()
    kept = backups.complete(path)
    assert [backup.name for backup in kept] == ["memory.db.bak-10", "memory.db.bak-11"]
    assert {backup.stat().st_mode & 0o077 for backup in kept} == {0}


def test_abandoned_backup_is_replaced_found_and_deleted(path: Path):
    make_old(path, 1)
    abandoned = path.with_name("memory.db.bak-1.partial")
    abandoned.write_text("cut short")
    assert (backups.every(path), backups.complete(path)) == ([abandoned], [])
    db = apsw.Connection(str(path))
    backups.back_up(db, 1)
    db.close()
    assert backups.every(path) == backups.complete(path)
    (path.with_name("memory.db.bak-2.partial")).write_text("cut short")
    assert backups.delete(path) == 2
    assert backups.every(path) == []
