"""Migrations: bring a file from whatever version it has to the newest, or leave it untouched.

``application_id`` marks our files and ``user_version`` is the number of the last migration that
was applied.  Both are read without a lock, so opening a file that is up to date never waits for
a writer.  Otherwise each migration runs in one transaction together with its version, behind
BEGIN IMMEDIATE and after a second look at the version: of several processes that open the same
old file one migrates and the rest find nothing to do.  A crash half-way rolls back to the last
complete migration.
"""

from __future__ import annotations

import functools
import re
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import apsw

from memrpc.store.errors import Unavailable, Unusable
from memrpc.store.lane_thread import checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable

APPLICATION_ID: Final = 0x6D72_7063  # "mrpc", the mark in bytes 68 to 71 of the file
_FOLDER: Final = Path(__file__).with_name("migrations")
_COMMENT: Final = re.compile(r"--.*")
_WAL_ATTEMPTS: Final = 1_000
_WAL_PAUSE_S: Final = 0.005

# One statement, so one snapshot: another process may be making the file at this moment.
_MARKS: Final = """
SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
FROM pragma_user_version, pragma_application_id
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One file of ``migrations/``: its number is the version that it leads to."""

    version: int
    path: Path


@functools.cache
def migrations() -> tuple[Migration, ...]:
    """List every migration that this build knows, in order."""
    return tuple(Migration(int(p.name[:4]), p) for p in sorted(_FOLDER.glob("[0-9]*.sql")))


def latest() -> int:
    """Return the version that this build works with."""
    return migrations()[-1].version


def version(db: apsw.Connection) -> int:
    """Read the file's version, 0 for a new one, without a lock.

    Raises Unusable for another program's file and for a newer version than this build knows.
    """
    marks: list[Any] = db.execute(_MARKS).fetchall()
    ((found, mark, objects),) = marks
    if mark != APPLICATION_ID and (mark or found or objects):
        raise Unusable(
            f"{db.filename} is a SQLite file of another program; it was left untouched. "
            "Give the path of a new file or of one that memrpc made.",
            path=db.filename,
        )
    if found > latest():
        raise Unusable(
            f"{db.filename} was written by a newer memrpc (schema {found}, this one knows "
            f"{latest()}); it was left untouched. Install the newer version.",
            path=db.filename,
            found=found,
            known=latest(),
        )
    return int(found)


def migrate(
    db: apsw.Connection, *, back_up: Callable[[apsw.Connection, int], None] | None = None
) -> None:
    """Apply what is missing; afterwards ``version(db) == latest()``.

    ``back_up(db, version)`` is called once, under the write lock, before an existing file is
    changed; if it raises, nothing has changed.
    """
    seen = version(db)
    if seen == latest():
        return
    _enter_wal(db)
    while seen < latest():
        seen = _step(db, seen, back_up if seen else None)
        back_up = None


def _step(
    db: apsw.Connection, seen: int, back_up: Callable[[apsw.Connection, int], None] | None
) -> int:
    """Apply the next migration, or find that another process has."""
    db.execute("BEGIN IMMEDIATE").fetchall()
    try:
        found = version(db)
        if found == seen:
            if back_up is not None:
                back_up(db, found)
            found = _apply(db, next(m for m in migrations() if m.version > found))
        db.execute("COMMIT").fetchall()
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK").fetchall()
        raise
    return found


def _apply(db: apsw.Connection, migration: Migration) -> int:
    # SQLite keeps a table's statement in the file, where an audit would find the words of its
    # comments.
    sql = _COMMENT.sub("", migration.path.read_text(encoding="utf-8"))
    db.execute(sql).fetchall()
    db.pragma("application_id", APPLICATION_ID)
    db.pragma("user_version", migration.version)
    return migration.version


def _enter_wal(db: apsw.Connection) -> None:
    """Switch the file to WAL, which is remembered in the file.

    The switch does not always ask the busy handler when several processes open a new file, so
    it is repeated here.
    """
    for _ in range(_WAL_ATTEMPTS):
        try:
            if db.pragma("journal_mode", "wal") in {"wal", "memory"}:
                return
        except apsw.BusyError:
            checkpoint()
        time.sleep(_WAL_PAUSE_S)  # noqa: TID251 -- no handler is asked here, see above
    raise Unavailable(f"{db.filename} is locked by another process; try again.", path=db.filename)
