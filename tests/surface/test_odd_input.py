"""What no schema forbids and nobody means: an answer all the same, and a short one."""

from __future__ import annotations

import json
import sys

import pytest

from memrpc.store.errors import Conflict
from memrpc.surface.refusals import MAX_CHARS, MAX_ITEMS, explain
from tests.peer import Peer, call

HUGE = "x" * 300_000
ODD = (
    "\0",
    "~nobody/..",
    "日本語\u202e\u200b" * 90,
    "\\\\?\\C:",
    "file:///%00",
    "'; DROP TABLE events; --",
    HUGE,
)
LONGEST_CHARS = 12_000


@pytest.fixture(params=["core", "work", "all"])
def served(request, tmp_path):
    words = ("serve", "--toolset", request.param, "--db", str(tmp_path / "memory.db"))
    with Peer((sys.executable, "-m", "memrpc", *words), cwd=tmp_path) as peer:
        peer.handshake()
        yield peer


def test_no_text_in_any_field_is_a_defect_or_comes_back_whole(served):
    numbers = iter(range(10_000))
    for tool in served.ask("tools/list")["result"]["tools"]:
        fields = tool["inputSchema"]["properties"]
        for name in fields:
            for value in ODD:
                number = next(numbers)
                served.send(call(number, tool["name"], {name: value}))
                answer = json.dumps(served.answer(number), ensure_ascii=False)
                assert len(answer) < LONGEST_CHARS, (tool["name"], name, value[:40])
                assert '\\"code\\":\\"internal' not in answer, (tool["name"], name, value[:40])
    served.prove_alive()
    assert served.end()[0] == 0
    assert b"internal_error" not in served.stderr


def test_a_refusal_shows_the_beginning_of_what_is_long():
    refusal = explain(Conflict(HUGE, id=HUGE, failed=[{"message": HUGE}] * 5_000, count=5_000))
    assert refusal is not None
    beginning = "x" * MAX_CHARS + "…"
    assert refusal.message == refusal.details["id"] == beginning
    assert refusal.details["failed"] == [{"message": beginning}] * MAX_ITEMS
    assert refusal.details["count"] == 5_000
