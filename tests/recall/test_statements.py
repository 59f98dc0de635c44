from __future__ import annotations

import apsw
import pytest

from memrpc.recall import frequencies, index, proposing, search

LOOKUPS = [
    index.UNITS_OF,
    index.DELETE_UNIT,
    search.COLLECTION,
    search.UNITS,
    proposing.MATCHING,
    proposing.MATCHING_WITHIN,
    frequencies.FREQUENCY,
    frequencies.PREFIX_FREQUENCY,
]


class _Anything(dict):
    def __missing__(self, key: str) -> None:
        return None


@pytest.mark.parametrize("statement", LOOKUPS)
def test_no_statement_scans_the_units(db: apsw.Connection, statement: str) -> None:
    plan = db.execute(f"EXPLAIN QUERY PLAN {statement}", _Anything()).fetchall()
    details = [row[3] for row in plan]
    assert details
    assert not [each for each in details if each.startswith(("SCAN units", "SCAN collections"))]


def test_no_ordinary_index_holds_text(db: apsw.Connection) -> None:
    sql = "SELECT name FROM pragma_index_list('units')"
    indexed = {
        column
        for (name,) in db.execute(sql).fetchall()
        for (column,) in db.execute(
            "SELECT name FROM pragma_index_info(:name)", {"name": name}
        ).fetchall()
    }
    assert indexed == {"kind", "subject", "chunk"}
