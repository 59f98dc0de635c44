"""A migrated database in memory, a clock and an id source for the archive's tests."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import apsw
import pytest

from memrpc.archive import extraction, recording
from memrpc.archive.answers import Receipt
from memrpc.archive.model import DEFAULT_SCOPE, Role, Scope
from memrpc.archive.recording import RecordInput
from memrpc.archive.times import parse
from memrpc.store.migrate import migrate

NOW = parse("2026-06-01T12:00:00Z", "now")
SECOND = 1_000_000


class Archive:
    """The archive with a clock that stands still and ids that count."""

    def __init__(self, db: apsw.Connection) -> None:
        self.db = db
        self.now = NOW
        self._ids = itertools.count(1)

    def new_id(self) -> str:
        return f"id-{next(self._ids)}"

    def record(
        self, event_id: str, text: str, *, scope: Scope = DEFAULT_SCOPE, **fields
    ) -> Receipt:
        """Record as the server does: commit the event, then extract."""
        values = {"role": Role.USER, "source": "user"} | fields
        entry = RecordInput(event_id=event_id, text=text, scope=scope, **values)
        with self.db:
            receipt = recording.record(self.db, entry, now=self.now)
        with self.db:
            return extraction.extract(self.db, receipt.seq, now=self.now, new_id=self.new_id)


def open_database() -> apsw.Connection:
    db = apsw.Connection(":memory:")
    db.pragma("foreign_keys", 1)
    db.pragma("secure_delete", 1)
    migrate(db)
    return db


@pytest.fixture
def db() -> Iterator[apsw.Connection]:
    connection = open_database()
    yield connection
    connection.close()


@pytest.fixture
def archive(db: apsw.Connection) -> Archive:
    return Archive(db)


NewId = Callable[[], str]
