"""Every statement of the store fits the schema, and the frequent ones scan no table."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING

import apsw
import pytest

import memrpc.store
from memrpc.store import changes, deposits, jobs, migrate

if TYPE_CHECKING:
    from collections.abc import Iterator

VERBS = ("SELECT", "INSERT", "UPDATE", "DELETE")
FREQUENT = {
    "changes note": changes._NOTE,
    "changes since": changes._SINCE,
    "changes last": changes._LAST,
    "deposits find": deposits._FIND,
    "deposits leave": deposits._LEAVE,
    "deposits replace": deposits._REPLACE,
    "deposits sweep": deposits._SWEEP,
    "jobs enqueue": jobs._ENQUEUE,
    "jobs bury": jobs._BURY,
    "jobs claim": jobs._CLAIM,
    "jobs heartbeat": jobs._HEARTBEAT,
    "jobs complete": jobs._DELETE,
    "jobs fail": jobs._FAIL,
    "jobs cancel": jobs._CANCEL,
}


@pytest.fixture
def db() -> Iterator[apsw.Connection]:
    db = apsw.Connection(":memory:")
    migrate.migrate(db)
    yield db
    db.close()


def statements() -> Iterator[tuple[str, str]]:
    for module in pkgutil.iter_modules(memrpc.store.__path__, "memrpc.store."):
        for name, value in vars(importlib.import_module(module.name)).items():
            if name.isupper() and isinstance(value, str) and value.lstrip().startswith(VERBS):
                yield f"{module.name}.{name}", value


def plan(db: apsw.Connection, sql: str) -> list[str]:
    unbound = apsw.allow_missing_dict_bindings(True)
    try:
        return [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", {}).fetchall()]
    finally:
        apsw.allow_missing_dict_bindings(unbound)


def test_every_statement_can_be_prepared(db: apsw.Connection):
    found = dict(statements())
    assert len(found) > 15
    for sql in found.values():
        plan(db, sql)


@pytest.mark.parametrize("sql", FREQUENT.values(), ids=FREQUENT)
def test_frequent_statement_scans_no_table(db: apsw.Connection, sql: str):
    scans = [step for step in plan(db, sql) if step.startswith("SCAN")]
    assert [step for step in scans if "json_each" not in step] == []
