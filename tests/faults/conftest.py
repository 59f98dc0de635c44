"""Spawned fixture servers, and the two ways to open a session with one.

A module that says ``SHARES_A_PROCESS = True`` lets its tests follow each other in one process, as
long as nothing is open in it: each begins with a handshake of its own, which resets the session.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.oracle import Oracle
from tests.peer import Peer


@pytest.fixture
def peer() -> Iterator[Peer]:
    with Peer() as spawned:
        yield spawned


class Shared:
    """A process that is replaced when a test has left something open in it."""

    def __init__(self) -> None:
        self._peer: Peer | None = None

    def fresh(self) -> Peer:
        if self._peer is not None and self._peer.oracle.open:
            self.close()
        if self._peer is None or self._peer.process.poll() is not None:
            self.close()
            self._peer = Peer()
        self._peer.oracle = Oracle()
        self._peer.notices.clear()
        self._peer.stderr.clear()
        return self._peer

    def close(self) -> None:
        if self._peer is not None:
            self._peer.__exit__(None, None, None)
        self._peer = None


@pytest.fixture(scope="module")
def shared() -> Iterator[Shared]:
    holder = Shared()
    yield holder
    holder.close()


@pytest.fixture
def session(request: pytest.FixtureRequest, shared: Shared) -> Peer:
    """A server with a 2025-11-25 session open."""
    shares = getattr(request.module, "SHARES_A_PROCESS", False)
    found = shared.fresh() if shares else request.getfixturevalue("peer")
    found.handshake("2025-11-25")
    return found
