"""The small parts: JSON columns, the composer of filters, and what SQLite's failures mean."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrpc.store import errors, json_column
from memrpc.store.failures import Translated, translate
from memrpc.store.where import compose

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(JSON_VALUES)
def test_column_gives_back_what_was_put_in(value: json_column.JSON):
    assert json_column.decode(json_column.encode(value)) == value


def test_equal_objects_are_equal_columns():
    assert json_column.encode({"b": 1, "a": "ü"}) == json_column.encode({"a": "ü", "b": 1})


def test_column_that_holds_no_object_is_refused():
    assert json_column.decode_object('{"a":1}') == {"a": 1}
    with pytest.raises(TypeError, match="list"):
        json_column.decode_object("[]")


@pytest.mark.parametrize(
    ("conditions", "tail", "statement"),
    [
        ((), "", "SELECT x FROM t"),
        ((), "LIMIT :n", "SELECT x FROM t LIMIT :n"),
        (("x = :x",), "", "SELECT x FROM t WHERE (x = :x)"),
        (("x = :x", "y OR z"), "LIMIT :n", "SELECT x FROM t WHERE (x = :x) AND (y OR z) LIMIT :n"),
    ],
)
def test_conditions_are_joined(conditions: tuple[str, ...], tail: str, statement: str):
    assert compose("SELECT x FROM t", conditions, tail) == statement


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        (apsw.BusyError, errors.Unavailable, True),
        (apsw.LockedError, errors.Unavailable, True),
        (apsw.FullError, errors.Unavailable, True),
        (apsw.IOError, errors.Unavailable, True),
        (apsw.ReadOnlyError, errors.Unusable, False),
        (apsw.CantOpenError, errors.Unusable, False),
        (apsw.CorruptError, errors.Unusable, False),
        (apsw.NotADBError, errors.Unusable, False),
    ],
)
def test_failure_of_the_file_names_it(error: type[apsw.Error], kind: type, *, retryable: bool):
    path = Path("/a/memory.db")
    with pytest.raises(errors.DomainError, match=r"/a/memory\.db") as caught, Translated(path):
        raise error("cause")
    assert type(caught.value) is kind
    assert (caught.value.code, caught.value.retryable) == ("unavailable", retryable)
    assert caught.value.details == {"path": "/a/memory.db"}


@pytest.mark.parametrize("error", [apsw.SQLError, apsw.ConstraintError, apsw.MisuseError])
def test_mistake_of_ours_stays_what_it_is(error: type[apsw.Error]):
    assert translate(error("wrong"), Path("m.db")) is None
    with pytest.raises(error), Translated(Path("m.db")):
        raise error("wrong")


def test_damaged_full_text_index_is_told_from_a_damaged_file(tmp_path: Path):
    db = apsw.Connection(str(tmp_path / "m.db"))
    db.execute("CREATE VIRTUAL TABLE ft USING fts5 (x)").fetchall()
    db.execute("INSERT INTO ft VALUES ('hello')").fetchall()
    db.execute("DELETE FROM ft_data WHERE id > 10").fetchall()
    with pytest.raises(errors.Unusable, match="memrpc reindex"), Translated(tmp_path / "m.db"):
        db.execute("SELECT * FROM ft WHERE ft MATCH 'hello'").fetchall()
    db.close()


def test_every_kind_has_its_code():
    kinds = {kind.code: kind.retryable for kind in errors.DomainError.__subclasses__()}
    assert kinds == {
        "invalid_arguments": False,
        "not_found": False,
        "conflict": False,
        "invalid_state": False,
        "limit_exceeded": False,
        "forbidden": False,
        "unavailable": True,
        "not_supported": False,
    }
