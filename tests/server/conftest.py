"""Async tests here run under asyncio, which is the loop that the server runs under."""

from __future__ import annotations

import pytest


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
