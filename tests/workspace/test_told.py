"""Whatever a write changes of what resources show, it says that it has changed."""

from __future__ import annotations

from functools import partial

import anyio
import pytest

from memrpc.store import changes
from memrpc.surface.catalogue import Catalogue
from memrpc.surface.news import changes_of
from memrpc.surface.views import workspace
from memrpc.workspace import redacting
from memrpc.workspace.model import Act
from tests.workspace.conftest import Tools

BASE = "repository://acme%2Fharbor"
LISTS = (f"{BASE}/memories", f"{BASE}/tasks", f"{BASE}/summary", f"{BASE}/actions", f"{BASE}/graph")


class Shown:
    """What the resources of a small repository show: a task, one beneath it, one that waits."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools
        self.memory = tools.remember("The pier", "It is made of `OakBeams`.")["id"]
        self.whole, self.part, self.waiting = (tools.task(f"Build {n}")["id"] for n in "123")
        tools.call("task-write", id=self.part, parent_id=self.whole)
        tools.call("task-write", id=self.waiting, depends_on=self.whole)
        tasks = (self.whole, self.part, self.waiting)
        records = [f"memory://{self.memory}", *(f"task://{each}" for each in tasks)]
        self.uris = (*LISTS, "repository://index", *records)

    def now(self) -> dict[str, str]:
        return {uri: anyio.run(self._read, uri) for uri in self.uris}

    async def _read(self, uri: str) -> str:
        context = self.tools.context("resources/read", {})
        context.call.params["uri"] = uri
        catalogue = Catalogue(workspace.VIEWS, self.tools.application.desk)
        try:
            (contents,) = await catalogue.read(context, uri)
        except KeyError:
            return "gone"
        return contents["text"]

    def told(self, seq: int) -> set[str]:
        found = self.tools.application.database.read_blocking(partial(changes.since, seq=seq))
        return {each.uri for change in found for each in changes_of(change.topic)}

    def last(self) -> int:
        return self.tools.application.database.read_blocking(changes.last)

    def write(self, tool: str, **arguments) -> dict:
        return self.watched(lambda: self.tools.call(tool, **arguments))

    def watched(self, act):
        """Do something; all that is shown otherwise afterwards must have been told."""
        before, seq = self.now(), self.last()
        answer = act()
        after, told = self.now(), self.told(seq)
        assert {uri for uri in self.uris if before[uri] != after[uri]} <= told
        return answer


@pytest.fixture
def shown(tools) -> Shown:
    return Shown(tools)


def test_a_task_tells_of_those_that_show_it(shown):
    shown.write("task-write", id=shown.part, status="pending", comment="Soon.")
    shown.write("task-write", id=shown.waiting, title="Paint the pier")
    shown.write("task-write", id=shown.waiting, depends_on="", parent_id=shown.part)
    shown.write("task-write", id=shown.part, parent_id="")
    shown.write("task-write", phase="p", title="Roof", description="x", parent_id=shown.whole)
    shown.write("task-write", id=shown.whole, status="in_progress", comment="Now.", force=True)
    shown.write("task-write", id=shown.whole, status="completed", comment="Done.", force=True)


def test_a_task_that_goes_tells_of_those_that_showed_it(shown):
    shown.write("task-delete", id=shown.part)
    shown.write("task-delete", id=shown.whole)


def test_a_claim_that_is_renewed_or_released_tells_of_its_task(shown):
    token = shown.write("claim-manage", task_id=shown.whole)["claim_token"]
    shown.tools.ahead_us = 60_000_000
    shown.write("claim-manage", task_id=shown.whole, claim_token=token)
    shown.write("claim-manage", task_id=shown.whole)
    shown.write("claim-manage", task_id=shown.whole, claim_token=token, release=True)


def test_a_handoff_tells_of_its_task_when_it_is_offered_and_when_it_is_answered(shown):
    offered = shown.write(
        "handoff-write", from_agent="ann", to_agent="bob", task_id=shown.whole, summary="Go on"
    )
    shown.write("handoff-write", id=offered["id"], status="accepted", agent="bob")


def test_an_entry_and_a_summary_tell_of_what_shows_them(shown):
    shown.write("memory-write", id=shown.memory, title="The long pier")
    shown.write("memory-write", id=shown.memory, acknowledge="used")
    more = {"type": "code_fact", "title": "The new pier", "content": "It is of steel."}
    shown.write("memory-delete", id=shown.write("memory-write", **more, importance=3)["id"])
    shown.write("memory-write", **more, importance=3, supersedes=shown.memory)
    shown.write("repo-summarize", signals=["A harbor with two piers"])


def test_a_redacted_task_tells_of_those_that_showed_it(shown):
    act = Act("redact", "command line", "", shown.tools.now_us(), lambda: "id")
    database = shown.tools.application.database
    shown.watched(
        lambda: database.write_blocking(lambda db: redacting.redact(db, shown.whole, act))
    )
