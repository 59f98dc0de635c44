"""Prompts, as a host gets them, and whether a model that follows one to the letter gets on."""

from __future__ import annotations

import re

import pytest

from memrpc.surface.prompts import workspace_texts
from tests.peer import Peer
from tests.surface.conftest import command

TEXTS = {name: text for name, text in vars(workspace_texts).items() if name.isupper()}
READS = re.compile(r"\bmemory[-_]read\b")


@pytest.mark.parametrize("toolset", ["core", "all"])
def test_start_session_and_descriptions_name_the_read_that_the_toolset_lists(database, toolset):
    with Peer(command(database, "--toolset", toolset)) as peer:
        peer.handshake()
        tools = {tool["name"]: tool for tool in peer.ask("tools/list")["result"]["tools"]}
        messages = peer.ask("prompts/get", {"name": "start_session"})["result"]["messages"]
    said = [messages[0]["content"]["text"], tools["memory_recall"]["description"]]
    assert all({*READS.findall(text)} & tools.keys() for text in said)
    assert all({*READS.findall(text)} <= tools.keys() for text in said)


@pytest.mark.parametrize("name", [n for n, text in TEXTS.items() if "remaining_work" in text])
def test_a_prompt_that_has_work_handed_over_names_all_that_a_handoff_needs(name):
    assert {"from_agent", "task_code", "summary"} <= {*re.findall(r"\w+", TEXTS[name])}


@pytest.mark.parametrize(
    "name", [n for n, t in TEXTS.items() if "{tech_stack}" in t and "standard-read" in t]
)
def test_a_prompt_that_looks_for_a_stacks_standards_tells_languages_from_frameworks(name):
    """Only a standard that has all of the tool's ``stack`` is found, and no language is in it."""
    said = " ".join(TEXTS[name].split())
    assert "standard-read for each language (language) and framework (stack)" in said


def test_the_users_own_prompt_is_what_its_file_says_now(database):
    folder = database.parent / "prompts"
    folder.mkdir()
    file = folder / "greet.md"
    with Peer(command(database)) as peer:
        peer.handshake()
        for said in ("Say hello.", "Say goodbye to {guest}."):
            file.write_text(said)
            params = {"name": "greet", "arguments": {"guest": "Ann"}}
            (message,) = peer.ask("prompts/get", params)["result"]["messages"]
            assert message["content"]["text"] == said.format(guest="Ann")
        file.unlink()
        assert peer.ask("prompts/get", {"name": "greet"})["error"]["code"] == -32602
