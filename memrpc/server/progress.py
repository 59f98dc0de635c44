"""Progress notifications of one call: rising, paced, and never after its answer.

A burst goes out as it comes; after that the newest value waits until the next is due, or until
the answer, before which the last value is always sent.  Source: Progress, in every revision.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from memrpc.wire.messages import JSON

BURST: Final = 20.0
PER_SECOND: Final = 20.0
_INFINITY: Final = float("inf")


class Progress:
    """Feed it values; ``send`` gets the params that may leave."""

    def __init__(
        self, token: JSON, send: Callable[[dict[str, JSON]], None], monotonic: Callable[[], float]
    ) -> None:
        self._token = token
        self._send = send
        self._monotonic = monotonic
        self._highest = -_INFINITY
        self._waiting: dict[str, JSON] | None = None
        self._allowance = BURST
        self._refilled_at = monotonic()

    def report(self, done: float, total: float | None, message: str | None) -> None:
        """Note a value; one that does not rise is dropped, and so is what is no finite number."""
        if not self._highest < done < _INFINITY:
            return
        self._highest = done
        self._waiting = {"progressToken": self._token, "progress": done}
        if total is not None and -_INFINITY < total < _INFINITY:
            self._waiting["total"] = total
        if message is not None:
            self._waiting["message"] = message
        if self._may_send():
            self.flush()

    def flush(self) -> None:
        """Send what waits."""
        if self._waiting is not None:
            self._send(self._waiting)
            self._waiting = None

    def _may_send(self) -> bool:
        now = self._monotonic()
        gained = (now - self._refilled_at) * PER_SECOND
        self._allowance = min(BURST, self._allowance + gained)
        self._refilled_at = now
        if self._allowance < 1:
            return False
        self._allowance -= 1
        return True
