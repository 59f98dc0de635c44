"""Servers that a transcript can be replayed against: in this process, or any command.

Both have one synchronous interface, so that a replay reads like the conversation it is.
"""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import IO, TYPE_CHECKING, Final, Protocol

import anyio
from anyio.from_thread import start_blocking_portal

if TYPE_CHECKING:
    from memrpc.server.connection import Connection

EXIT_WITHIN_S: Final = 2.0
_LOOK_S: Final = 0.01


class Peer(Protocol):
    """``receive`` returns the next line with its line feed, None if there is none in time."""

    def send(self, data: bytes) -> None: ...
    def receive(self, timeout_s: float) -> bytes | None: ...
    def end_input(self) -> None: ...
    def close(self) -> str | None:
        """End the peer; what it did wrong while ending, if anything."""


class SpawnedPeer:
    """A server that is a child process."""

    def __init__(self, command: Sequence[str]) -> None:
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, data: bytes) -> None:
        stdin = _opened(self._process.stdin)
        stdin.write(data)
        stdin.flush()

    def receive(self, timeout_s: float) -> bytes | None:
        try:
            return self._lines.get(timeout=timeout_s)
        except Empty:
            return None

    def end_input(self) -> None:
        _opened(self._process.stdin).close()

    def close(self) -> str | None:
        self.end_input()
        try:
            code = self._process.wait(EXIT_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return f"it outlived the end of its input by {EXIT_WITHIN_S} s"
        finally:
            self._reader.join(EXIT_WITHIN_S)
            _opened(self._process.stdout).close()
        return None if code == 0 else f"it exited with {code}"

    def _read(self) -> None:
        for line in _opened(self._process.stdout):
            self._lines.put(line)
        self._lines.put(None)


def _opened(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("the child was started without this pipe")
    return stream


class InProcessPeer:
    """A connection in this process, on an event loop in a thread of its own."""

    def __init__(self, make_connection: Callable[[], Connection]) -> None:
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        self._context = start_blocking_portal("asyncio")
        self._portal = self._context.__enter__()
        self._connection = make_connection()
        self._serving = self._portal.start_task_soon(self._serve)
        self._portal.call(self._wait_for_group)

    async def _serve(self) -> None:
        self._stopped, self._woken, self._begun = anyio.Event(), anyio.Event(), anyio.Event()
        self._connection.wake = self._wake
        async with anyio.create_task_group() as tasks:
            self._connection.begin(tasks)
            tasks.start_soon(self._drain)
            self._begun.set()
            await self._stopped.wait()
            tasks.cancel_scope.cancel()

    def _wake(self) -> None:
        self._woken.set()

    async def _wait_for_group(self) -> None:
        while not hasattr(self, "_begun"):
            await anyio.lowlevel.checkpoint()
        await self._begun.wait()

    async def _drain(self) -> None:
        """Take what waits; a burst is in the outbox whole before any of it is taken."""
        while True:
            await self._woken.wait()
            self._woken = anyio.Event()
            while block := bytes(self._connection.outbox.peek()):
                self._connection.outbox.written(len(block))
                for line in block.split(b"\n")[:-1]:
                    self._lines.put(line + b"\n")

    def send(self, data: bytes) -> None:
        self._portal.call(self._connection.feed, data)

    def receive(self, timeout_s: float) -> bytes | None:
        """None as soon as nothing runs any more: then nothing will come."""
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                return self._lines.get(timeout=_LOOK_S)
            except Empty:
                if self._portal.call(self._is_quiet) or time.monotonic() > deadline:
                    return self._lines.get() if not self._lines.empty() else None

    async def _is_quiet(self) -> bool:
        return self._connection.is_idle and self._connection.outbox.size_bytes == 0

    def end_input(self) -> None:
        self._portal.call(self._finish)

    async def _finish(self) -> None:
        idle = anyio.Event()
        self._connection.finish()
        self._connection.when_idle(idle.set)
        with anyio.move_on_after(EXIT_WITHIN_S):
            await idle.wait()
        self._connection.close()

    def close(self) -> str | None:
        self._portal.call(self._stopped.set)
        self._serving.result(EXIT_WITHIN_S)
        self._context.__exit__(None, None, None)
        return None
