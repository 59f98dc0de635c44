"""Keeping code indexes fresh without being asked, where the setting ``code_index`` wants it.

``start`` indexes the folder that the server stands in, once, when the server starts.  ``watch``
does that too, and indexes a folder again soon after its files have changed; so it does with every
other folder that this server has indexed.  Changes that come in a burst make one run, and those
that come during a run make one more.  What refuses a run is logged, and the next change tries
again.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio

from memrpc.codebase.roots import is_folder, is_too_wide
from memrpc.store.errors import DomainError

if TYPE_CHECKING:
    from anyio.abc import TaskGroup
    from watchfiles import Change

    from memrpc.store.json_column import JSON
    from memrpc.workers.indexing import IndexOrder

QUIET_MS: Final = 300
"""A burst of changes ends when nothing has changed for so long."""
BURST_MS: Final = 2_000
TICK_MS: Final = 1_000
_OURS: Final = (".db", ".db-wal", ".db-shm")

Run = Callable[["IndexOrder", Callable[[int, int], None]], Awaitable[Mapping[str, "JSON"]]]


class Freshness:
    """Runs indexes by itself; ``run`` is what indexes."""

    def __init__(
        self, run: Run, log: Callable[..., None], *, at_start: IndexOrder | None, watches: bool
    ) -> None:
        self._index = run
        self._log = log
        self._at_start = at_start
        self._watches = watches
        self._send, self._receive = anyio.create_memory_object_stream["IndexOrder"](math.inf)
        self._watched: set[str] = set()

    def note(self, order: IndexOrder) -> None:
        """A folder has been indexed: watch it from now on, if folders are watched."""
        if self._watches and not (order.includes or order.excludes):
            self._send.send_nowait(replace(order, force=False))

    async def serve(self) -> None:
        """Work until cancelled."""
        async with self._send, self._receive, anyio.create_task_group() as tasks:
            if self._at_start is not None:
                tasks.start_soon(self._begin, self._at_start)
            async for order in self._receive:
                self._start(tasks, order)

    def _start(self, tasks: TaskGroup, order: IndexOrder) -> None:
        if order.root not in self._watched:
            self._watched.add(order.root)
            tasks.start_soon(self._watch, order)

    async def _begin(self, order: IndexOrder) -> None:
        await self._refresh(order)
        self.note(order)

    async def _watch(self, order: IndexOrder) -> None:
        """Watch while the folder is there; its next run begins to watch it anew."""
        reason = "The folder is gone."
        try:
            while is_folder(order.root):
                await self._follow(order)
        except (OSError, RuntimeError) as error:  # It went just now, or no more can be watched.
            reason = str(error)
        finally:
            self._watched.discard(order.root)
        self._log("warning", "watch_ended", repo=order.repo, reason=reason)

    async def _follow(self, order: IndexOrder) -> None:
        """Until the folder goes; another in its place, as a new clone is, is watched anew."""
        from watchfiles import Change, DefaultFilter, awatch

        usual = DefaultFilter()

        def is_wanted(change: Change, path: str) -> bool:
            return usual(change, path) and not path.endswith(_OURS)

        bursts = awatch(
            order.root,
            watch_filter=is_wanted,
            debounce=BURST_MS,
            step=QUIET_MS,
            rust_timeout=TICK_MS,
            yield_on_timeout=True,
        )
        is_first = True  # Something may have changed before the watch began.
        async for changes in bursts:
            if changes or is_first:
                is_first = False
                await self._refresh(order)
            if (Change.deleted, order.root) in changes or not is_folder(order.root):
                return

    async def _refresh(self, order: IndexOrder) -> None:
        try:
            await self._index(order, _unheard)
        except (DomainError, OSError) as error:
            self._log("warning", "index_refused", repo=order.repo, reason=str(error))


def _unheard(_: int, __: int) -> None:
    """Nobody has asked for progress."""


def order_of(
    folders: Iterable[Path | None],
    home: Path | None,
    checkout: Callable[[Path], tuple[str, str, bool] | None],
) -> IndexOrder | None:
    """The order for the first of ``folders`` that may be indexed unasked; None if none may.

    ``checkout`` tells a folder's owner, its name, and whether git says so.
    """
    from memrpc.workers.indexing import IndexOrder

    for folder in folders:
        if folder is not None and not is_too_wide(folder, home):
            found = checkout(folder)
            return IndexOrder(found[0], found[1], str(folder)) if found else None
    return None
