"""A spawned fixture server for each test, and the two ways to open a session with it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.peer import Peer


@pytest.fixture
def peer() -> Iterator[Peer]:
    with Peer() as spawned:
        yield spawned


@pytest.fixture
def session(peer: Peer) -> Peer:
    """The same, with a 2025-11-25 session open."""
    peer.handshake("2025-11-25")
    return peer
