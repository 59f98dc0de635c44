"""An answer means that it is kept, whatever happens next."""

from __future__ import annotations

import contextlib
import json
import random
import threading

import pytest

from tests.memory_file import open_beside
from tests.peer import call, to_line
from tests.surface.conftest import Refused

COUNT = 50
CHECK_FULL_TEXT = "INSERT INTO unit_text (unit_text, rank) VALUES ('integrity-check', 0)"


def arguments(event_id: str, text: str) -> dict:
    return {"event_id": event_id, "text": text, "role": "user", "source": "Ann"}


def events_of(database) -> dict[str, str]:
    db = open_beside(database)
    try:
        assert db.pragma("integrity_check") == "ok"
        db.execute(
            "INSERT INTO unit_text (unit_text, rank) VALUES ('integrity-check', 0)"
        ).fetchall()
        return dict(db.execute("SELECT event_id, text FROM events").fetchall())
    finally:
        db.close()


def whole(database) -> None:
    """No event without its units, and none that owes an extraction without its job."""
    db = open_beside(database)
    try:
        bare = db.execute(
            "SELECT event_id FROM events WHERE seq NOT IN "
            "(SELECT subject FROM units WHERE kind = 'event')"
        ).fetchall()
        idle = db.execute(
            "SELECT event_id FROM events WHERE state = 'pending' AND CAST(seq AS TEXT) NOT IN "
            "(SELECT subject FROM jobs WHERE kind = 'extract')"
        ).fetchall()
    finally:
        db.close()
    assert (bare, idle) == ([], [])


def test_b40_fifty_calls_in_one_burst_are_all_there(served, database):
    calls = [call(f"r{n}", "memory_record", arguments(f"e{n}", f"Fact {n}.")) for n in range(COUNT)]
    served.peer.send(*calls)
    for number in range(COUNT):
        result = served.peer.answer(f"r{number}", 30)["result"]
        assert result["structuredContent"]["event_id"] == f"e{number}"
    assert len(events_of(database)) == COUNT


def test_b45_a_retry_gives_the_same_receipt_and_another_payload_is_a_conflict(served):
    first = served.record("The door is red.", event_id="d")
    again = served.record("The door is red.", event_id="d")
    assert again == {**first, "duplicate": True}
    for other in ({"text": "The door is green."}, {"text": "The door is red.", "project_id": "p"}):
        with pytest.raises(Refused) as caught:
            served.record(event_id="d", **other)
        assert caught.value.code == "conflict"


def kill_at_a_random_moment(serve, database, seed: int) -> None:
    """Write without pause, die in the middle; every answer that came must still be true."""
    chance = random.Random(seed)
    served = serve(path=database)
    acknowledged: list[str] = []
    enough = chance.randrange(1, 60)
    reached = threading.Event()

    def write() -> None:
        for number in range(400):
            message = call(
                number, "memory_record", arguments(f"{seed}-{number}", f"Fact {number}.")
            )
            served.peer.process.stdin.write(to_line(message))

    writer = threading.Thread(target=_until_broken(write), daemon=True)
    served.peer.judges = False
    writer.start()
    while not reached.is_set():
        acknowledged += [f"{seed}-{m['id']}" for m in served.peer.receive() if "result" in m]
        if len(acknowledged) >= enough:
            reached.set()
    served.peer.kill()
    writer.join(5)
    with contextlib.suppress(json.JSONDecodeError):  # The last line may have been cut by the kill.
        while messages := served.peer.receive():
            acknowledged += [f"{seed}-{m['id']}" for m in messages if "result" in m]
    kept = events_of(database)
    assert set(acknowledged) <= kept.keys()
    whole(database)


def _until_broken(write):
    def run() -> None:
        try:
            write()
        except (OSError, ValueError):
            return

    return run


@pytest.mark.parametrize("seed", range(5))
def test_b44_acknowledged_events_survive_a_kill(serve, database, seed):
    kill_at_a_random_moment(serve, database, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5, 55))
def test_b44_acknowledged_events_survive_fifty_kills(serve, database, seed):
    kill_at_a_random_moment(serve, database, seed)


def test_b41_several_servers_write_to_one_file(serve, database):
    servers = [serve() for _ in range(4)]
    for number in range(COUNT):
        for index, served in enumerate(servers):
            message = call(
                f"{number}", "memory_record", arguments(f"{index}-{number}", "One fact.")
            )
            served.peer.send(message)
    for served in servers:
        for number in range(COUNT):
            assert served.peer.answer(str(number), 60)["result"]["isError"] is False
    assert len(events_of(database)) == 4 * COUNT


def test_b42_a_lock_held_elsewhere_delays_no_read_and_no_start(serve, database):
    first = serve()
    first.record("The gate is locked at nine.")
    holder = open_beside(database)
    holder.execute("BEGIN IMMEDIATE").fetchall()
    try:
        assert "nine" in first.recalled("gate locked")
        second = serve()
        assert "nine" in second.recalled("gate locked")
    finally:
        holder.execute("ROLLBACK").fetchall()
        holder.close()


def test_a_write_that_cannot_have_the_lock_is_refused_and_can_be_retried(serve, database):
    served = serve()
    served.record("warm")
    holder = open_beside(database)
    holder.execute("BEGIN IMMEDIATE").fetchall()
    try:
        result = served.result("memory_record", **arguments("late", "A late fact."))
    finally:
        holder.execute("ROLLBACK").fetchall()
        holder.close()
    error = json.loads(result["content"][0]["text"])["error"]
    assert (error["code"], error["retryable"]) == ("unavailable", True)
    assert served.call("memory_record", **arguments("late", "A late fact."))["duplicate"] is False
