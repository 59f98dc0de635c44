"""The purge that every forget owes, and when it is done.

It is due a quiet second after the first forget that waits for it, and the runner does it then.
Whoever forgets one record is spared that wait: where the size of the file says that a purge is
quick, the ``Eraser`` does it ahead of time while the caller waits for a moment.  Forgets that come
together share one, and none follows another within a second: of many forgets in a row, those after
the first are left to the runner, or each would wait until the whole file has been written anew.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

import anyio
import apsw

from memrpc.recall.index import scrub
from memrpc.store import jobs, purge
from memrpc.store.database import Database
from memrpc.store.errors import DomainError
from memrpc.store.jobs import Lease
from memrpc.store.purge import Erasure

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

RETRY_US: Final = 2_000_000
PATIENCE_S: Final = 0.2
REST_S: Final = 1.0
AT_EXIT_S: Final = 0.5
_PAUSES_S: Final = (0, 0.005, 0.01, 0.02, 0.04, 0.08)
"""Before each attempt: most who are in the way read for some milliseconds, in this process."""


@dataclass(frozen=True, slots=True)
class Ports:
    """Clock, the runner that does what is left, and log."""

    now_us: Callable[[], int]
    work_is_due: Callable[[], None]
    log: Callable[..., None]


class Eraser:
    """Purges at once what was forgotten just now; its task group outlives each caller."""

    def __init__(self, database: Callable[[], Database], owner: str, ports: Ports) -> None:
        self._database = database
        self._owner = owner
        self._ports = ports
        self._tasks: TaskGroup | None = None
        self._turn: anyio.Event | None = None
        self._rests_until = 0.0

    async def run(self) -> None:
        """Purge for whoever asks, until cancelled."""
        async with anyio.create_task_group() as self._tasks:
            await anyio.sleep_forever()

    async def erase(self) -> bool:
        """Have the owed purge done and say whether it is, after ``PATIENCE_S`` at most.

        A caller that is cancelled loses the answer and not the purge.
        """
        if self._turn is None and anyio.current_time() >= self._rests_until:
            self._begin()
        if self._turn is None:
            self._ports.work_is_due()
        else:
            with anyio.move_on_after(PATIENCE_S):
                await self._turn.wait()
        try:
            return not await self._database().read(purge.is_owed)
        except DomainError:  # What is forgotten is forgotten, whatever has become of the file.
            return False

    def _begin(self) -> None:
        if self._tasks is not None:
            self._turn = anyio.Event()
            self._tasks.start_soon(self._take, self._turn)

    async def _take(self, turn: anyio.Event) -> None:
        """Purge; what that leaves undone is the runner's."""
        try:
            await self._purge()
        except Exception as error:  # noqa: BLE001 -- the purge's boundary
            self._ports.log("warning", "purge_failed", reason=type(error).__name__)
        self._turn = None
        self._rests_until = anyio.current_time() + REST_S
        turn.set()
        self._ports.work_is_due()

    async def _purge(self) -> None:
        """Try a few times whether nobody is in the way, if the purge itself is quick."""
        database = self._database()
        if await database.read(purge.expected_s) > PATIENCE_S:
            return
        attempt = partial(purge_ahead, owner=self._owner, now_us=self._ports.now_us)
        for pause_s in _PAUSES_S:
            await anyio.sleep(pause_s)
            if await database.maintain(attempt) is Erasure.COMPLETE:
                return


async def run_purge(lease: Lease, database: Database, now_us: Callable[[], int]) -> None:
    """Purge, or put the job off while another connection is in the way."""
    outcome = await database.maintain(lambda db: purge.purge(db, scrub=scrub))
    await database.write(lambda db: _settle(db, lease, outcome, now_us()))


def purge_ahead(db: apsw.Connection, owner: str, now_us: Callable[[], int]) -> Erasure:
    """Do an owed purge before it is due; ``db`` is outside a transaction.

    One that another process is at is left to it, and BLOCKED as long as it lasts.
    """
    now = now_us()
    jobs.hasten(db, purge.JOB_KIND, purge.JOB_SUBJECT, now=now)
    lease = jobs.claim(db, [purge.JOB_KIND], owner=owner, now=now)
    if lease is None:
        return Erasure.BLOCKED if purge.is_owed(db) else Erasure.COMPLETE
    try:
        outcome = purge.purge(db, scrub=scrub)
    except apsw.Error as error:
        with contextlib.suppress(apsw.Error):  # Where nothing can be written the lease runs out.
            jobs.put_off(db, lease, due=now + RETRY_US, reason=type(error).__name__)
        raise
    _settle(db, lease, outcome, now_us())
    return outcome


def _settle(db: apsw.Connection, lease: Lease, outcome: Erasure, now: int) -> None:
    if outcome is Erasure.COMPLETE:
        jobs.complete(db, lease, now=now)
    else:
        jobs.put_off(db, lease, due=now + RETRY_US, reason="another reader is open")


def purge_at_exit(database: Database, owner: str, now_us: Callable[[], int]) -> None:
    """Run an owed purge before the process ends, if the file's size says that it fits."""
    if database.read_blocking(lambda db: purge.is_owed(db) and purge.expected_s(db) <= AT_EXIT_S):
        database.maintain_blocking(lambda db: purge_ahead(db, owner, now_us))
