"""Other processes for the store's tests: ``python actors.py ROLE PATH ...``."""

from __future__ import annotations

import fcntl
import os
import random
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio
import apsw

from memrpc.store import changes, jobs
from memrpc.store.database import Database
from memrpc.store.errors import DomainError

SCHEMA = (
    "CREATE TABLE IF NOT EXISTS things (id INTEGER PRIMARY KEY, owner TEXT, word TEXT) STRICT",
    "CREATE VIRTUAL TABLE IF NOT EXISTS thing_words USING fts5 (word)",
)
ADD = "INSERT INTO things (owner, word) VALUES (:owner, :word) RETURNING id"
CHECKPOINT_LOCK = 121  # the byte of the log's index that stands for it
ADD_WORD = "INSERT INTO thing_words (rowid, word) VALUES (:id, :word)"


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def create(db: apsw.Connection) -> None:
    for statement in SCHEMA:
        db.execute(statement).fetchall()


def add(db: apsw.Connection, owner: str, number: int) -> int:
    """Write one thing with its full-text row, its job and its change: all or nothing."""
    word = f"{owner}word{number}"
    thing: int = db.execute(ADD, {"owner": owner, "word": word}).get
    db.execute(ADD_WORD, {"id": thing, "word": word}).fetchall()
    jobs.enqueue(db, "embed", str(thing), now=number)
    changes.note(db, f"things/{owner}", now=number)
    return thing


def open_and_add(database: Database, owner: str) -> None:
    """Open at the same moment as others, then add one thing."""
    say("ready")
    sys.stdin.readline()
    database.write_blocking(create)
    say(database.write_blocking(lambda db: add(db, owner, 0)))


def add_many(database: Database, owner: str, count: str = "1000000000") -> None:
    """Add things, with reads in between, and acknowledge each committed one on a line."""
    database.write_blocking(create)
    anyio.run(add_in_turn, database, owner, int(count))


async def add_in_turn(database: Database, owner: str, count: int) -> None:
    """Add things, every other one briefly."""
    for number in range(count):
        write = partial(add, owner=owner, number=number)
        say(await database.write(write, is_brief=number % 2 == 1))
        await database.read(lambda db: db.execute("SELECT count(*) FROM things").get)


def hold(database: Database) -> None:
    """Hold the write lock until a line comes."""

    def wait(db: apsw.Connection) -> None:
        say("held")
        sys.stdin.readline()

    database.write_blocking(wait)


def claim(database: Database, owner: str) -> None:
    """Claim and complete jobs until none is due, one line each."""
    while True:
        lease = database.write_blocking(lambda db: jobs.claim(db, ["embed"], owner=owner, now=100))
        if lease is None:
            return
        database.write_blocking(lambda db, lease=lease: jobs.complete(db, lease, now=100))
        say(lease.subject)


def claim_and_hang(database: Database, owner: str) -> None:
    """Claim one job and never finish it."""
    lease = database.write_blocking(lambda db: jobs.claim(db, ["embed"], owner=owner, now=100))
    assert lease is not None
    say(lease.subject)
    sys.stdin.readline()


def keep_log(database: Database) -> None:
    """Hold the lock of whoever checkpoints until a line comes."""
    with database.path.with_name(f"{database.path.name}-shm").open("r+b") as shared:
        fcntl.lockf(shared, fcntl.LOCK_EX, 1, CHECKPOINT_LOCK)
        say("kept")
        sys.stdin.readline()


def leave_open(database: Database) -> None:
    """End without closing anything, as a program does that forgets to."""
    database.write_blocking(create)
    sys.exit(3)


def fill(database: Database) -> None:
    """Write until the disk is full, say what was reported, and whether reading still works."""
    database.write_blocking(create)
    try:
        for number in range(1_000):
            database.write_blocking(
                lambda db: db.execute(ADD, {"owner": "f", "word": "x" * 10_000}).get
            )
            say(number)
    except DomainError as error:
        say(error.code, error.message)
    say(database.read_blocking(lambda db: db.execute("SELECT count(*) FROM things").get))


def as_nobody(database: Database) -> None:
    """Give up the rights of root, then try to write.

    What Python imports on the way is imported before: nobody may not read a home's interpreter.
    """
    import urllib.parse  # noqa: F401 -- pathlib's, from 3.13 on when first needed

    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
    try:
        database.write_blocking(create)
        say("written")
    except DomainError as error:
        say(error.code, error.retryable, error.message)


ROLES: dict[str, Callable[..., None]] = {
    role.__name__: role
    for role in (
        open_and_add,
        add_many,
        hold,
        keep_log,
        claim,
        claim_and_hang,
        leave_open,
        fill,
        as_nobody,
    )
}


def main() -> None:
    role, path, *arguments = sys.argv[1:]
    database = Database(Path(path), jitter=random.random, busy_timeout_s=20)
    ROLES[role](database, *arguments)
    database.close()


if __name__ == "__main__":
    main()
