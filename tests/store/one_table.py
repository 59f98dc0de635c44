"""The smallest use of a database: one table, a row more, how many."""

from __future__ import annotations

import apsw

COUNT = "SELECT count(*) FROM t"


def create(db: apsw.Connection) -> None:
    db.execute("CREATE TABLE t (x)").fetchall()


def add(db: apsw.Connection) -> None:
    db.execute("INSERT INTO t VALUES (1)").fetchall()


def count(db: apsw.Connection) -> int:
    return db.execute(COUNT).get
