"""What the engine needs from outside, and gets from whoever composes the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from memrpc.wire.messages import JSON


class Log(Protocol):
    """One structured line on stderr; never content, never the environment, never blocking."""

    def __call__(self, level: str, event: str, /, **fields: JSON) -> None: ...


class Secrets(Protocol):
    """The signing key for state that travels through the client; shared by sibling processes."""

    async def signing_key(self) -> bytes: ...


class Ports(NamedTuple):
    """Clocks, randomness and the log."""

    log: Log
    monotonic: Callable[[], float]
    now_s: Callable[[], float]
    new_id: Callable[[], str]
