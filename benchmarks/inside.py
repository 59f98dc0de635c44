"""A server inside this process: everything but the pipes, timed by the CPU that it takes.

Where other work runs on the machine, the clock on the wall tells mostly of that; a hand-over
between two processes then takes milliseconds.  The CPU time of this process, user and system, is
what a call computes.  The event loop runs only while a call is asked, on the thread that asks, so
nobody's waiting is counted with the call.  On two cores the kernel's waking of a sleeping core
would be, tens of microseconds a hand-over by where it puts a thread; ``one_core`` leaves that out.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from functools import partial
from pathlib import Path

import anyio
import apsw

from memrpc.app import Application
from memrpc.settings import load

from .client import INITIALIZED, initialize

Statement = tuple[str, object]


class Inside:
    """A served file; ``records`` makes it write down the SQL that each lane runs.

    ``options`` are settings, where they are not those of the workspace without an embedder.
    """

    def __init__(self, path: Path, *, records: bool = False, **options: str) -> None:
        self._path = path
        self._run: list[tuple[str, str, object]] = []
        if records:
            apsw.connection_hooks.append(self._watch)
        settings = load({"db": str(path), "toolset": "work", "embedder": "none", **options})
        self._application = Application(settings)
        self._loop = asyncio.Runner()
        self._loop.run(self._begin())
        self.ask(initialize())
        self._connection.feed(INITIALIZED)

    async def _begin(self) -> None:
        self._connection = self._application.connection()
        self._stopped, self._woken = anyio.Event(), anyio.Event()
        self._connection.wake = self._wake
        begun = anyio.Event()
        self._life = asyncio.create_task(self._live(begun))
        await begun.wait()

    async def _live(self, begun: anyio.Event) -> None:
        async with anyio.create_task_group() as tasks:
            self._connection.begin(tasks)
            begun.set()
            await self._stopped.wait()
            tasks.cancel_scope.cancel()

    def _wake(self) -> None:
        self._answered = time.process_time()
        self._woken.set()

    def ask(self, line: bytes) -> tuple[float, dict]:
        """Milliseconds of CPU until the answer is there, and the answer."""
        self._run.clear()
        return self._loop.run(self._ask(line))

    async def _ask(self, line: bytes) -> tuple[float, dict]:
        started = time.process_time()
        self._connection.feed(line)
        while True:
            await self._woken.wait()
            self._woken = anyio.Event()
            for message in self._taken():
                if "id" in message:
                    return (self._answered - started) * 1000, message["result"]

    def _taken(self) -> list[dict]:
        outbox, lines = self._connection.outbox, b""
        while block := bytes(outbox.peek()):
            outbox.written(len(block))
            lines += block
        return [json.loads(line) for line in lines.splitlines()]

    def _watch(self, db: apsw.Connection) -> None:
        if Path(db.filename) == self._path:
            db.exec_trace = partial(self._note, threading.current_thread().name)

    def _note(self, lane: str, _: apsw.Cursor, sql: str, bindings: object) -> bool:
        if sql == "ROLLBACK" and "writer" in lane:  # What took long runs again.
            self._run = [each for each in self._run if each[0] != lane]
        self._run.append((lane, sql.strip(), bindings))
        return True

    def statements(self, lane: str) -> list[Statement]:
        """What the last call ran on a lane."""
        return [(sql, values) for name, sql, values in self._run if lane in name]

    def close(self) -> None:
        self._loop.run(self._end())
        self._loop.close()
        self._application.close_quickly()
        if self._watch in apsw.connection_hooks:
            apsw.connection_hooks.remove(self._watch)

    async def _end(self) -> None:
        self._stopped.set()
        await self._life
