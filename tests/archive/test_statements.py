"""Every SQL text of the archive is a constant that the migrated schema accepts."""

from __future__ import annotations

import importlib
import pkgutil
import re

import apsw
import pytest

import memrpc.archive

SQL = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE)\b")
# Read whole on purpose: an export, a rebuild and the lists of names.
WHOLE = {
    "events._SEQS",
    "checkpoints._ALL",
    "persona._NAMES",
    "scopes._PERSONAS",
    "statistics._COUNTS",
}


def statements() -> dict[str, str]:
    found = {}
    for module in pkgutil.iter_modules(memrpc.archive.__path__):
        loaded = importlib.import_module(f"memrpc.archive.{module.name}")
        for name, value in vars(loaded).items():
            is_whole = name.isupper() and name != "_COLUMNS"  # the beginning of others
            if is_whole and isinstance(value, str) and SQL.match(value):
                found[f"{module.name}.{name}"] = value
    return found


ALL = statements()


def plan(db: apsw.Connection, sql: str) -> list[str]:
    names = set(re.findall(r":(\w+)", sql))
    bindings = dict.fromkeys(names, "[1]" if names & {"keys", "seqs"} else 1)
    rows = db.execute(f"EXPLAIN QUERY PLAN {sql}", bindings).fetchall()
    return [row[3] for row in rows]


def test_there_are_statements() -> None:
    assert len(ALL) > 40


@pytest.mark.parametrize("name", sorted(ALL))
def test_a_statement_is_prepared_and_scans_no_table(db: apsw.Connection, name: str) -> None:
    scans = [
        step
        for step in plan(db, ALL[name])
        if step.startswith("SCAN") and "json_each" not in step and "CONSTANT ROW" not in step
    ]
    assert bool(scans) is (name in WHOLE), scans


@pytest.mark.parametrize(
    "name",
    ["memories._NEWEST", "events._AFTER", "events._BEFORE_IN_SESSION", "checkpoints._LATEST"],
)
def test_a_bounded_read_stops_at_its_bound_without_sorting(db: apsw.Connection, name: str) -> None:
    assert not [step for step in plan(db, ALL[name]) if "TEMP B-TREE" in step]


def test_no_index_holds_text_that_may_be_forgotten(db: apsw.Connection) -> None:
    rows = db.execute(
        """SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_index_info(m.name) c
        WHERE m.type = 'index' AND m.tbl_name IN
          ('events', 'cues', 'memories', 'checkpoints', 'persona_items', 'tombstones')"""
    ).fetchall()
    indexed = {column for _, column in rows}
    assert indexed.isdisjoint(
        {"text", "content", "quote", "gist", "source", "key", "label", "state"}
    )
