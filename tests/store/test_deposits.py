"""Deposits: found until they expire, and replaced by one of those who race."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memrpc.store import deposits
from memrpc.store.deposits import Deposit

if TYPE_CHECKING:
    from memrpc.store.database import Database

FIRST = Deposit("name", 1, "first", 100)
SECOND = Deposit("name", 2, "second", 200)


@pytest.fixture
def kept(database: Database) -> Database:
    database.write_blocking(lambda db: deposits.leave(db, FIRST, now=50))
    return database


def found(database: Database, name: str, now: int) -> str | None:
    return database.read_blocking(lambda db: deposits.find(db, name, now=now))


def replaced(database: Database, deposit: Deposit) -> bool:
    return database.write_blocking(lambda db: deposits.replace(db, deposit))


def test_deposit_is_found_until_it_expires(kept: Database):
    assert [found(kept, "name", now) for now in (0, 99, 100)] == ["first", "first", None]
    assert found(kept, "nam", 0) is None


def test_deposit_is_replaced_by_its_next_version_only(kept: Database):
    assert not replaced(kept, FIRST)
    assert replaced(kept, SECOND)
    assert not replaced(kept, SECOND)
    assert found(kept, "name", 150) == "second"


def test_nothing_is_replaced_where_nothing_is(database: Database):
    assert not replaced(database, SECOND)
    assert found(database, "name", 0) is None


def test_what_has_expired_is_thrown_away_by_the_next_that_is_left(kept: Database):
    other = Deposit("other", 1, "other", 300)
    kept.write_blocking(lambda db: deposits.leave(db, other, now=99))
    assert found(kept, "name", 0) == "first"
    third = Deposit("third", 1, "third", 300)
    kept.write_blocking(lambda db: deposits.leave(db, third, now=100))
    assert found(kept, "name", 0) is None
    assert found(kept, "other", 0) == "other"
