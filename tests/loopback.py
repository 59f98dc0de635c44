"""A connection without descriptors: bytes go in, judged messages come out, time stands still."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio

from memrpc.server.connection import Connection
from memrpc.server.service import Service
from tests.fixture_server import make_ports, make_service
from tests.oracle import Oracle
from tests.peer import to_line


class Clock:
    """Seconds that pass only when told to."""

    def __init__(self) -> None:
        self.now_s = 1_000_000.0

    def __call__(self) -> float:
        return self.now_s


class Loopback:
    """One connection, its clock, its log and everything it has written."""

    def __init__(self, service: Service | None = None) -> None:
        self.clock = Clock()
        self.logged: list[tuple[str, dict]] = []
        self.oracle = Oracle()
        self.written: list[dict] = []
        ports = make_ports(self._log, monotonic=self.clock, now_s=self.clock)
        self.connection = Connection(service or make_service(checks_output=True), ports)

    def _log(self, _: str, event: str, /, **fields: object) -> None:
        self.logged.append((event, fields))

    def send(self, *messages: object) -> list[dict]:
        """Feed messages in one chunk; what is written at once."""
        for message in messages:
            self.oracle.sent(message)
        return self.feed(b"".join(map(to_line, messages)))

    def feed(self, chunk: bytes) -> list[dict]:
        """Feed bytes that the oracle is not shown."""
        self.connection.feed(chunk)
        return self.take()

    def take(self) -> list[dict]:
        """What has been written since the last look, each line judged."""
        output = b""
        while block := self.connection.outbox.peek():
            output += block
            self.connection.outbox.written(len(block))
        found = [m for line in output.splitlines(keepends=True) for m in self.oracle.judge(line)]
        self.written += found
        return found

    async def settle(self) -> list[dict]:
        """Run every task until all of them wait; what has been written by then."""
        await anyio.wait_all_tasks_blocked()
        return self.take()


@asynccontextmanager
async def running(service: Service | None = None) -> AsyncIterator[Loopback]:
    """A loopback whose handlers run.

    What cancels the group from within ends the test's body without a word: that is a failure.
    """
    loopback = Loopback(service)
    is_through = False
    async with anyio.create_task_group() as tasks:
        loopback.connection.begin(tasks)
        yield loopback
        is_through = True
        loopback.connection.close()
        tasks.cancel_scope.cancel()
    assert is_through, "something has cancelled the whole connection"
