from __future__ import annotations

import apsw
import pytest

from memrpc.recall import frequencies
from memrpc.recall.lexical import Collection
from memrpc.recall.query import Term

from .shelves import fill

PREFIX = "e1z"


def counted(db: apsw.Connection, word: str, units: int, **rest: bool) -> int:
    term = Term(((word,),), **rest)
    (count,) = frequencies.of_term(db, term, Collection("event", PREFIX, units, 10 * units))
    return count


@pytest.fixture
def few_are_common(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frequencies, "COMMON_UNITS", 3)


def test_a_rare_word_is_counted_each_time(db: apsw.Connection) -> None:
    fill(db, ["red car", "red house"])
    assert counted(db, "red", 1_000) == 2
    fill(db, ["red", "red", "red"])
    assert counted(db, "red", 1_000) == 3


@pytest.mark.usefixtures("few_are_common")
def test_a_common_word_is_remembered_while_its_collection_hardly_changes(
    db: apsw.Connection,
) -> None:
    fill(db, ["red"] * 5)
    assert counted(db, "red", 1_000) == 5
    fill(db, ["red"] * 9)
    assert counted(db, "red", 1_010) == 5
    assert counted(db, "red", 1_011) == 9


@pytest.mark.usefixtures("few_are_common")
def test_a_word_and_its_beginning_are_remembered_apart(db: apsw.Connection) -> None:
    fill(db, ["red", "red", "red", "redder"])
    assert counted(db, "red", 1_000) == 3
    assert counted(db, "red", 1_000, is_prefix=True) == 4
    assert counted(db, "red", 1_000) == 3


@pytest.mark.usefixtures("few_are_common")
def test_what_is_remembered_is_bounded(
    db: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frequencies, "MAX_KEPT", 2)
    fill(db, ["red blue green"] * 3)
    words = ("red", "blue", "green")
    assert [counted(db, word, 1_000) for word in words * 2] == [3] * 6


@pytest.mark.usefixtures("few_are_common")
def test_each_database_has_its_own_counts(db: apsw.Connection) -> None:
    from memrpc.store.migrate import migrate

    fill(db, ["red"] * 4)
    other = apsw.Connection(":memory:")
    migrate(other)
    fill(other, ["red"] * 3)
    assert [counted(each, "red", 1_000) for each in (db, other, db)] == [4, 3, 4]
