"""Section F again: subscriptions of both eras, and asks that travel in results."""

from __future__ import annotations

import pytest

from tests.peer import FIXTURE, Peer, cancel, envelope, modern

KEY = "io.modelcontextprotocol/"
TAG = f"{KEY}subscriptionId"
ANSWER = {"action": "accept", "content": {"name": "Ann"}}
ABLE = envelope({"elicitation": {}, "sampling": {}, "roots": {}})


def listen(id_, **wishes) -> dict:
    return modern(id_, "subscriptions/listen", {"notifications": wishes})


def change(peer: Peer, kind: str, uri: str = "") -> None:
    arguments = {"kind": kind, "uri": uri}
    peer.ask_modern("tools/call", {"name": "change", "arguments": arguments})


def changes(peer: Peer) -> list[tuple[str, object]]:
    """Every change heard so far, as (method, tag), and forget them."""
    found = [
        (m["method"].removeprefix("notifications/"), m.get("params", {}).get("_meta", {}).get(TAG))
        for m in peer.notices
        if m.get("method", "").endswith(("list_changed", "updated"))
    ]
    peer.notices.clear()
    return found


@pytest.mark.parametrize("id_", [0, "", 7, "s", 10**29 + 7])
def test_f73_the_acknowledgement_comes_first_with_what_is_honoured(peer: Peer, id_):
    peer.send(listen(id_, toolsListChanged=True, resourceSubscriptions=["test://item/1"], x=True))
    ack = peer.receive()[0]
    assert ack["method"] == "notifications/subscriptions/acknowledged"
    assert ack["params"]["notifications"] == {
        "toolsListChanged": True,
        "resourceSubscriptions": ["test://item/1"],
    }
    assert ack["params"]["_meta"] == {TAG: id_}
    assert type(ack["params"]["_meta"][TAG]) is type(id_)


def test_f73_each_listener_gets_its_own_copy_of_what_it_asked_for(peer: Peer):
    peer.send(listen("a", toolsListChanged=True), listen("b", toolsListChanged=True))
    peer.send(listen("c", promptsListChanged=True))
    change(peer, "tools")
    assert sorted(changes(peer)) == [("tools/list_changed", "a"), ("tools/list_changed", "b")]
    peer.send(cancel("a"))
    change(peer, "tools")
    assert changes(peer) == [("tools/list_changed", "b")]
    change(peer, "resources")
    assert changes(peer) == []


def test_f73_one_resource_reaches_its_subscribers_of_both_eras(peer: Peer):
    peer.handshake()
    peer.ask("resources/subscribe", {"uri": "test://item/1"})
    peer.send(listen("a", resourceSubscriptions=["test://item/1?view=x"]))
    change(peer, "resource", "test://item/1")
    assert sorted(changes(peer), key=str) == [
        ("resources/updated", "a"),
        ("resources/updated", None),
    ]
    change(peer, "resource", "test://item/2")
    assert changes(peer) == []
    peer.ask("resources/unsubscribe", {"uri": "test://item/1"})
    peer.send(cancel("a"))
    change(peer, "resource", "test://item/1")
    assert changes(peer) == []


def test_f73_an_empty_wish_is_acknowledged_and_undeclared_kinds_are_left_out():
    with Peer((*FIXTURE, "bare")) as peer:
        peer.send(listen(1, promptsListChanged=True, resourceSubscriptions=["x://y"]), listen(2))
        assert peer.receive()[0]["params"]["notifications"] == {}
        assert peer.receive()[0]["params"]["notifications"] == {}


def test_f73_a_uri_that_nothing_serves_is_left_out(peer: Peer):
    peer.send(listen(1, resourceSubscriptions=["x://y", "test://item/1"]))
    assert peer.receive()[0]["params"]["notifications"] == {
        "resourceSubscriptions": ["test://item/1"]
    }
    peer.send(listen(2, resourceSubscriptions=["x://y"]))
    assert peer.receive()[0]["params"]["notifications"] == {}


@pytest.mark.parametrize(
    "wishes", [None, [], "x", {"toolsListChanged": 1}, {"resourceSubscriptions": [1]}]
)
def test_f73_a_malformed_wish_is_invalid(peer: Peer, wishes):
    found = peer.ask_modern("subscriptions/listen", {"notifications": wishes})
    assert found["error"]["code"] == -32602


def test_f73_at_the_end_a_stream_is_answered_and_then_cancelled(peer: Peer):
    peer.send(listen(0, toolsListChanged=True))
    peer.receive()
    code, seconds = peer.end()
    rest = peer.rest()
    assert [m.get("id", m.get("method")) for m in rest] == [0, "notifications/cancelled"]
    assert rest[0]["result"]["_meta"][TAG] == 0
    assert (code, seconds < 2) == (0, True)


def test_f73_the_id_of_an_open_stream_is_in_use(peer: Peer):
    peer.send(listen(1))
    peer.receive()
    peer.send(modern(1, "tools/list"))
    peer.oracle.open[(int, 1)].pop()
    assert peer.receive()[0]["id"] is None


def test_legacy_changes_reach_an_open_session_untagged(session: Peer):
    for kind in ("tools", "prompts", "resources"):
        change(session, kind)
        assert changes(session) == [(f"{kind}/list_changed", None)]


def test_subscribing_to_what_is_not_served_is_not_found(session: Peer):
    assert session.ask("resources/subscribe", {"uri": "x://y"})["error"]["code"] == -32002


# Multi-round trips of 2026-07-28


def first_round(peer: Peer, tool="ask_twice", arguments=None, meta=ABLE) -> dict:
    params = {"name": tool, "arguments": arguments or {}}
    found = peer.ask_modern("tools/call", params, meta)["result"]
    assert found["resultType"] == "input_required"
    return found


def again(peer: Peer, state, responses, tool="ask_twice", arguments=None, **more) -> dict:
    params = {
        "name": tool,
        "arguments": arguments or {},
        "inputResponses": responses,
        "requestState": state,
        **more,
    }
    return peer.ask_modern("tools/call", params, ABLE)


def test_asks_travel_in_the_result_and_their_answers_come_back_signed(peer: Peer):
    first = first_round(peer)
    assert list(first["inputRequests"]) == ["first"]
    second = again(peer, first["requestState"], {"first": ANSWER})["result"]
    assert list(second["inputRequests"]) == ["second"]
    assert second["requestState"] != first["requestState"]
    last = again(peer, second["requestState"], {"second": ANSWER})["result"]
    assert last["structuredContent"] == {"first": {"name": "Ann"}, "second": {"name": "Ann"}}


def test_another_process_with_the_same_key_goes_on_with_the_state(peer: Peer):
    state = first_round(peer)["requestState"]
    with Peer() as other:
        found = again(other, state, {"first": ANSWER})["result"]
        assert list(found["inputRequests"]) == ["second"]


def test_several_asks_of_a_round_stand_in_one_result(peer: Peer):
    arguments = {"what": ["form", "sample", "roots"]}
    found = first_round(peer, "ask", arguments)
    methods = {name: ask["method"] for name, ask in found["inputRequests"].items()}
    assert methods == {
        "form": "elicitation/create",
        "sample": "sampling/createMessage",
        "roots": "roots/list",
    }
    partial = again(peer, found["requestState"], {"form": ANSWER}, "ask", arguments)["result"]
    assert set(partial["inputRequests"]) == {"sample", "roots"}


@pytest.mark.parametrize("responses", [{}, {"wrong": ANSWER}, {"first": None}, {"first": 7}, None])
def test_missing_or_malformed_answers_are_asked_for_again(peer: Peer, responses):
    state = first_round(peer)["requestState"]
    found = again(peer, state, responses)["result"]
    assert list(found["inputRequests"]) == ["first"]


def test_a_null_member_counts_as_absent_in_every_round(peer: Peer):
    nulls = {"name": "ask_twice", "arguments": {}, "requestState": None, "task": None}
    first = peer.ask_modern("tools/call", nulls, ABLE)["result"]
    found = again(peer, first["requestState"], {"first": ANSWER}, task=None)["result"]
    assert list(found["inputRequests"]) == ["second"]


TAMPERED = {
    "truncated": lambda state: state[:-5],
    "longer": lambda state: state + "A",
    "flipped": lambda state: state[:20] + ("A" if state[20] != "A" else "B") + state[21:],
    "last bits": lambda state: state[:-1] + chr(ord(state[-1]) ^ 1),
    "no version": lambda state: state.partition(".")[2],
    "other version": lambda state: "v2" + state[2:],
    "signature of nothing": lambda _: "v1..",
    "empty": lambda _: "",
    "not ascii": lambda state: "v1.é." + state,
    "twice": lambda state: state + "." + state,
}


@pytest.mark.parametrize("how", TAMPERED)
def test_a_state_that_was_tampered_with_is_refused(peer: Peer, how: str):
    state = TAMPERED[how](first_round(peer)["requestState"])
    assert again(peer, state, {"first": ANSWER})["error"]["code"] == -32602


def test_a_state_replayed_on_another_call_is_refused(peer: Peer):
    state = first_round(peer, "ask", {"what": ["form"]})["requestState"]
    for tool, arguments in (
        ("ask", {"what": ["form", "roots"]}),
        ("ask", {"what": ["form"], "timeout_s": 1}),
        ("ask_twice", {}),
    ):
        found = again(peer, state, {"form": ANSWER}, tool, arguments)
        assert found["error"]["code"] == -32602
    assert again(peer, state, {"form": ANSWER}, "ask", {"what": ["form"]})["result"]


@pytest.mark.parametrize("state", [7, {}, [], True])
def test_a_state_that_is_no_text_is_invalid(peer: Peer, state):
    assert again(peer, state, {})["error"]["code"] == -32602


def test_only_declared_kinds_and_modes_are_asked(peer: Peer):
    url = {"name": "ask", "arguments": {"what": ["url"]}}
    found = peer.ask_modern("tools/call", url, envelope({"elicitation": {}}))
    assert found["error"]["data"]["requiredCapabilities"] == {"elicitation": {"url": {}}}
    able = envelope({"elicitation": {"url": {}}})
    assert first_round(peer, "ask", {"what": ["url"]}, able)["inputRequests"]["url"]
    form = {"name": "ask", "arguments": {"what": ["form"]}}
    assert peer.ask_modern("tools/call", form, able)["error"]["code"] == -32021
