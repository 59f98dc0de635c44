"""Errands: work that leaves the event loop for a thread and can be called back at any moment.

A model takes tens of milliseconds for a batch and an endpoint any time at all.  Whoever waits for
one and is cancelled goes on at once; the errand is told, stops at its next look, and what it had
in hand is dropped.  Nothing that an errand does is an effect, so nobody needs to wait for its end.
The threads are daemons: a process that ends does not wait for an endpoint that never answers.
"""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Abandoned(Exception):
    """Nobody waits for this errand any more."""


class Leash:
    """The way to call an errand back: a flag to look at, and what to do at once."""

    __slots__ = ("_at_once", "_is_wanted", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_wanted = True
        self._at_once: Callable[[], None] | None = None

    def checkpoint(self) -> None:
        """Go on only if somebody still waits.

        Raises Abandoned.
        """
        if not self._is_wanted:
            raise Abandoned

    def at_once(self, action: Callable[[], None]) -> None:
        """Do ``action``, from another thread, when the errand is called back; even if it was."""
        with self._lock:
            self._at_once = action
            is_late = not self._is_wanted
        if is_late:
            action()

    def abandon(self) -> None:
        """Call the errand back."""
        with self._lock:
            self._is_wanted = False
            action = self._at_once
        if action is not None:
            action()


class _Errand(Generic[T]):
    """One function on one thread, and what became of it."""

    __slots__ = ("_done", "_function", "error", "leash", "result")

    def __init__(self, function: Callable[[Leash], T], done: Callable[[], object]) -> None:
        self._function = function
        self._done = done
        self.leash = Leash()
        self.result: T | None = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self._function(self.leash)
        except BaseException as error:  # noqa: BLE001 -- carried to the caller, who raises it
            self.error = error
        with contextlib.suppress(RuntimeError):  # a closed event loop: nobody waits any more
            self._done()

    def outcome(self) -> T:
        error, self.error = self.error, None
        if error is not None:
            raise error
        return cast(T, self.result)


async def run(function: Callable[[Leash], T]) -> T:
    """Return ``function(leash)`` of a thread of its own; a cancel does not wait for it."""
    import anyio
    from anyio.lowlevel import checkpoint_if_cancelled, current_token

    await checkpoint_if_cancelled()
    loop: Any = current_token().native_token
    soon = (
        loop.call_soon_threadsafe if hasattr(loop, "call_soon_threadsafe") else loop.run_sync_soon
    )
    settled = anyio.Event()
    errand = _Errand(function, lambda: soon(settled.set))
    threading.Thread(target=errand.run, name="memrpc-errand", daemon=True).start()
    try:
        await settled.wait()
    except BaseException:
        errand.leash.abandon()
        raise
    return errand.outcome()
