"""A migrated database without lanes, for what is tested below them."""

from __future__ import annotations

import apsw

from memrpc.store.migrate import migrate


def open_database(path: str = ":memory:") -> apsw.Connection:
    db = apsw.Connection(path)
    db.pragma("foreign_keys", 1)
    db.pragma("secure_delete", 1)
    migrate(db)
    return db


def open_beside(path: object) -> apsw.Connection:
    """A file that servers have open: their work in the background may hold its lock a moment."""
    db = apsw.Connection(str(path))
    db.set_busy_timeout(10_000)
    return db
