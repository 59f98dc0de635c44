"""Tasks that run handlers: a few that stay, because to make a task costs more than most calls.

Calls wait in one queue, in the order in which they came.  A member serves what waits until
nothing does, then waits for its bell.  Whoever takes a call while others wait rings for one more
member, which finds them if the call has to wait for something.  Every ``TURN`` calls a member lets
the event loop go on, and no other begins meanwhile: no more than ``TURN`` handlers that never wait
keep the next message from being read.

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
        self._is_alerted = False  # until the member that was alerted looks at the queue
        self._yielding = 0  # members that go on as soon as the loop has had its turn
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
        if self._waiting:
            self._alert()

    def add(self, active: Active) -> None:
        self._waiting.append(active)
        self.waiting_bytes += active.weight_bytes
        self._alert()

    def _alert(self) -> None:
        """Let one more member look at the queue, unless one is about to or all are busy."""
        if self._is_alerted:
            return
        if self._bells:
            self._is_alerted = True
            self._bells.pop().set()
        elif self._tasks is not None and self._members < MAX_MEMBERS:
            self._is_alerted = True
            self._members += 1
            self._tasks.start_soon(self._work)

    async def _work(self) -> None:
        """Serve for good.  A cancel ends the call at hand and this scope, never the member."""
        from anyio import CancelScope, Event

        is_needed = self._is_needed()
        while True:
            with CancelScope() as scope:
                while not scope.cancel_called:
                    if self._waiting and is_needed:
                        await self._serve_next(scope)
                    else:
                        bell = Event()
                        self._bells.append(bell)
                        await bell.wait()
                        is_needed = self._is_needed()

    def _is_needed(self) -> bool:
        """Say whether the one who was alerted is to serve: not before those who go on anyway."""
        self._is_alerted = False
        return not self._yielding

    async def _serve_next(self, scope: anyio.CancelScope) -> None:
        active = self._waiting.popleft()
        if self._waiting:
            self._alert()
        self.waiting_bytes -= active.weight_bytes
        active.scope = scope
        await self._serve(active)
        self._served += 1
        if self._served % TURN == 0:
            await self._let_others_run()

    async def _let_others_run(self) -> None:
        from anyio.lowlevel import checkpoint

        self._yielding += 1
        try:
            await checkpoint()
        finally:
            self._yielding -= 1
