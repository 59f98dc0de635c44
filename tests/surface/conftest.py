"""A served memrpc and a client that calls its tools."""

from __future__ import annotations

import contextlib
import itertools
import json
import sys

import pytest

from tests.peer import Peer


class Refused(Exception):
    """The tool's own error object."""

    def __init__(self, error: dict) -> None:
        super().__init__(error["message"])
        self.code = error["code"]
        self.message = error["message"]
        self.details = error["details"]


class Served:
    """One server process and its tools."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer
        self._ids = itertools.count(1)

    def result(self, tool: str, /, **arguments) -> dict:
        answer = self.peer.ask("tools/call", {"name": tool, "arguments": arguments}, timeout_s=30)
        return answer["result"]

    def call(self, tool: str, /, **arguments) -> dict:
        """The structured answer.  Raises Refused."""
        result = self.result(tool, **arguments)
        text = json.loads(result["content"][0]["text"])
        if result["isError"]:
            assert "structuredContent" not in result
            raise Refused(text["error"])
        assert result["structuredContent"] == text
        return text

    def record(self, text: str, **more) -> dict:
        given = {"event_id": f"e{next(self._ids)}", "role": "user", "source": "Ann", **more}
        return self.call("memory_record", text=text, **given)

    def recalled(self, query: str, **more) -> str:
        """All that a recall shows, as one text."""
        return json.dumps(self.call("memory_recall", query=query, **more), ensure_ascii=False)


def command(database, *words: str) -> tuple[str, ...]:
    return (sys.executable, "-m", "memrpc", "serve", "--db", str(database), *words)


@pytest.fixture
def database(tmp_path):
    return tmp_path / "memory.db"


@pytest.fixture
def serve(database):
    """Start a server on the test's database, as often as the test likes."""
    with contextlib.ExitStack() as stack:

        def start(*words: str, env=None, path=None) -> Served:
            peer = stack.enter_context(
                Peer(command(path or database, "--toolset", "core", *words), env=env)
            )
            peer.handshake()
            return Served(peer)

        yield start


@pytest.fixture
def served(serve):
    return serve()
