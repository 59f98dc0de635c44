"""Two ways to move bytes between a connection and its descriptors, with one interface.

``CallbackPump`` is asyncio's: descriptors call back when they are ready.  ``ThreadPump`` works
everywhere: a daemon thread reads, another writes, and both block as long as they like.
"""

from __future__ import annotations

import asyncio  # noqa: TID251 -- with server/stdio.py the one place that knows the loop
import os
import select
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import anyio
from anyio.from_thread import run_sync as run_in_loop
from anyio.lowlevel import current_token

from memrpc.server.stdio import (
    READ_BYTES,
    Wire,
    Writer,
    can_poll,
    open_writer,
    read_ready,
    write_ready,
)

if TYPE_CHECKING:
    from memrpc.server.connection import Connection


class EndOfInput(Protocol):
    """Called once, when the input has ended; ``urgent`` when the output is gone too."""

    def __call__(self, code: int = 0, *, urgent: bool = False) -> None: ...


class Pump(Protocol):
    """What the driver needs of either."""

    def start(self) -> None: ...
    async def drain(self) -> None: ...
    def stop(self) -> None: ...


def make_pump(connection: Connection, wire: Wire, on_end: EndOfInput) -> Pump:
    """The faster pump where the descriptors allow it."""
    writer = open_writer(wire.writer)
    if writer is not None and can_poll(wire.reader):
        return CallbackPump(connection, wire.reader, writer, on_end)
    if writer is not None:
        writer.close()
    return ThreadPump(connection, wire, on_end)


class CallbackPump:
    """Driven by asyncio's readiness callbacks; epoll registration happens once."""

    def __init__(
        self, connection: Connection, reader: int, writer: Writer, on_end: EndOfInput
    ) -> None:
        self._connection = connection
        self._reader = reader
        self._writer = writer
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._is_reading = False
        self._is_writing = False
        self._flush_is_due = False
        self._has_ended = False
        self._drained = anyio.Event()
        self._drained.set()

    def start(self) -> None:
        self._connection.wake = self._wake
        self._resume()
        self._wake()

    def _resume(self) -> None:
        if not self._is_reading and not self._has_ended:
            self._is_reading = True
            self._loop.add_reader(self._reader, self._read)

    def _pause(self) -> None:
        if self._is_reading:
            self._is_reading = False
            self._loop.remove_reader(self._reader)

    def _read(self) -> None:
        chunk = read_ready(self._reader)
        if chunk is None:
            return
        self._flush_is_due = True  # At the end of this call, so nothing need wake us for it.
        if not chunk:
            self._end()
            self._connection.finish()
            self._on_end()
        else:
            self._connection.feed(chunk)
        self._flush()

    def _end(self) -> None:
        self._pause()
        self._has_ended = True

    def _wake(self) -> None:
        """Output is there; what may follow in this turn of the loop leaves in the same write."""
        if self._flush_is_due or self._is_writing:
            return
        if self._connection.is_idle:
            self._flush()  # Nothing can follow.
        else:
            self._flush_is_due = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        self._flush_is_due = False
        if not write_ready(self._writer, self._connection):
            self._end()
            self._stop_writing()
            self._on_end(urgent=True)
            return
        if self._connection.outbox.size_bytes:
            self._start_writing()
        else:
            self._stop_writing()
        self._balance()

    def _start_writing(self) -> None:
        if not self._is_writing:
            self._is_writing = True
            self._drained = anyio.Event()
            self._loop.add_writer(self._writer.fd, self._flush)

    def _stop_writing(self) -> None:
        if self._is_writing:
            self._is_writing = False
            self._drained.set()
            self._loop.remove_writer(self._writer.fd)

    def _balance(self) -> None:
        """Read no further while too much is unsent or undone."""
        if self._connection.is_congested:
            self._pause()
        else:
            self._resume()

    async def drain(self) -> None:
        """Wait until what is in the outbox now has left."""
        self._flush()
        await self._drained.wait()

    def stop(self) -> None:
        self._connection.wake = _nothing
        self._end()
        self._stop_writing()
        self._writer.close()


class ThreadPump:
    """Blocking reads and writes on daemon threads; the loop is entered once a chunk."""

    def __init__(self, connection: Connection, wire: Wire, on_end: EndOfInput) -> None:
        self._connection = connection
        self._wire = wire
        self._on_end = on_end
        self._token = current_token()
        self._may_read = threading.Event()
        self._has_output = threading.Event()
        self._is_broken = False
        self._drained = anyio.Event()

    def start(self) -> None:
        self._connection.wake = self._has_output.set
        self._may_read.set()
        for target in (self._read_all, self._write_all):
            threading.Thread(target=target, name=f"memrpc-{target.__name__}", daemon=True).start()
        if self._connection.outbox.size_bytes:
            self._has_output.set()
        else:
            self._drained.set()

    def _read_all(self) -> None:
        chunk = _read_blocking(self._wire.reader)
        while chunk and self._in_loop(self._take, chunk):
            self._may_read.wait()
            chunk = _read_blocking(self._wire.reader)
        self._in_loop(self._finish)

    def _take(self, chunk: bytes) -> None:
        self._connection.feed(chunk)
        if self._connection.is_congested:
            self._may_read.clear()

    def _finish(self) -> None:
        self._connection.finish()
        self._on_end()

    def _write_all(self) -> None:
        while self._has_output.wait():
            self._has_output.clear()
            while block := self._take_block():
                if not _write_blocking(self._wire.writer, block):
                    self._in_loop(self._break)
                    return

    def _break(self) -> None:
        self._is_broken = True
        self._on_end(urgent=True)
        self._drained.set()

    def _take_block(self) -> memoryview:
        """What waits; empty when all of it has left, or the loop has."""
        blocks = [memoryview(b"")]
        self._in_loop(lambda: blocks.append(self._next_block()))
        return blocks[-1]

    def _next_block(self) -> memoryview:
        """Take what waits; an empty block means that all of it has left."""
        block = self._connection.outbox.peek()
        if block:
            self._drained = _unset(self._drained)
            self._connection.outbox.written(len(block))
        else:
            self._drained.set()
        if not self._connection.is_congested:
            self._may_read.set()
        return block

    def _in_loop(self, call: Callable[..., None], *arguments: object) -> bool:
        """Run a function in the loop.  False once the loop is gone."""
        try:
            run_in_loop(call, *arguments, token=self._token)
        except RuntimeError:
            return False
        return True

    async def drain(self) -> None:
        """Wait until what is in the outbox now has left."""
        if self._connection.outbox.size_bytes and not self._is_broken:
            self._drained = _unset(self._drained)
            self._has_output.set()
        await self._drained.wait()

    def stop(self) -> None:
        self._connection.wake = _nothing


def _nothing() -> None:
    """Nobody writes any more."""


def _unset(event: anyio.Event) -> anyio.Event:
    """An event that is not set: this one, while somebody may be waiting for it."""
    return anyio.Event() if event.is_set() else event


def _read_blocking(fd: int) -> bytes:
    while True:
        try:
            return os.read(fd, READ_BYTES)
        except BlockingIOError:
            select.select([fd], [], [])
        except OSError:
            return b""


def _write_blocking(fd: int, block: memoryview) -> bool:
    while block:
        try:
            block = block[os.write(fd, block) :]
        except BlockingIOError:
            select.select([], [fd], [])  # The peer gave us one that does not block.
        except OSError:
            return False
    return True
