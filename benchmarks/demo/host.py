"""A host in sixty lines: it spawns the server, shakes hands and calls tools."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HANDSHAKE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "memrpc-demo", "version": "1"},
}


class RefusedError(Exception):
    """The tool said no, and why."""


class Host:
    """One server process, spoken to over its pipes."""

    def __init__(self, database: Path) -> None:
        self.database = database
        command = [sys.executable, "-m", "memrpc", "serve", "--toolset", "core"]
        self._server = subprocess.Popen(
            [*command, "--db", str(database)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        self._next_id = 0
        self.greeting = self.request("initialize", HANDSHAKE)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of one request; notifications in between are passed over."""
        self._next_id += 1
        id_ = self._next_id
        self._send({"jsonrpc": "2.0", "id": id_, "method": method, "params": params})
        while True:
            assert self._server.stdout is not None
            line = self._server.stdout.readline()
            if not line:
                raise RefusedError(f"the server ended during {method}")
            message = json.loads(line)
            if message.get("id") == id_:
                return message["result"]

    def call(self, tool: str, /, **arguments: Any) -> dict[str, Any]:
        """What a tool answered.  Raises RefusedError with its sentence."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        if result["isError"]:
            raise RefusedError(json.loads(result["content"][0]["text"])["error"]["message"])
        return result["structuredContent"]

    def _send(self, message: dict[str, Any]) -> None:
        assert self._server.stdin is not None
        self._server.stdin.write(json.dumps(message).encode() + b"\n")
        self._server.stdin.flush()

    def leave(self) -> int:
        """Close the server's input, as a host does, and wait for its exit code."""
        with self._server as server:
            assert server.stdin is not None
            server.stdin.close()
            return server.wait(10)


def run_verb(*words: str) -> tuple[int, str]:
    """Run a verb of the command line; its exit code and what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "memrpc", *words], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout.strip()
