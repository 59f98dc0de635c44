"""Which calls are brief: what is short and about one thing is written on the loop's own thread."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import pytest

from memrpc.server.context import Context
from memrpc.store import lane_thread
from memrpc.surface import toolsets
from tests.workspace.conftest import Tools

SHORT = {"type": "code_fact", "importance": 3, "title": "Owls", "content": "Owls hunt at night."}
LONG = {**SHORT, "content": "Owls hunt at night, and hear. " * 60}
MANY = {"memories": [{**SHORT, "content": text} for text in ("Owls hear.", "Bats fly far.")]}


@pytest.mark.parametrize(("arguments", "is_own"), [(SHORT, True), (LONG, False), (MANY, False)])
def test_one_short_thing_is_written_on_the_loop(
    tools: Tools, monkeypatch: pytest.MonkeyPatch, arguments: dict, *, is_own: bool
):
    """The writer asks for ids, on whatever thread it runs."""
    monkeypatch.setattr(lane_thread, "BRIEF_S", 60)
    monkeypatch.setattr(lane_thread, "IDLE_AFTER_S", 600)
    threads: list[str] = []
    new_id = tools.application.desk.new_id

    def noted() -> str:
        threads.append(threading.current_thread().name)
        return new_id()

    def sized(tool: str, given: dict) -> Context:
        ctx = context(tool, given)
        ctx.call.size_bytes = len(json.dumps(given))
        return ctx

    context, tools.context = tools.context, sized
    desk = replace(tools.application.desk, now_us=tools.now_us, new_id=noted)
    tools.task("A pier")
    tools.service = tools.service._replace(tools=toolsets.build("work", desk))
    tools.call("memory-write", **arguments)
    assert {name == threading.current_thread().name for name in threads} == {is_own}
