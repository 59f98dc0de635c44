"""Tasks that run handlers: a few that stay, because to make a task costs more than most calls.

Calls wait in one queue, in the order in which they came.  A member serves what waits until
nothing does, then waits for the bell.  Every ``TURN`` calls it lets the event loop go on, so that
no more than ``MAX_MEMBERS * TURN`` handlers that never wait keep the next message from being read.

A member's calls share one cancel scope, one after the other: only the call that is being served
can be cancelled, so the scope is renewed after a cancel and not for each call.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memrpc.protocol.calls import Call
from memrpc.server.batches import Collector

if TYPE_CHECKING:
    import anyio
    from anyio.abc import TaskGroup

MAX_MEMBERS: Final = 64
TURN: Final = 8
CALL_BYTES: Final = 768  # what a waiting call takes beside the text of its line


@dataclass(slots=True, eq=False)
class Active:
    """A call that has not been answered, and what its answer goes to."""

    call: Call
    weight_bytes: int
    """What it costs to let this call wait."""
    collector: Collector | None
    scope: anyio.CancelScope | None = None


class Crew:
    """``serve`` must not raise; what is added before ``begin`` waits."""

    def __init__(self, serve: Callable[[Active], Awaitable[None]]) -> None:
        self._serve = serve
        self._tasks: TaskGroup | None = None
        self._waiting: deque[Active] = deque()
        self._bells: list[anyio.Event] = []  # of the members that have nothing to do
        self._members = 0
        self._served = 0
        self.waiting_bytes = 0

    @property
    def is_wanted(self) -> bool:
        """True while calls wait."""
        return bool(self._waiting)

    def begin(self, tasks: TaskGroup) -> None:
        """Work in this group from now on."""
        self._tasks = tasks
        for _ in self._waiting:
            self._alert()

    def add(self, active: Active) -> None:
        self._waiting.append(active)
        self.waiting_bytes += active.weight_bytes
        self._alert()

    def _alert(self) -> None:
        """Let one more member look at the queue, unless all are busy."""
        if self._bells:
            self._bells.pop().set()
        elif self._tasks is not None and self._members < MAX_MEMBERS:
            self._members += 1
            self._tasks.start_soon(self._work)

    async def _work(self) -> None:
        """Serve for good.  A cancel ends the call at hand and this scope, never the member."""
        from anyio import CancelScope, Event

        while True:
            with CancelScope() as scope:
                while not scope.cancel_called:
                    if self._waiting:
                        await self._serve_next(scope)
                    else:
                        bell = Event()
                        self._bells.append(bell)
                        await bell.wait()

    async def _serve_next(self, scope: anyio.CancelScope) -> None:
        active = self._waiting.popleft()
        self.waiting_bytes -= active.weight_bytes
        active.scope = scope
        await self._serve(active)
        self._served += 1
        if self._served % TURN == 0:
            await self._let_others_run()

    async def _let_others_run(self) -> None:
        from anyio.lowlevel import checkpoint

        await checkpoint()
