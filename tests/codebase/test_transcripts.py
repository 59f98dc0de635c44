"""The transcripts of the code index's tools: each mode, in the oldest named era and the newest."""

from __future__ import annotations

import json

import pytest

from conformance.replay import replay
from conformance.transcripts import load_all
from memrpc.server import schema_files
from tests.codebase.conftest import check_mode, modes_of
from tests.codebase.record import FOLDER
from tests.conformance.test_transcripts import JudgingObserver
from tests.workspace.record import server

ALL = {str(transcript): transcript for transcript in load_all(FOLDER)}
ERAS = ("2025-03-26", "2026-07-28")
TOOLS = schema_files.names("tools", "codebase")


class ModeObserver(JudgingObserver):
    """Holds each answer in JSON to the strict schema of a mode of the tool that was called."""

    def __init__(self) -> None:
        super().__init__()
        self.called = ""
        self.shown: set[tuple[str, str]] = set()

    def sent(self, data: bytes) -> None:
        super().sent(data)
        self.called = json.loads(data.splitlines()[-1]).get("params", {}).get("name", "")

    def received(self, line: bytes) -> None:
        super().received(line)
        result = json.loads(line)["result"]
        if "content" not in result or result["isError"]:
            return
        text = result["content"][0]["text"]
        said = json.loads(text) if text.startswith('{"mode"') else None
        structured = result.get("structuredContent", said)
        if said is not None:
            assert said == structured
            self.shown.add((self.called, check_mode(self.called, said)))
        elif structured is not None:
            check_mode(self.called, structured)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("era", ERAS)
def test_a_tool_answers_in_each_mode_as_its_transcript_says(era, tool, tmp_path):
    observer = ModeObserver()
    assert replay(ALL[f"{era}/{tool}"], server(tmp_path), observer, timeout_s=60) is None
    assert {mode for called, mode in observer.shown if called == tool} == set(modes_of(tool))


def test_no_other_transcript_is_there():
    assert set(ALL) == {f"{era}/{tool}" for era in ERAS for tool in TOOLS}
