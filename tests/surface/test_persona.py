"""The persona resource, its completion and the prompt that starts a session."""

from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.fixture
def edited(database):
    command = [sys.executable, "-m", "memrpc", "persona", "import", "-", "--db", str(database)]
    subprocess.run([*command, "--persona", "Ada B"], input=b"I am curious.\n", check=True)


def test_the_persona_is_a_resource_that_lists_reads_and_completes(edited, served):
    ask = served.peer.ask
    uri = "persona://Ada%20B/current"
    listed = [r["uri"] for r in ask("resources/list")["result"]["resources"]]
    assert [each for each in listed if each.startswith("persona://")] == [uri]
    contents = ask("resources/read", {"uri": uri})["result"]["contents"]
    assert contents == [
        {"uri": uri, "mimeType": "text/plain", "text": "persona Ada B, version 1\nI am curious."}
    ]
    completion = ask(
        "completion/complete",
        {
            "ref": {"type": "ref/resource", "uri": "persona://{persona_id}/current"},
            "argument": {"name": "persona_id", "value": "ada"},
        },
    )["result"]["completion"]
    assert completion == {"values": ["Ada B"], "total": 1, "hasMore": False}


def test_start_session_tells_the_persona_and_what_is_remembered(edited, served):
    served.record("The cat is called Miez.", persona_id="Ada B", project_id="home")
    params = {"name": "start_session", "arguments": {"persona_id": "Ada B", "project_id": "home"}}
    (message,) = served.peer.ask("prompts/get", params)["result"]["messages"]
    for part in ("session_resume", "I am curious.", "The cat is called Miez.", "project_id home"):
        assert part in message["content"]["text"]


@pytest.mark.parametrize("uri", ["persona://x/other", "nothing://x", "persona://"])
def test_a_uri_that_names_nothing_has_the_code_of_its_revision(served, uri):
    assert served.peer.ask("resources/read", {"uri": uri})["error"]["code"] == -32002
    assert served.peer.ask_modern("resources/read", {"uri": uri})["error"]["code"] == -32602
