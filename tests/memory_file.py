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
