"""Watch the log of changes for whoever has subscribed, this process's own writes included.

The file's version is polled, which costs microseconds and waits for nothing; only when it differs
are the changes since the last look read.  Nothing runs while nobody listens.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import anyio

from memrpc.store import changes
from memrpc.store.database import Database

POLL_S: Final = 0.1


async def watch(database: Callable[[], Database], tell: Callable[[str], None]) -> None:
    """Tell each topic that changes from now on, until cancelled."""
    opened = database()
    last = await opened.read(changes.last)
    version = await opened.data_version()
    while True:
        await anyio.sleep(POLL_S)
        current = await opened.data_version()
        if current == version:
            continue
        version = current
        for change in await opened.read(partial(changes.since, seq=last)):
            tell(change.topic)
            last = change.seq
