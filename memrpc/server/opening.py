"""The first stage of serving: answer in place while the event loop is still being imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from memrpc.server.stdio import (
    Wire,
    Writer,
    can_poll,
    is_readable,
    open_writer,
    read_ready,
    write_ready,
)

if TYPE_CHECKING:
    from memrpc.server.connection import Connection


def serve_opening(
    connection: Connection, wire: Wire, warm_up: tuple[Callable[[], object], ...]
) -> None:
    """Take what has come before each step of ``warm_up``, and after the last.

    It leaves early when a call needs a handler or output cannot leave at once; it does not read
    the end of input, which the second stage will find again.
    """
    writer = open_writer(wire.writer)
    reader = wire.reader
    if writer is None or not can_poll(reader):
        return
    for step in (*warm_up, _nothing):
        if not _serve_ready(connection, reader, writer):
            break
        step()
    writer.close()


def _nothing() -> None:
    """The step after the last."""


def _serve_ready(connection: Connection, reader: int, writer: Writer) -> bool:
    """Serve what has arrived.  False once the second stage must take over."""
    while is_readable(reader):
        chunk = read_ready(reader)
        if not chunk:
            return False
        connection.feed(chunk)
        if not write_ready(writer, connection) or connection.outbox.size_bytes:
            return False
        if connection.needs_loop:
            return False
    return True
