"""Every SQL text of the workspace fits the migrated schema, and hot ones scan nothing."""

from __future__ import annotations

import importlib
import pkgutil
import re

import apsw
import pytest

import memrpc.workspace
from memrpc.store.where import compose
from memrpc.workspace import entry_filters, graph, handoffs, task_reading

SQL = re.compile(r"\s*(WITH|SELECT|INSERT|UPDATE|DELETE)\b")
PARTS = {"_COLUMNS", "SELECT", "BORN", "COUNT", "_COUNT"}
"""Beginnings of other statements, and what is composed with conditions."""
WHOLE = {
    "entries._KEYS",
    "tasks._KEYS",
    "standards._KEYS",
    "scope._ALL",
    "scope._ACTIVITY",
    "redacting._ARCHIVES",
    "upkeep._FADING",
    "statistics._COUNTS",
}
"""Read whole on purpose: rebuilds, the list of repositories, a redaction, the daily upkeep,
the counts of `memrpc stats`."""


def statements() -> dict[str, str]:
    found = {}
    for module in pkgutil.iter_modules(memrpc.workspace.__path__):
        loaded = importlib.import_module(f"memrpc.workspace.{module.name}")
        for name, value in vars(loaded).items():
            is_own = name.isupper() and isinstance(value, str) and SQL.match(value)
            if is_own and not (name in PARTS and " WHERE " not in value):
                found[f"{module.name}.{name}"] = value
    codes = {f"graph.code of {kind}": sql for kind, sql in graph._CODES.items()}
    return {**found, **codes, **composed()}


def composed() -> dict[str, str]:
    """What is put together from fragments, as the commonest calls do."""
    of_status = [task_reading.OF_REPO, task_reading._STATUS]
    return {
        "tasks by priority": compose(task_reading.SELECT, of_status, task_reading._BY_PRIORITY),
        "tasks by update": compose(task_reading.SELECT, of_status, task_reading._BY_UPDATE),
        "tasks counted": compose(task_reading._COUNT, of_status),
        "handoffs": compose(handoffs._COLUMNS, [handoffs._OF_REPO], handoffs._NEWEST),
        "handoffs pending": compose(
            handoffs._COLUMNS, [handoffs._OF_REPO, handoffs._PENDING], handoffs._NEWEST
        ),
        "entries of a repository": compose(entry_filters.SELECT, [entry_filters.OF_REPO]),
        "newest entries": compose(
            entry_filters.BORN, [entry_filters.OF_REPO, entry_filters.FRESH], entry_filters.NEWEST
        ),
        "entries of all": compose(entry_filters.SELECT, [entry_filters.OF_ALL]),
        "entries in a window": compose(
            entry_filters.SELECT, [entry_filters.OF_REPO, entry_filters.CREATED]
        ),
        "entries by tag": compose(
            entry_filters.SELECT, [entry_filters.OF_REPO, entry_filters._TAG]
        ),
        "entries by two tags": compose(
            entry_filters.SELECT,
            [entry_filters.OF_REPO, entry_filters._TAG, entry_filters._MORE_TAGS],
        ),
        "entries that name": compose(
            entry_filters.SELECT, [entry_filters.OF_REPO, entry_filters._NAMED]
        ),
    }


ALL = statements()


def plan(db: apsw.Connection, sql: str) -> list[str]:
    bindings = {name: _value(name) for name in re.findall(r":(\w+)", sql)}
    rows = db.execute(f"EXPLAIN QUERY PLAN {sql}", bindings).fetchall()
    return [row[3] for row in rows]


def _value(name: str) -> int | str:
    is_set = name in {"keys", "subjects", "entities", "tags", "types", "statuses", "units"}
    return "[1]" if is_set else "[[1]]" if name == "tag_groups" else 1


def scans(db: apsw.Connection, sql: str) -> list[str]:
    """The steps that read a table from end to end."""
    harmless = re.compile(
        r"VIRTUAL TABLE|CONSTANT ROW|\(subquery|INDEX standards_global|waits|above"
    )
    steps = [step for step in plan(db, sql) if step.startswith("SCAN")]
    return [step for step in steps if not harmless.search(step)]


def test_there_are_statements() -> None:
    assert len(ALL) > 80


@pytest.mark.parametrize("name", sorted(ALL))
def test_a_statement_is_prepared_and_scans_no_table(db: apsw.Connection, name: str) -> None:
    found = scans(db, ALL[name])
    assert bool(found) is (name in WHOLE), found


@pytest.mark.parametrize(
    "name",
    [
        "entries._RECAP",
        "entries._RECAP_OF",
        "newest entries",
        "tasks by priority",
        "tasks by update",
    ],
)
def test_a_bounded_list_stops_at_its_bound_without_sorting(db: apsw.Connection, name: str) -> None:
    assert not [step for step in plan(db, ALL[name]) if "TEMP B-TREE" in step]


def test_no_index_holds_text_that_may_be_redacted(db: apsw.Connection) -> None:
    rows = db.execute(
        """SELECT m.name, c.name FROM sqlite_schema m JOIN pragma_index_info(m.name) c
        WHERE m.type = 'index' AND m.tbl_name IN ('entries', 'entry_tags', 'tasks', 'comments',
          'handoffs', 'standards', 'claims', 'actions', 'entities', 'mentions', 'links')"""
    ).fetchall()
    indexed = {column for _, column in rows}
    assert indexed.isdisjoint(
        {"title", "content", "description", "text", "summary", "context", "name", "tags"}
    )
