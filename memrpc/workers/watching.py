"""Watch the log of changes for whoever has subscribed, this process's own writes included.

The file's version is polled, which costs microseconds and waits for nothing; only when it differs
are the changes since the last look read.  Nothing runs while nobody listens.

A subscriber is acknowledged before the file has been looked at, and may write at once.  So the
first look goes back to what was noted shortly before the watch began: better to tell of a change
twice than not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

import anyio

from memrpc.store import changes
from memrpc.store.database import Database

POLL_S: Final = 0.1
LOOK_BACK_US: Final = 1_000_000


async def watch(
    database: Callable[[], Database], now_us: Callable[[], int], tell: Callable[[str], None]
) -> None:
    """Tell each topic that changes from now on, until cancelled."""
    begun = now_us() - LOOK_BACK_US
    opened = database()
    last = await opened.read(partial(changes.last_before, instant=begun))
    version = -1
    while True:
        current = await opened.data_version()
        if current != version:
            version = current
            for change in await opened.read(partial(changes.since, seq=last)):
                tell(change.topic)
                last = change.seq
        await anyio.sleep(POLL_S)
