"""Hearing of changes: at once while there are some, more calmly while there are none."""

from __future__ import annotations

import random
from contextlib import closing

import anyio
import pytest

from memrpc.store import changes
from memrpc.store.database import Database
from memrpc.workers import watching


class Enough(Exception):
    """The watch has been seen for long enough."""


@pytest.mark.anyio
async def test_a_file_in_which_nothing_happens_is_looked_at_less_often(tmp_path, monkeypatch):
    pauses: list[float] = []
    told: list[str] = []
    write_at = watching.CALM_LOOKS + 20

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == write_at:
            await database.write(lambda db: changes.note(db, "a", now=2))
        if len(pauses) == write_at + 10:
            raise Enough

    monkeypatch.setattr(anyio, "sleep", pause)
    database = Database(tmp_path / "m.db", jitter=random.random)
    with closing(database), pytest.raises(Enough):
        await watching.watch(lambda: database, lambda: 1, told.append)
    assert pauses[: watching.CALM_LOOKS] == [watching.POLL_S] * watching.CALM_LOOKS
    assert set(pauses[watching.CALM_LOOKS + 1 : write_at]) == {watching.CALM_POLL_S}
    assert set(pauses[write_at:]) == {watching.POLL_S}
    assert told == ["a"]
