"""The form by which a user describes a task, as clients of every kind send it back."""

from __future__ import annotations

import pytest

from tests.peer import Peer, request
from tests.surface.conftest import command

FORM = {"phase": "research", "title": "Sound the harbor", "description": "x"}


@pytest.mark.parametrize(
    ("sent", "priority"),
    [
        ({"status": None, "priority": None}, 3),
        ({"priority": 4.0}, 4),
        ({"priority": "4"}, 4),
        ({"code": "OTHER-1", "force": True}, 3),
    ],
)
def test_a_form_is_read_as_arguments_are(database, sent, priority):
    """Null is a field that was left alone, a number is one however it is written."""
    place = {"repo": "acme/harbor", "interactive": True}
    with Peer(command(database)) as peer:
        peer.handshake(capabilities={"elicitation": {}})
        peer.send(request("write", "tools/call", {"name": "task-write", "arguments": place}))
        (question,) = peer.receive()
        accepted = {"action": "accept", "content": {**FORM, **sent}}
        peer.send({"jsonrpc": "2.0", "id": question["id"], "result": accepted})
        answer = peer.answer("write")["result"]
    assert not answer["isError"], answer
    assert (
        f"(phase: research, priority: {priority}, status: backlog)" in answer["content"][0]["text"]
    )
    assert answer["structuredContent"]["task_code"] == "TASK-001"
