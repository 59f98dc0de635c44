"""The form by which a user describes a task, as clients of every kind send it back."""

from __future__ import annotations

import pytest

from tests.peer import Peer, envelope, request
from tests.surface.conftest import command

PROPERTIES = ["repo", "phase", "title", "description", "status", "priority"]
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


def started(
    peer: Peer, arguments: dict, roots: list | None = None, tool: str = "task-write"
) -> dict:
    """The form that a call asks the user to fill in."""
    wanted = {"interactive": True} if tool == "task-write" else {}
    params = {"name": tool, "arguments": {**wanted, **arguments}}
    peer.send(request("write", "tools/call", params))
    (question,) = peer.receive()
    while question["method"] == "roots/list":
        found = [{"uri": root.as_uri()} for root in roots]
        peer.send({"jsonrpc": "2.0", "id": question["id"], "result": {"roots": found}})
        (question,) = peer.receive()
    return question


def test_the_form_asks_for_the_repository_where_nothing_names_one(database, tmp_path):
    home = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    with Peer(command(database), cwd=tmp_path, env=home) as peer:
        peer.handshake(capabilities={"elicitation": {}})
        question = started(peer, {})
        asked = question["params"]["requestedSchema"]
        assert (list(asked["properties"]), asked["required"][0]) == (PROPERTIES, "repo")
        accepted = {"action": "accept", "content": {**FORM, "repo": "acme/harbor"}}
        peer.send({"jsonrpc": "2.0", "id": question["id"], "result": accepted})
        answer = peer.answer("write")["result"]
    assert answer["structuredContent"]["scope"]["owner"] == "acme"


def test_the_form_lets_the_user_choose_among_the_projects_of_the_client(database, tmp_path):
    roots = [tmp_path / name for name in ("harbor", "zoo")]
    for root in roots:
        root.mkdir()
    with Peer(command(database)) as peer:
        peer.handshake(capabilities={"elicitation": {}, "roots": {}})
        question = started(peer, FORM, roots)
        asked = question["params"]["requestedSchema"]["properties"]
        assert list(asked) == ["repo", "status", "priority"]
        accepted = {"action": "accept", "content": {"repo": asked["repo"]["enum"][1]}}
        peer.send({"jsonrpc": "2.0", "id": question["id"], "result": accepted})
        answer = peer.answer("write")["result"]
    assert answer["structuredContent"]["scope"]["repo"] == "zoo"


def test_a_synthesis_asks_for_the_repository_where_nothing_names_one(database, tmp_path):
    home = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    with Peer(command(database), cwd=tmp_path, env=home) as peer:
        peer.handshake(capabilities={"elicitation": {}})
        question = started(peer, {"objective": "What do we know?"}, tool="synthesize")
        assert list(question["params"]["requestedSchema"]["properties"]) == ["repo"]
        accepted = {"action": "accept", "content": {"repo": "acme/harbor"}}
        peer.send({"jsonrpc": "2.0", "id": question["id"], "result": accepted})
        answer = peer.answer("write")["result"]
    assert (answer["isError"], answer["structuredContent"]["repo"]) == (False, "harbor")


def test_a_form_for_the_repository_ends_and_begins_a_round_where_there_are_no_sessions(
    database, tmp_path
):
    home = {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    params = {"name": "task-write", "arguments": {"interactive": True, **FORM}}
    with Peer(command(database), cwd=tmp_path, env=home) as peer:
        meta = envelope({"elicitation": {}})
        first = peer.ask_modern("tools/call", params, meta)["result"]
        ((key, asked),) = first["inputRequests"].items()
        assert "repo" in asked["params"]["requestedSchema"]["required"]
        accepted = {key: {"action": "accept", "content": {"repo": "acme/harbor", "priority": 5}}}
        rest = {"inputResponses": accepted, "requestState": first["requestState"]}
        answer = peer.ask_modern("tools/call", {**params, **rest}, meta)["result"]
    assert answer["structuredContent"]["scope"]["owner"] == "acme"
