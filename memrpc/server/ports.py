"""What the engine needs from outside, and gets from whoever composes the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

from memrpc.wire.messages import JSON

if TYPE_CHECKING:
    from memrpc.protocol.tasks import Task


class Log(Protocol):
    """One structured line on stderr; never content, never the environment, never blocking."""

    def __call__(self, level: str, event: str, /, **fields: JSON) -> None: ...


class Secrets(Protocol):
    """The signing key for state that travels through the client; shared by sibling processes."""

    async def signing_key(self) -> bytes: ...


class TaskStore(Protocol):
    """Tasks until they expire; what a call did is durable when it returns."""

    async def add(self, task: Task) -> None: ...

    async def find(self, task_id: str, now_ms: int) -> Task | None:
        """None for one that never was or has expired."""

    async def replace(self, task: Task) -> bool:
        """Put in a task's next version.  False where another change came first."""


class Ports(NamedTuple):
    """Clocks, randomness and the log; with ``traces`` the log hears of each message."""

    log: Log
    monotonic: Callable[[], float]
    now_s: Callable[[], float]
    new_id: Callable[[], str]
    traces: bool = False
