"""A server inside this process: everything but the pipes, timed by the CPU that it takes.

Where other work runs on the machine, the clock on the wall tells mostly of that; a hand-over
between two processes then takes milliseconds.  The CPU time of this process, user and system, is
what a call computes.  Whoever asks sleeps meanwhile.
"""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path

import anyio
import apsw
from anyio.from_thread import start_blocking_portal

from memrpc.app import Application
from memrpc.settings import load

from .client import INITIALIZED, initialize

Statement = tuple[str, object]


class Inside:
    """A served file; ``records`` makes it write down the SQL that each lane runs."""

    def __init__(self, path: Path, *, records: bool = False) -> None:
        self._path = path
        self._run: list[tuple[str, str, object]] = []
        if records:
            apsw.connection_hooks.append(self._watch)
        settings = load({"db": str(path), "toolset": "work", "embedder": "none"})
        self._application = Application(settings)
        self._context = start_blocking_portal("asyncio")
        self._portal = self._context.__enter__()
        self._life = self._portal.start_task_soon(self._live)
        self._portal.call(self._wait_until_begun)
        self.ask(initialize())
        self._portal.call(self._connection.feed, INITIALIZED)

    async def _live(self) -> None:
        self._connection = self._application.connection()
        self._begun, self._stopped, self._woken = anyio.Event(), anyio.Event(), anyio.Event()
        self._connection.wake = self._wake
        async with anyio.create_task_group() as tasks:
            self._connection.begin(tasks)
            self._begun.set()
            await self._stopped.wait()
            tasks.cancel_scope.cancel()

    def _wake(self) -> None:
        self._woken.set()

    async def _wait_until_begun(self) -> None:
        while not hasattr(self, "_begun"):
            await anyio.lowlevel.checkpoint()
        await self._begun.wait()

    def ask(self, line: bytes) -> tuple[float, dict]:
        """Milliseconds of CPU until the answer is there, and the answer."""
        self._run.clear()
        return self._portal.call(self._ask, line)

    async def _ask(self, line: bytes) -> tuple[float, dict]:
        started = time.process_time()
        self._connection.feed(line)
        while True:
            await self._woken.wait()
            elapsed_ms = (time.process_time() - started) * 1000
            self._woken = anyio.Event()
            for message in self._taken():
                if "id" in message:
                    return elapsed_ms, message["result"]

    def _taken(self) -> list[dict]:
        outbox, lines = self._connection.outbox, b""
        while block := bytes(outbox.peek()):
            outbox.written(len(block))
            lines += block
        return [json.loads(line) for line in lines.splitlines()]

    def _watch(self, db: apsw.Connection) -> None:
        if Path(db.filename) == self._path:
            db.exec_trace = self._note

    def _note(self, _: apsw.Cursor, sql: str, bindings: object) -> bool:
        self._run.append((threading.current_thread().name, sql.strip(), bindings))
        return True

    def statements(self, lane: str) -> list[Statement]:
        """What the last call ran on a lane."""
        return [(sql, values) for name, sql, values in self._run if lane in name]

    def close(self) -> None:
        self._portal.call(self._stop)
        self._life.result(5)
        self._context.__exit__(None, None, None)
        self._application.close_quickly()
        if self._watch in apsw.connection_hooks:
            apsw.connection_hooks.remove(self._watch)

    async def _stop(self) -> None:
        self._stopped.set()
