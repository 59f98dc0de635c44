"""What the event loop and the first call need, imported in steps of a few milliseconds each.

Messages are answered between the steps; see ``server/opening.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final


def _import(name: str) -> object:
    from importlib import import_module

    return import_module(name)


WARM_UP: Final[tuple[Callable[[], object], ...]] = tuple(
    partial(_import, name)
    for name in (
        "selectors",
        "ssl",
        "asyncio",
        "anyio",
        "anyio._backends._asyncio",
        "memrpc.server.driver",
        "apsw",
        "memrpc.store.database",
        "memrpc.workers.runner",
        "memrpc.workers.embedding",
        "memrpc.recall.text",
        "memrpc.archive.stated_dates",
        "memrpc.archive.answers",
        "memrpc.surface.tools.archive.memory_record",
        "memrpc.surface.tools.archive.memory_recall",
    )
)
