"""The transcripts of the code index's tools: each mode, in the oldest named era and the newest."""

from __future__ import annotations

import json

import pytest

from conformance.replay import replay
from conformance.transcripts import load_all
from memrpc.server import schema_files
from tests.codebase.record import FOLDER
from tests.conformance.test_transcripts import JudgingObserver
from tests.workspace.record import server

ALL = {str(transcript): transcript for transcript in load_all(FOLDER)}


@pytest.mark.parametrize("name", ALL)
def test_a_tool_answers_as_its_transcript_says(name, tmp_path):
    assert replay(ALL[name], server(tmp_path), JudgingObserver(), timeout_s=60) is None


def test_each_tool_has_a_transcript_in_both_eras_and_the_newest_shows_each_mode():
    tools = schema_files.names("tools", "codebase")
    eras = ("2025-03-26", "2026-07-28")
    assert set(ALL) == {f"{era}/{tool}" for era in eras for tool in tools}
    for tool in tools:
        lines = (FOLDER / "2026-07-28" / f"{tool}.jsonl").read_text().splitlines()
        results = [json.loads(line).get("message", {}).get("result", {}) for line in lines]
        answers = [each["structuredContent"] for each in results if "structuredContent" in each]
        modes = schema_files.read("tools", "codebase", f"{tool}.json")["x-memrpc"]["modes"]
        shown = {"ambiguous" if "ambiguous" in each else each["mode"] for each in answers}
        assert shown >= set(modes)
