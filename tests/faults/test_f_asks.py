"""Section F of the catalogue of stdio failures: what the server asks its client."""

from __future__ import annotations

import pytest

from tests import official
from tests.peer import Peer, call, cancel

ANSWERS = {
    "form": {"action": "accept", "content": {"name": "Ann"}},
    "sample": {"role": "assistant", "content": {"type": "text", "text": "4"}, "model": "m"},
    "roots": {"roots": [{"uri": "file:///tmp"}]},
}
ABLE = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}


def next_request(peer: Peer) -> dict:
    while True:
        for message in peer.receive():
            if "method" in message and "id" in message:
                return message
            peer.notices.append(message)


@pytest.mark.parametrize("version", official.HANDSHAKE)
@pytest.mark.parametrize("what", ANSWERS)
def test_f64_an_ask_is_a_request_where_the_revision_and_the_client_have_it(peer, version, what):
    peer.handshake(version, {"elicitation": {}, "sampling": {}, "roots": {}})
    peer.send(call(1, "ask", {"what": [what]}))
    if what == "form" and version < "2025-06-18":
        assert "not_supported" in peer.answer(1)["result"]["content"][0]["text"]
        return
    asked = next_request(peer)
    peer.send({"jsonrpc": "2.0", "id": asked["id"], "result": ANSWERS[what]})
    text = peer.answer(1)["result"]["content"][0]["text"]
    assert '"answers"' in text


@pytest.mark.parametrize("what", ["form", "url", "sample", "roots"])
def test_f64_what_the_client_did_not_declare_is_not_asked(peer: Peer, what: str):
    peer.handshake("2025-11-25", {})
    assert peer.ask("tools/call", {"name": "ask", "arguments": {"what": [what]}})["result"][
        "isError"
    ]
    found = peer.ask_modern("tools/call", {"name": "ask", "arguments": {"what": [what]}})
    assert found["error"]["code"] == -32021
    needed = found["error"]["data"]["requiredCapabilities"]
    assert needed.keys() <= {"elicitation", "sampling", "roots"}


def test_f64_an_ask_that_is_not_answered_times_out_and_is_cancelled(peer: Peer):
    peer.handshake("2025-11-25", ABLE)
    peer.send(call(1, "ask", {"what": ["roots"], "timeout_s": 0.2}))
    asked = next_request(peer)
    assert peer.ask("ping")["result"] == {}
    assert peer.answer(1)["result"]["isError"]
    cancels = [m for m in peer.notices if m.get("method") == "notifications/cancelled"]
    assert [m["params"]["requestId"] for m in cancels] == [asked["id"]]
    peer.send({"jsonrpc": "2.0", "id": asked["id"], "result": ANSWERS["roots"]})  # Too late.
    peer.prove_alive()


@pytest.mark.parametrize(
    "body",
    [
        {"error": {"code": -1, "message": "User rejected"}},
        {"error": {"code": -32601, "message": "no roots"}},
        {"error": "x"},
        {"result": {"action": "decline"}},
        {"result": {"action": "cancel"}},
        {"result": {}},
        {"result": []},
        {"result": None},
    ],
    ids=str,
)
def test_f64_a_refusal_or_a_malformed_answer_ends_the_tool_with_an_error(peer: Peer, body: dict):
    peer.handshake("2025-11-25", ABLE)
    peer.send(call(1, "ask_twice"))
    peer.send({"jsonrpc": "2.0", "id": next_request(peer)["id"], **body})
    assert peer.answer(1)["result"]["isError"]
    peer.prove_alive()


def test_f64_cancelling_the_call_cancels_its_ask(peer: Peer):
    peer.handshake("2025-11-25", ABLE)
    peer.send(call(1, "ask", {"what": ["form"]}))
    asked = next_request(peer)
    peer.send(cancel(1))
    assert peer.receive()[0]["params"]["requestId"] == asked["id"]
    peer.prove_alive()


def test_f65_an_answer_behind_a_large_request_arrives(peer: Peer):
    peer.handshake("2025-11-25", ABLE)
    peer.send(call(1, "ask", {"what": ["sample"]}))
    asked = next_request(peer)
    answer = {"jsonrpc": "2.0", "id": asked["id"], "result": ANSWERS["sample"]}
    peer.send(call(2, "echo", {"text": "x" * 1_000_000}), answer)
    assert peer.answer(1)["result"]["isError"] is False
    assert peer.answer(2)["result"]["isError"] is False
