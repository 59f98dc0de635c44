"""Every transcript, against the fixture in this process, under the eyes of the official schemas."""

from __future__ import annotations

import contextlib
import json
import sys

import pytest

from conformance.fixture.service import make_connection
from conformance.mutate import survivors
from conformance.patterns import MismatchError
from conformance.peers import InProcessPeer, SpawnedPeer
from conformance.replay import replay
from conformance.run import FIXTURE
from conformance.transcripts import Transcript, load_all
from tests.oracle import Oracle, Violation, parse

ALL = load_all()
BY_NAME = {str(transcript): transcript for transcript in ALL}


class JudgingObserver:
    """Holds each line of the server to the official schema of its revision.

    The oracle knows which requests are open only from whole and readable messages, so what is
    broken on purpose, and the error that answers it, pass it by.
    """

    def __init__(self) -> None:
        self.oracle = Oracle()
        self.rest = b""

    def sent(self, data: bytes) -> None:
        *lines, self.rest = (self.rest + data).split(b"\n")
        for line in lines:
            with contextlib.suppress(ValueError):
                self.oracle.sent(json.loads(line))

    def received(self, line: bytes) -> None:
        message = parse(line)
        code = message.get("error", {}).get("code") if isinstance(message, dict) else None
        if code in {-32700, -32600}:
            return
        try:
            self.oracle.judge(line)
        except Violation as violation:
            raise MismatchError(str(violation)) from violation


def replay_in_process(transcript: Transcript) -> str | None:
    return replay(transcript, InProcessPeer(make_connection), JudgingObserver())


@pytest.mark.parametrize("name", BY_NAME)
def test_transcript_holds_in_this_process(name):
    assert replay_in_process(BY_NAME[name]) is None


SPAWNED = ("2026-07-28/both-eras", "2026-07-28/listen-end", "2025-03-26/batch-notifications")
SPAWNED += ("2025-11-25/end-of-input", "2024-11-05/stray-output")


@pytest.mark.parametrize("name", SPAWNED)
def test_transcript_holds_against_a_spawned_server(name):
    assert replay(BY_NAME[name], SpawnedPeer(FIXTURE)) is None


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_every_transcript_holds_against_a_spawned_server():
    assert [f for t in ALL if (f := replay(t, SpawnedPeer(FIXTURE)))] == []


def memrpc_in(folder):
    return SpawnedPeer((sys.executable, "-m", "memrpc", "serve", "--db", str(folder / "m.db")))


GENERAL = [t for t in ALL if t.server == "any"]
SERVED = ("2026-07-28/discover", "2024-11-05/initialize", "2025-11-25/invalid-requests")


@pytest.mark.parametrize("name", SERVED)
def test_transcript_holds_against_memrpc_itself(name, tmp_path):
    assert replay(BY_NAME[name], memrpc_in(tmp_path)) is None


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_every_general_transcript_holds_against_memrpc_itself(tmp_path):
    assert len(GENERAL) > 70
    assert [f for t in GENERAL if (f := replay(t, memrpc_in(tmp_path)))] == []


MUTATED = ("2026-07-28/input-partial", "2025-03-26/batch-initialize", "2025-11-25/logging-invalid")


@pytest.mark.parametrize("name", MUTATED)
def test_no_line_of_a_transcript_can_change_unnoticed(name):
    tried, unnoticed = survivors(BY_NAME[name], lambda: InProcessPeer(make_connection))
    assert tried > 10
    assert unnoticed == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_no_line_of_any_transcript_can_change_unnoticed():
    found = [survivors(t, lambda: InProcessPeer(make_connection))[1] for t in ALL]
    assert [line for lines in found for line in lines] == []
