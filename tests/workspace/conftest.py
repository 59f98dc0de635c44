"""The workspace as its domain sees it and as its tools show it; answers are held to contracts."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import anyio
import apsw
import pytest
from jsonschema import Draft202012Validator

from memrpc.app import Application, now_us
from memrpc.protocol.calls import Call, Client, Handshake
from memrpc.protocol.revisions import REVISIONS
from memrpc.server import schema_files
from memrpc.server.context import Context
from memrpc.server.contracts import _inline
from memrpc.server.faults import as_refusal, tool_error
from memrpc.server.tool_calls import call_tool
from memrpc.settings import load
from memrpc.surface import toolsets
from memrpc.surface.refusals import explain
from memrpc.workspace import scope
from memrpc.workspace.model import Act, Repo
from tests.memory_file import open_database

NOW = 1_780_000_000_000_000  # 2026-05-28T20:26:40Z, a Thursday
MINUTE = 60_000_000
DAY = 1_440 * MINUTE
HANDLES = frozenset(
    {"id", "code", "task_code", "task_id", "title", "status", "claim_token", "next_offset"}
)


class Workspace:
    """The domain with a clock that stands still and ids that count."""

    def __init__(self, db: apsw.Connection) -> None:
        self.db = db
        self.now = NOW
        self._ids = itertools.count(1)

    def new_id(self) -> str:
        return f"00000000-0000-7000-8000-{next(self._ids):012}"

    def act(self, agent: str = "ann", instance: str = "p1", tool: str = "test") -> Act:
        return Act(tool, agent, instance, self.now, self.new_id)

    def repo(self, owner: str = "acme", name: str = "harbor") -> Repo:
        return scope.ensure(self.db, owner, name, now=self.now)

    def do(self, function, *arguments, **named):
        """Call a domain function in a transaction of its own, for acme/harbor."""
        with self.db:
            return function(self.db, self.repo(), *arguments, **named)


@pytest.fixture
def db() -> Iterator[apsw.Connection]:
    connection = open_database()
    yield connection
    connection.close()


@pytest.fixture
def workspace(db) -> Workspace:
    return Workspace(db)


class Refused(Exception):
    """The error object of a tool's refusal."""

    def __init__(self, error: dict) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code = error["code"]
        self.message = error["message"]
        self.details = error["details"]


class Tools:
    """A served workspace without pipes: real arguments in, checked answers out."""

    def __init__(self, database: Path, *, toolset: str = "all", client: str = "host") -> None:
        self.application = Application(load({"db": str(database), "toolset": toolset}))
        self.ahead_us = 0
        desk = replace(self.application.desk, now_us=self.now_us)
        served = self.application.service(checks_output=True)
        self.service = served._replace(tools=toolsets.build(toolset, desk))
        self.client = client
        self.place = {"owner": "acme", "repo": "harbor"}
        self.answers: list[dict] = []
        self.asked: list = []
        self.capabilities: dict = {}
        self.progress: list[dict] = []
        self.handshake: Handshake | None = Handshake(REVISIONS["2025-11-25"], self._client())

    def now_us(self) -> int:
        return now_us() + self.ahead_us

    def _client(self) -> Client:
        return Client({}, {"name": self.client})

    def context(self, tool: str, arguments: dict) -> Context:
        revision = REVISIONS["2025-11-25" if self.handshake else "2026-07-28"]
        client = Client(self.capabilities, {"name": self.client})
        call = Call(
            1,
            "tools/call",
            {"name": tool, "arguments": arguments},
            revision,
            client,
            None,
            self.handshake,
        )
        peer = SimpleNamespace(ports=self.application.ports(), service=self.service)
        peer.request = self._asked
        peer.notify = lambda _call, _method, params: self.progress.append(params)
        return Context(call, peer, {})

    async def _asked(self, ask, params) -> dict:
        self.asked.append((ask.method, params))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def result(self, tool: str, /, **arguments) -> dict:
        """The whole result, refusals included."""
        given = {**self.place, **arguments}
        given = {name: value for name, value in given.items() if value is not ...}
        return anyio.run(self._result, tool, given)

    async def _result(self, tool: str, arguments: dict) -> dict:
        ctx = self.context(tool, arguments)
        try:
            return await call_tool(self.service, ctx)
        except Exception as error:
            refusal = as_refusal(error, explain)
            if refusal is None:
                raise
            return tool_error(refusal)

    def call(self, tool: str, /, **arguments) -> dict:
        """The structured answer, once it was held to the contract.  Raises Refused."""
        result = self.result(tool, **arguments)
        text = result["content"][0]["text"]
        if result["isError"]:
            assert "structuredContent" not in result
            raise Refused(json.loads(text)["error"])
        structured = result["structuredContent"]
        check_mode(tool, structured)
        if arguments.get("json"):
            assert json.loads(text) == structured
        else:
            check_text(structured, text)
        return structured

    def text(self, tool: str, /, **arguments) -> str:
        self.call(tool, **arguments)
        return self.result(tool, **arguments)["content"][0]["text"]

    def rows(self, tool: str, key: str | None = None, /, **arguments) -> list[dict]:
        """The rows of an answer's table as dicts."""
        answer = self.call(tool, **arguments)
        table = answer[key] if key else answer
        return [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]

    def remember(self, title: str, content: str, **more) -> dict:
        given = {"type": "code_fact", "importance": 3, **more}
        return self.call("memory-write", title=title, content=content, **given)

    def task(self, title: str, **more) -> dict:
        given = {"phase": "execution", "description": f"Do what {title} says.", **more}
        return self.call("task-write", title=title, **given)

    def close(self) -> None:
        self.application.close_quickly()


def modes_of(tool: str) -> dict:
    file = schema_files.read("tools", "workspace", f"{tool}.json")
    modes = file["x-memrpc"]["modes"]
    return {
        name: file["$defs"]["output"] if mode.get("$ref", "").startswith("#") else mode
        for name, mode in modes.items()
    }


def check_mode(tool: str, structured: dict) -> None:
    """An answer satisfies the strict schema of one of the tool's modes."""
    errors = {}
    for name, schema in modes_of(tool).items():
        found = list(Draft202012Validator(_inline(schema)).iter_errors(structured))
        if not found:
            return
        errors[name] = [f"{error.json_path}: {error.message[:120]}" for error in found[:3]]
    raise AssertionError(f"{tool} answered outside of its modes: {errors}")


def check_text(structured: dict, text: str) -> None:
    """Every id, code, title, status and next handle of the structured part stands in the text."""
    missing = [f"{name}={value}" for name, value in handles(structured) if str(value) not in text]
    assert not missing, f"the text lacks {missing}:\n{text}"


def handles(value, name: str = "") -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        yield from _handles_of(value)
    elif isinstance(value, list):
        for item in value:
            yield from handles(item, name)
    elif value is not None and name in HANDLES:
        yield name, value


def _handles_of(value: dict) -> Iterator[tuple[str, object]]:
    if {"columns", "rows"} <= value.keys():
        for row in value["rows"]:
            yield from handles(dict(zip(value["columns"], row, strict=True)))
    for key, item in value.items():
        if key not in {"rows", "kg", "metadata", "toolCalls"}:
            yield from handles(item, key)


@pytest.fixture
def database(tmp_path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def tools(database) -> Iterator[Tools]:
    opened = Tools(database)
    yield opened
    opened.close()


@pytest.fixture
def other(database) -> Iterator[Tools]:
    """A second server process on the same file."""
    opened = Tools(database, client="second")
    yield opened
    opened.close()
