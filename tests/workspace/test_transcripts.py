"""The transcripts of the workspace's tools and of its news, in both eras."""

from __future__ import annotations

import sys

import pytest

from conformance.peers import SpawnedPeer
from conformance.replay import replay
from conformance.transcripts import load_all
from memrpc.server import schema_files
from tests.conformance.test_transcripts import JudgingObserver
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


def test_each_tool_has_a_transcript_in_both_eras():
    tools = schema_files.names("tools", "workspace")
    wanted = {f"{era}/{tool}" for era in ("2025-03-26", "2026-07-28") for tool in tools}
    assert wanted == set(TOOLS)
    assert {name.split("/")[0] for name in NEWS} == {"2025-03-26", "2026-07-28"}
