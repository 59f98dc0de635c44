"""Pipes and the event loop: the only module that knows descriptors, and which loop runs.

Theory of operation.

``claim`` moves the wire to private descriptors before anything else is imported: fd 1 then leads
to stderr and fd 0 to nothing, so a stray ``print`` or a child process cannot touch the stream.
What Python itself prints is dropped while the host does not read stderr, for nobody may wait for
that.

``run`` serves in two stages that drive the same ``Connection``.  The event loop costs more time
to import than all else together, so the first messages, which are nearly always answered in
place, are served by a plain loop over ``select`` between the steps of that import.  The first
call that needs a handler, or the last step, moves everything to the event loop.

Under asyncio a readable pipe calls back, and the answers of one chunk leave in one write.  Where
descriptors cannot be polled (regular files, Windows) two daemon threads read and write instead.
Writing never blocks the loop: a pipe is opened anew without blocking, which leaves the peer's own
description alone; what cannot be opened anew goes to the thread.

The end.  At the end of input the accepted calls get ``GRACE_S`` to finish, and their answers what
is left of ``GRACE_S`` and ``DRAIN_S`` to leave.  A signal grants the drain alone.  After ``END_S``
the process ends, even if a handler's thread has not.
"""

from __future__ import annotations

import contextlib
import io
import os
import select
import signal
import stat
import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from memrpc.server.connection import Connection

STDERR: Final = 2
PIECE_BYTES: Final = 512  # POSIX: a pipe that is ready takes as much without blocking
READ_BYTES: Final = 64 * 1024  # what a pipe holds; a buffer above 128 KiB costs a mapping each time
GRACE_S: Final = 1.2
DRAIN_S: Final = 0.5
END_S: Final = 1.8


class Wire(NamedTuple):
    """The private descriptors."""

    reader: int
    writer: int


def claim() -> Wire:
    """Take fd 0 and fd 1 for the protocol and leave harmless ones in their place.

    One that the program was started without leads to nothing: its input has ended, its output is
    lost.  All three are open before any is copied, or a copy would land among them.
    """
    for fd in (0, 1, 2):
        _ensure_open(fd)
    wire = Wire(_private(0), _private(1))
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    sys.stdout = sys.stderr = io.TextIOWrapper(
        io.BufferedWriter(_Stray()), "utf-8", "backslashreplace", line_buffering=True
    )
    end_at_interrupt()
    return wire


def _ensure_open(fd: int) -> None:
    try:
        os.fstat(fd)
    except OSError:
        null = os.open(os.devnull, os.O_RDWR)
        if null != fd:
            os.dup2(null, fd)
            os.close(null)


def _private(fd: int) -> int:
    """A copy above the standard three that no child inherits."""
    copy = os.dup(fd)
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(copy, os.O_BINARY)
    return copy


def can_poll(fd: int) -> bool:
    """True for what ``select`` and the event loop can wait on."""
    if sys.platform == "win32":
        return False
    mode = os.fstat(fd).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd)


class Writer(NamedTuple):
    """Takes what fits at once.  ``write`` raises ``BlockingIOError`` where nothing does."""

    fd: int
    write: Callable[[memoryview], int]
    close: Callable[[], None]


def open_writer(fd: int) -> Writer | None:
    """A way to write to ``fd`` that never blocks; None where there is none to be had.

    O_NONBLOCK belongs to the description that the peer may share, so it is never set on ``fd``:
    a pipe is opened anew, and a socket is told with each write.
    """
    mode = os.fstat(fd).st_mode
    if stat.S_ISSOCK(mode) and hasattr(os, "fork"):
        return _socket_writer(fd)
    if not stat.S_ISFIFO(mode):
        return None
    try:
        own = os.open(f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None
    return Writer(own, partial(os.write, own), partial(os.close, own))


class _Stray(io.RawIOBase):
    """Standard error for whoever prints: it takes what fits at once, and drops the rest."""

    def __init__(self) -> None:
        super().__init__()
        writer = open_writer(STDERR)
        self._write = writer.write if writer else _write_if_ready

    def fileno(self) -> int:
        return STDERR

    def writable(self) -> bool:
        return True

    def write(self, block: Buffer, /) -> int:
        view = memoryview(block)
        with contextlib.suppress(OSError):
            for start in range(0, len(view), PIECE_BYTES):
                self._write(view[start : start + PIECE_BYTES])
        return len(view)


def _write_if_ready(piece: memoryview) -> int:
    """Write where nothing can be opened anew: what is ready takes a piece."""
    if sys.platform != "win32" and not select.select([], [STDERR], [], 0)[1]:
        return 0
    return os.write(STDERR, piece)


def _socket_writer(fd: int) -> Writer:
    import socket

    end = socket.socket(fileno=os.dup(fd))
    return Writer(end.fileno(), lambda block: end.send(block, socket.MSG_DONTWAIT), end.close)


def run(connection: Connection, wire: Wire, warm_up: tuple[Callable[[], object], ...]) -> int:
    """Serve until the peer is gone or a signal comes.  Returns the exit code."""
    from memrpc.server.opening import serve_opening

    serve_opening(connection, wire, warm_up)
    import anyio

    from memrpc.server.driver import serve

    try:
        return anyio.run(serve, connection, wire, _end_in_time)
    finally:
        end_at_interrupt()  # The loop has put back the handler that raises anywhere.


def end_at_interrupt() -> None:
    """Let an interrupt end the process as other signals do, where the loop does not take it.

    Python's own handler raises inside whatever happens to run, an import for example.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _end_in_time(code: int) -> None:
    """End the process soon, whatever still runs: a thread in a system call cannot be stopped."""
    import threading

    timer = threading.Timer(END_S, os._exit, (code,))
    timer.daemon = True
    timer.start()


def read_ready(fd: int) -> bytes | None:
    """What a readable descriptor holds; b"" at the end of input, None if there was nothing."""
    try:
        return os.read(fd, READ_BYTES)
    except (BlockingIOError, InterruptedError):
        return None
    except OSError:
        return b""


def write_ready(writer: Writer, connection: Connection) -> bool:
    """Write what the peer takes without blocking.  False if it reads no more."""
    outbox = connection.outbox
    while outbox.size_bytes:
        try:
            outbox.written(writer.write(outbox.peek()))
        except (BlockingIOError, InterruptedError):
            return True
        except OSError:
            return False
    return True


def is_readable(fd: int) -> bool:
    return bool(select.select([fd], [], [], 0)[0])
