"""The log of changes: committed topics only, in order, each once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest

from memrpc.store import changes
from memrpc.store.changes import Change

if TYPE_CHECKING:
    from memrpc.store.database import Database


def test_topics_come_in_the_order_of_their_latest_changes(database: Database):
    def note(db: apsw.Connection) -> None:
        for now, topic in enumerate(["a", "b", "a"]):
            changes.note(db, topic, now=now)

    assert database.read_blocking(changes.last) == 0
    database.write_blocking(note)
    seen = database.read_blocking(lambda db: changes.since(db, 0))
    assert seen == [Change(2, "b", 1), Change(3, "a", 2)]
    assert database.read_blocking(lambda db: changes.since(db, 2)) == [Change(3, "a", 2)]
    assert database.read_blocking(lambda db: changes.since(db, 3)) == []
    assert database.read_blocking(changes.last) == 3


def test_change_that_was_rolled_back_was_none(database: Database):
    def note_and_fail(db: apsw.Connection) -> None:
        changes.note(db, "a", now=1)
        raise LookupError

    with pytest.raises(LookupError):
        database.write_blocking(note_and_fail)
    assert database.read_blocking(changes.last) == 0
