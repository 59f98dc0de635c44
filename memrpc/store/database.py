"""The database: one SQLite file behind one writer lane and a few reader lanes.

Nothing is opened until the first job.  A connection is prepared as follows: the path is made
ready; the file is looked at once without touching it, so that another program's or a newer
memrpc's file stays as it is; the connection's settings are made, none of which takes a lock; and
the migrations run if there are any to run.  Opening a file that is up to date therefore never
waits for a writer.  Each job looks first whether the file is still where it was opened: SQLite
goes on with one that has been deleted, and what is written there is lost.

``read`` gives its function one snapshot, ``write`` one transaction, ``maintain`` the writer's
connection outside a transaction.  Each has a blocking twin for callers without an event loop.
``search`` is ``read`` for what computes long in Python.  Only one thread at a time can, so searches
that ran beside each other would each take as long as all of them in turn, and whoever answers a
ping or a cancel would wait for several threads; here they take turns, and short reads pass by.
Checkpoints of the write-ahead log happen when the writer has been idle for a moment and when the
database is closed; the automatic one is only a bound on the log's size.
"""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING, Final, TypeVar

import apsw

from memrpc.store import backups, lanes, migrate
from memrpc.store.errors import Unusable
from memrpc.store.failures import Translated
from memrpc.store.lanes import Connector, Lane, Patience

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")

CACHE_KIB: Final = 16_384  # a connection's page cache, filled as needed
STATEMENTS: Final = 400  # that a connection keeps prepared: more than there are
WAL_PAGES: Final = 8_000  # the log's bound when no idle moment comes: about 32 MB
CLOSING_WAIT_MS: Final = 100

_PRAGMAS: Final = (
    ("foreign_keys", 1),
    ("secure_delete", 1),
    ("temp_store", "memory"),
    ("mmap_size", 0),
    ("cache_size", -CACHE_KIB),
)
_CONFIG: Final = (
    (apsw.SQLITE_DBCONFIG_DQS_DML, 0),
    (apsw.SQLITE_DBCONFIG_DQS_DDL, 0),
    (apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0),
)


class Database:
    """A file, opened when first used; see the module's text for how."""

    def __init__(
        self,
        path: Path,
        *,
        jitter: Callable[[], float],
        readers: int = 3,
        busy_timeout_s: float = 5.0,
        durable: bool = False,
        committed: Callable[[], None] = lambda: None,
    ) -> None:
        """Take the file's path and how to treat it; nothing is opened yet.

        ``jitter`` gives uniform numbers in [0, 1).  ``durable`` makes each commit survive a
        power loss, not only the death of the process.  ``committed`` is told after each ``write``.
        """
        self.path = path
        self._name = str(path)
        self._translated = Translated(path)
        self._committed = committed
        self._synchronous = "full" if durable else "normal"
        self._lock = threading.Lock()
        self._identity: tuple[int, int] | None = None
        self._log_pages = 0  # since the last checkpoint of ours
        patience = Patience(busy_timeout_s, jitter)
        reader = Connector(self._open, self._prepare_reader)
        writer = Connector(
            self._open, self._prepare_writer, idle=self._checkpoint, finish=_truncate
        )
        self._reader = Lane("reader", reader, patience, width=readers)
        self._searcher = Lane("search-reader", reader, patience)
        self._watcher = Lane("watcher", reader, patience)
        self._writer = Lane("writer", writer, patience)

    async def read(self, function: Callable[[apsw.Connection], T]) -> T:
        """Return ``function(db)`` of one snapshot.  A cancelled read is stopped and settled."""
        with self._translated:
            return await self._reader.run(self._in_snapshot(function))

    async def search(self, function: Callable[[apsw.Connection], T]) -> T:
        """Do as ``read``, one at a time."""
        with self._translated:
            return await self._searcher.run(self._in_snapshot(function))

    async def write(self, function: Callable[[apsw.Connection], T], *, is_brief: bool = False) -> T:
        """Return ``function(db)`` of one transaction, committed when it returns.

        An exception or a cancel rolls back, before it goes on.  A cancel after the commit has
        begun loses the answer and not the effect.  What ``is_brief`` may keep the event loop from
        its work for a few milliseconds, and be run twice, the first time without effect.
        """
        brief = is_brief and self._commits_quickly and self._searcher.is_idle
        with self._translated:
            value = await self._writer.run(self._in_transaction(function), is_brief=brief)
        self._committed()
        return value

    async def maintain(self, function: Callable[[apsw.Connection], T]) -> T:
        """Return ``function(db)`` of the writer's connection, outside a transaction."""
        with self._translated:
            return await self._writer.run(function)

    def read_blocking(self, function: Callable[[apsw.Connection], T]) -> T:
        """Do as ``read`` from a plain thread."""
        with self._translated:
            return self._reader.call(self._in_snapshot(function))

    def write_blocking(self, function: Callable[[apsw.Connection], T]) -> T:
        """Do as ``write`` from a plain thread."""
        with self._translated:
            return self._writer.call(self._in_transaction(function))

    def maintain_blocking(self, function: Callable[[apsw.Connection], T]) -> T:
        """Do as ``maintain`` from a plain thread."""
        with self._translated:
            return self._writer.call(function)

    async def data_version(self) -> int:
        """Return a number that differs from the last one if anybody has committed since.

        A connection of its own asks, so a poll waits for no job and costs a few microseconds.
        """
        with self._translated:
            return await self._watcher.run(_data_version)

    def size_bytes(self) -> int:
        """Return the size of the file and its write-ahead log; 0 before it exists."""
        return _size_bytes(self.path) + _size_bytes(_side_file(self.path, "-wal"))

    def close(self) -> None:
        """Finish what is queued, empty the log unless somebody is in the way, and close."""
        self._reader.close()
        self._searcher.close()
        self._watcher.close()
        self._writer.close()

    def _open(self) -> apsw.Connection:
        with self._lock:
            if self._identity is None:
                _make_place(self.path)
                _look(self.path)
                self._identity = _identity(self._name)
        self._check_place()
        return apsw.Connection(self._name, statementcachesize=STATEMENTS)

    def _check_place(self) -> None:
        """Refuse to go on with a file that has been taken away: what is written there is lost.

        Raises Unusable.
        """
        if _identity(self._name) != self._identity:
            raise Unusable(
                f"{self.path} was deleted, moved or replaced while it was in use; nothing was "
                "written. Put it back, or start the server anew to use what is there now.",
                path=str(self.path),
            )

    def _in_snapshot(
        self, function: Callable[[apsw.Connection], T]
    ) -> Callable[[apsw.Connection], T]:
        def job(db: apsw.Connection) -> T:
            self._check_place()
            db.execute("BEGIN").fetchall()
            return function(db)  # The lane ends the transaction.

        return job

    def _in_transaction(
        self, function: Callable[[apsw.Connection], T]
    ) -> Callable[[apsw.Connection], T]:
        def job(db: apsw.Connection) -> T:
            self._check_place()
            db.execute("BEGIN IMMEDIATE").fetchall()
            value = function(db)
            lanes.seal()
            db.execute("COMMIT").fetchall()
            return value

        return job

    def _prepare(self, db: apsw.Connection) -> None:
        migrate.version(db)
        for option, value in _CONFIG:
            db.config(option, value)
        for name, setting in _PRAGMAS:
            db.pragma(name, setting)
        db.pragma("synchronous", self._synchronous)
        migrate.migrate(db, back_up=backups.back_up)

    def _prepare_reader(self, db: apsw.Connection) -> None:
        self._prepare(db)
        db.pragma("query_only", 1)

    def _prepare_writer(self, db: apsw.Connection) -> None:
        self._prepare(db)
        db.set_wal_hook(self._bound_log)

    @property
    def _commits_quickly(self) -> bool:
        """Say whether a commit does not wait for the disk, as the log's first one does.

        Where another process has emptied the log, that is not known before.
        """
        return 0 < self._log_pages < WAL_PAGES and self._synchronous == "normal"

    def _bound_log(self, db: apsw.Connection, _: str, pages: int) -> int:
        """Checkpoint in SQLite's stead, one commit later: that one runs on the lane's thread."""
        was_long, self._log_pages = self._log_pages >= WAL_PAGES, pages
        if was_long:
            with contextlib.suppress(apsw.Error):  # the commit stands, and the next one tries again
                self._checkpoint(db)
        return apsw.SQLITE_OK

    def _checkpoint(self, db: apsw.Connection) -> None:
        """Move what the log holds into the file as far as nobody is in the way."""
        self._log_pages = 0
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)


def _data_version(db: apsw.Connection) -> int:
    return int(db.pragma("data_version"))


def _truncate(db: apsw.Connection) -> None:
    """Empty the log, waiting no longer than a closing session may."""
    db.set_busy_timeout(CLOSING_WAIT_MS)
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _make_place(path: Path) -> None:
    """Make the folder and an empty private file, or say why not.

    Raises Unusable.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.is_dir():
            raise Unusable(
                f"{path} is a folder; give the path of a file, such as {path / 'memory.db'}.",
                path=str(path),
            )
        if path.exists() and not path.is_file():
            raise Unusable(f"{path} is no ordinary file; name another path.", path=str(path))
        backups.create_private(path)
    except OSError as error:
        raise Unusable(
            f"{path} cannot be created: {error.strerror}. Make its folder writable for this user, "
            "or name another path.",
            path=str(path),
        ) from error
    if _size_bytes(path) == 0 and _size_bytes(_side_file(path, "-wal")) > 0:
        # SQLite would take the empty file for a new one and delete the log.
        raise Unusable(
            f"{path} is empty but its log {path.name}-wal is not; both were left as they are. "
            "Restore the file from a backup, or move both aside to start anew.",
            path=str(path),
        )


def _look(path: Path) -> None:
    """Refuse a file that is not ours to open, without a lock and without side files.

    Raises Unusable.  A file that cannot be read this way is left to the real opening.
    """
    uri = f"{path.absolute().as_uri()}?immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with contextlib.suppress(apsw.Error):
        db = apsw.Connection(uri, flags=flags)
        try:
            migrate.version(db)
        finally:
            db.close(True)


def _side_file(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def _identity(name: str) -> tuple[int, int] | None:
    """Tell a file from any other that may get its name; None where there is none."""
    try:
        found = os.stat(name)  # noqa: PTH116 -- before each job, and half of Path's
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _size_bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
