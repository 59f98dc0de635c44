"""The transcripts of the workspace's tools and of its news, in both eras."""

from __future__ import annotations

import json
import sys

import pytest
from jsonschema import Draft202012Validator

from conformance.peers import SpawnedPeer
from conformance.replay import replay
from conformance.transcripts import Send, load_all
from memrpc.server import schema_files
from memrpc.server.contracts import _inline
from tests.conformance.test_transcripts import JudgingObserver
from tests.workspace.conftest import modes_of
from tests.workspace.record import FOLDER, server

ALL = {str(transcript): transcript for transcript in load_all(FOLDER)}
TOOLS = sorted(name for name, each in ALL.items() if each.server == "memrpc")
NEWS = sorted(name for name, each in ALL.items() if each.server == "spawned")


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_answers_as_its_transcript_says(name, tmp_path):
    assert replay(ALL[name], server(tmp_path), JudgingObserver()) is None


@pytest.mark.parametrize("name", NEWS)
def test_news_of_changes_arrive_as_their_transcript_says(name, tmp_path):
    words = ("serve", "--toolset", "work", "--db", str(tmp_path / "memory.db"))
    peer = SpawnedPeer([sys.executable, "-m", "memrpc", *words])
    assert replay(ALL[name], peer, JudgingObserver(), timeout_s=20) is None


class ModeObserver(JudgingObserver):
    """Collects the modes whose strict schema an answer satisfies."""

    def __init__(self, tool: str) -> None:
        super().__init__()
        self.tool = tool
        self.calls: dict[int, str] = {}
        self.modes: set[str] = set()

    def sent(self, data: bytes) -> None:
        super().sent(data)
        for message in map(json.loads, data.splitlines()):
            if message.get("method") == "tools/call":
                self.calls[message["id"]] = message["params"]["name"]

    def received(self, line: bytes) -> None:
        super().received(line)
        message = json.loads(line)
        structured = message.get("result", {}).get("structuredContent")
        if structured is not None and self.calls.get(message["id"]) == self.tool:
            self.modes |= {
                name
                for name, schema in modes_of(self.tool).items()
                if Draft202012Validator(_inline(schema)).is_valid(structured)
            }


def asked(name: str) -> list[dict]:
    """The tool calls of a transcript, without what only one era has."""
    sends = [step.message for step in ALL[name].steps if isinstance(step, Send)]
    calls = [each["params"] for each in sends if each.get("method") == "tools/call"]
    return [{key: value for key, value in each.items() if key != "_meta"} for each in calls]


@pytest.mark.parametrize("tool", schema_files.names("tools", "workspace"))
def test_each_mode_of_a_tool_is_in_its_transcripts(tool, tmp_path):
    observer = ModeObserver(tool)
    assert replay(ALL[f"2026-07-28/{tool}"], server(tmp_path), observer) is None
    assert observer.modes == set(modes_of(tool))
    assert asked(f"2025-03-26/{tool}") == asked(f"2026-07-28/{tool}")


def test_each_tool_has_a_transcript_in_both_eras():
    tools = schema_files.names("tools", "workspace")
    wanted = {f"{era}/{tool}" for era in ("2025-03-26", "2026-07-28") for tool in tools}
    assert wanted == set(TOOLS)
    assert {name.split("/")[0] for name in NEWS} == {"2025-03-26", "2026-07-28"}
