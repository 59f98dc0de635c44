"""The second stage of serving: the event loop, its pipes, and an end that always comes."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import anyio
from anyio import CancelScope, Event, create_task_group

from memrpc.server.pumps import Pump, make_pump
from memrpc.server.stdio import DRAIN_S, GRACE_S, Wire

if TYPE_CHECKING:
    from memrpc.server.connection import Connection

STOPPING: Final = tuple(
    getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)
)


class _Stop:
    """Why serving ends: the end of input (0) or a signal (128 + its number).

    ``urgent`` is set when nothing is left to wait for: every call is settled, or a signal came.
    """

    def __init__(self) -> None:
        self.event = Event()
        self.urgent = Event()
        self.code = 0

    def request(self, code: int = 0, *, urgent: bool = False) -> None:
        self.code = self.code or code
        self.event.set()
        if urgent:
            self.urgent.set()


async def serve(connection: Connection, wire: Wire, on_stop: Callable[[int], None]) -> int:
    """Serve until the input ends, the output breaks or a signal comes; the exit code.

    ``on_stop`` is told the code when the end begins.
    """
    stop = _Stop()
    pump = make_pump(connection, wire, stop.request)
    async with create_task_group() as tasks:
        tasks.start_soon(_watch_signals, stop)
        connection.begin(tasks)
        pump.start()
        await stop.event.wait()
        on_stop(stop.code)
        await _wind_up(connection, pump, stop)
        tasks.cancel_scope.cancel()
    pump.stop()
    return stop.code


async def _wind_up(connection: Connection, pump: Pump, stop: _Stop) -> None:
    """Let accepted calls finish and answers leave, each for a while."""
    with anyio.move_on_after(GRACE_S + DRAIN_S) as patience:
        connection.when_idle(stop.urgent.set)
        with anyio.move_on_after(GRACE_S):
            await stop.urgent.wait()
        connection.close()
        if stop.code:
            patience.deadline = min(patience.deadline, anyio.current_time() + DRAIN_S)
        await pump.drain()


async def _watch_signals(stop: _Stop) -> None:
    try:
        with anyio.open_signal_receiver(*STOPPING) as received:
            async for number in received:
                stop.request(128 + int(number), urgent=True)
    except NotImplementedError:
        # Windows' event loop takes no signal handlers: there the default action ends the process.
        with CancelScope():
            await anyio.sleep_forever()
