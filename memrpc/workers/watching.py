"""Watch the log of changes for whoever has subscribed, this process's own writes included.

The file's version is polled, which costs microseconds and waits for nothing; only when it differs
are the changes since the last look read.  Where nothing changes for a while it is polled less
often: most hosts list the resources once, and a laptop should sleep meanwhile.  Nothing runs while
nobody listens.  A file that cannot be looked at for now is looked at again later, from where the
last look ended.

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
from memrpc.store.errors import DomainError

POLL_S: Final = 0.1
CALM_LOOKS: Final = 100
"""After so many looks that found nothing comes calm."""
CALM_POLL_S: Final = 0.5
RETRY_S: Final = 1.0
LOOK_BACK_US: Final = 1_000_000


async def watch(
    database: Callable[[], Database], now_us: Callable[[], int], tell: Callable[[str], None]
) -> None:
    """Tell each topic that changes from now on, until cancelled."""
    watcher = _Watcher(database, now_us() - LOOK_BACK_US, tell)
    idle_looks = 0
    while True:
        try:
            idle_looks = 0 if await watcher.look() else idle_looks + 1
            pause_s = POLL_S if idle_looks < CALM_LOOKS else CALM_POLL_S
        except DomainError:
            pause_s = RETRY_S
        await anyio.sleep(pause_s)


class _Watcher:
    """Knows what it has told of: all up to ``_last``, when the file was at ``_version``."""

    def __init__(
        self, database: Callable[[], Database], begun: int, tell: Callable[[str], None]
    ) -> None:
        self._database = database
        self._begun = begun
        self._tell = tell
        self._last: int | None = None
        self._version: int | None = None

    async def look(self) -> bool:
        """Tell what is new, and say whether anything is.  Raises DomainError."""
        database = self._database()
        current = await database.data_version()
        if current == self._version:
            return False
        if self._last is None:
            first = partial(changes.last_before, instant=self._begun)
            self._last = await database.read(first)
        for change in await database.read(partial(changes.since, seq=self._last)):
            self._tell(change.topic)
            self._last = change.seq
        self._version = current
        return True
