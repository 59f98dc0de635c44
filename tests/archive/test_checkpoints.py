from __future__ import annotations

import pytest

from memrpc.archive import checkpoints, scopes
from memrpc.archive.answers import CheckpointReceipt, CheckpointState
from memrpc.archive.checkpoints import Checkpoint, CheckpointInput
from memrpc.archive.model import Scope
from memrpc.store.errors import DomainError, InvalidArguments, LimitExceeded, NotFound
from tests.archive.scenes import NOW, Archive

STATE = CheckpointState("Ship it", ("a", "b"), ("c",), ("no downtime",), "Do c")


def save(archive: Archive, event_id: str = "e", **fields) -> CheckpointReceipt:
    request = CheckpointInput(fields.pop("state", STATE), event_id, **fields)
    with archive.db:
        return checkpoints.save(archive.db, request, now=archive.now, new_id=archive.new_id)


def latest(archive: Archive, session_id: str | None = None) -> Checkpoint | None:
    key = scopes.find(archive.db, Scope())
    assert key is not None
    return checkpoints.latest(archive.db, key, session_id)


def test_a_snapshot_is_kept_with_its_coverage(archive: Archive) -> None:
    archive.commit("e", "I like tea.", session_id="s")
    receipt = save(archive, session_id="s")
    assert receipt == CheckpointReceipt("id-1", STATE, "s", "e", 1, "2026-06-01T12:00:00Z", Scope())
    assert latest(archive) == Checkpoint("id-1", "s", STATE, 1, NOW)


def test_a_repeated_snapshot_is_a_new_one(archive: Archive) -> None:
    archive.commit("e", "I like tea.")
    assert save(archive).checkpoint_id != save(archive).checkpoint_id
    assert len(archive.dump()["checkpoints"]) == 2


def test_a_snapshot_may_be_as_long_as_is_said(archive: Archive) -> None:
    archive.commit("e", "I like tea.")
    save(archive, state=CheckpointState("x", ("y" * 19_999,)))
    save(archive, state=CheckpointState("x", ("",) * 19_999))


def test_a_memory_covers_nothing_and_its_event_is_named(archive: Archive) -> None:
    memory_id = archive.record("e", "I like tea.").memory_ids[0]
    with pytest.raises(InvalidArguments, match="send that of its event, e"):
        save(archive, memory_id)


def test_the_latest_is_that_of_the_session_or_of_the_project(archive: Archive) -> None:
    archive.commit("e1", "I like tea.", session_id="s1")
    archive.commit("e2", "I like tea.", session_id="s2")
    ids = [save(archive, name).checkpoint_id for name in ("e1", "e2")]
    found = [latest(archive, session) for session in ("s1", "s2", None, "s3")]
    assert [c.checkpoint_id if c else None for c in found] == [ids[0], ids[1], ids[1], None]


@pytest.mark.parametrize(
    ("event_id", "fields", "error", "message"),
    [
        ("unknown", {}, NotFound, "covered_event_id"),
        ("other", {}, NotFound, "covered_event_id"),
        ("e", {"session_id": "t"}, InvalidArguments, "session_id is not the session"),
        ("e", {"state": CheckpointState(" ")}, InvalidArguments, "state.goal is blank"),
        ("e", {"state": CheckpointState("x" * 4_001)}, LimitExceeded, "state.goal has"),
        ("e", {"state": CheckpointState("x", ("y" * 20_000,))}, LimitExceeded, "state holds"),
        ("e", {"state": CheckpointState("x", ("",) * 20_000)}, LimitExceeded, "state holds"),
    ],
)
def test_a_bad_snapshot_is_refused_and_nothing_is_kept(
    archive: Archive, event_id: str, fields: dict, error: type[DomainError], message: str
) -> None:
    archive.commit("e", "I like tea.", session_id="s")
    archive.commit("other", "I like tea.", scope=Scope("default", "other"))
    with pytest.raises(error, match=message):
        save(archive, event_id, **fields)
    assert archive.dump()["checkpoints"] == []
