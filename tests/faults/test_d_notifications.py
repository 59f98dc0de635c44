"""Section D of the catalogue of stdio failures: notifications."""

from __future__ import annotations

import pytest

from tests.peer import INITIALIZED, Peer, cancel, envelope, note, request, to_line

SHARES_A_PROCESS = True


def stays_silent(peer: Peer) -> bool:
    found = peer.ask("ping")
    return found["result"] == {} and peer.notices == []


@pytest.mark.parametrize("method", ["notifications/nope", "nope", "", "notifications/tasks"])
def test_d38_an_unknown_notification_gets_no_output(session: Peer, method: str):
    session.send(note(method), note(method, {"x": 1}))
    assert stays_silent(session)


MALFORMED = [
    note("notifications/cancelled"),
    note("notifications/cancelled", {}),
    note("notifications/cancelled", {"requestId": None}),
    note("notifications/cancelled", {"requestId": [1]}),
    note("notifications/cancelled", {"requestId": True}),
    note("notifications/cancelled", [1]),
    note("notifications/cancelled", "x"),
    note("notifications/progress", {"progressToken": {}, "progress": 1}),
    note("notifications/progress"),
    note(7),
    {"jsonrpc": "1.0", "method": "notifications/cancelled"},
    {"method": "notifications/initialized"},
]


@pytest.mark.parametrize("message", MALFORMED, ids=str)
def test_d39_a_malformed_notification_is_ignored(session: Peer, message: dict):
    session.write_unseen(to_line(message))
    assert stays_silent(session)


def test_d40_a_request_without_id_is_neither_executed_nor_answered(session: Peer):
    session.send(note("tools/call", {"name": "chatter", "arguments": {"lines": 1}}))
    session.send(note("tools/list"), note("initialize", {"protocolVersion": "2024-11-05"}))
    assert stays_silent(session)
    assert b"chatter" not in session.stderr


def test_b68_notifications_nobody_asked_for(session: Peer):
    session.send(
        note("notifications/nope"),
        note("tools/call", {"name": "chatter", "arguments": {"lines": 1}}),
        note("notifications/roots/list_changed"),
    )
    assert stays_silent(session)
    assert b"chatter" not in session.stderr


@pytest.mark.parametrize(
    "method", ["notifications/initialized", "notifications/cancelled", "notifications/progress"]
)
def test_d41_a_notification_with_an_id_is_an_unknown_method(session: Peer, method: str):
    session.send(request(5, method))
    assert session.answer(5)["error"]["code"] == -32601
    session.prove_alive()


def test_d42_initialized_at_any_time_is_ignored(peer: Peer):
    peer.send(INITIALIZED, note("notifications/initialized", {"_meta": envelope()}))
    peer.prove_alive()
    peer.handshake()
    peer.send(INITIALIZED, INITIALIZED)
    assert stays_silent(peer)


def test_d43_the_bare_name_is_ignored(session: Peer):
    session.send(note("initialized"))
    assert stays_silent(session)


def test_a_cancel_is_matched_by_type(session: Peer):
    session.send(request(1, "tools/call", {"name": "slow"}), cancel("1"))
    session.oracle.cancelled.clear()
    assert session.answer(1)["result"]["isError"] is False
