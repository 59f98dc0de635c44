"""Run what the queue owes, for as long as the server lives.

Theory of operation.  The runner sleeps until the earliest job is due, until this process enqueues
one, or for ``IDLE_S`` at most, because another process may have died with its jobs.  It claims
one job at a time under a lease; the lease is kept alive while the job runs, released at shutdown
and expires after a crash, so each job is run by one process and none is lost.  A job's work and
its completion are one transaction wherever the work is one.

The runner opens the database when it is first woken, never at start.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

import anyio

from memrpc.store import jobs
from memrpc.store.database import Database
from memrpc.store.errors import DomainError
from memrpc.store.jobs import Lease

IDLE_S: Final = 30.0
_MICROSECONDS: Final = 1_000_000
_BEATS_A_LEASE: Final = 3
_BACK_OFF_S: Final = 5.0

Work: TypeAlias = Callable[[Lease], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Ports:
    """Clock, randomness and log."""

    now_us: Callable[[], int]
    jitter: Callable[[], float]
    log: Callable[..., None]


class Runner:
    """``kinds`` maps a job's kind to what does it; the work completes its own lease."""

    def __init__(
        self, database: Callable[[], Database], kinds: Mapping[str, Work], owner: str, ports: Ports
    ) -> None:
        self._database = database
        self._kinds = kinds
        self._owner = owner
        self._ports = ports
        self._wake: anyio.Event | None = None
        self._is_due = False

    def work_is_due(self) -> None:
        """A job was enqueued: look now."""
        self._is_due = True
        if self._wake is not None:
            self._wake.set()

    async def run(self) -> None:
        """Work until cancelled.  The first turn waits for ``work_is_due``, come early or late."""
        pause_s = math.inf
        while True:
            self._wake = anyio.Event()
            if not self._is_due:
                with anyio.move_on_after(pause_s):
                    await self._wake.wait()
            self._is_due = False
            pause_s = await self._turn()

    async def _turn(self) -> float:
        """Do everything that is due; the seconds until something is due again."""
        try:
            while (lease := await self._claim()) is not None:
                await self._do(lease)
            due = await self._database().read(lambda db: jobs.next_due(db, self._kinds))
        except DomainError as error:
            self._ports.log("warning", "queue_unavailable", reason=error.message)
            return _BACK_OFF_S
        if due is None:
            return IDLE_S
        return min(IDLE_S, max(0.0, (due - self._ports.now_us()) / _MICROSECONDS))

    async def _claim(self) -> Lease | None:
        now = self._ports.now_us()
        due = await self._database().read(lambda db: jobs.next_due(db, self._kinds))
        if due is None or due > now:
            return None  # Looking takes no lock; claiming does.
        return await self._database().write(
            lambda db: jobs.claim(db, self._kinds, owner=self._owner, now=now)
        )

    async def _do(self, lease: Lease) -> None:
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._keep_alive, lease)
                await self._kinds[lease.kind](lease)
                tasks.cancel_scope.cancel()
        except* Exception as errors:  # noqa: BLE001 -- the job's boundary
            await self._note_failure(lease, errors)

    async def _keep_alive(self, lease: Lease) -> None:
        while True:
            await anyio.sleep(jobs.LEASE_US / _MICROSECONDS / _BEATS_A_LEASE)
            beat = partial(jobs.heartbeat, lease=lease, now=self._ports.now_us())
            await self._database().write(beat)

    async def _note_failure(self, lease: Lease, errors: ExceptionGroup[Exception]) -> None:
        """Put the job off, or let it be if the lease is lost: then it is somebody else's."""
        causes = [error for error in errors.exceptions if not isinstance(error, jobs.LeaseLost)]
        if not causes:
            return
        reason = f"{type(causes[0]).__name__}"
        self._ports.log("warning", "job_failed", kind=lease.kind, reason=reason)
        now, jitter = self._ports.now_us(), self._ports.jitter()
        await self._database().write(
            lambda db: jobs.fail(db, lease, reason, now=now, jitter=jitter)
        )

    def release_blocking(self) -> None:
        """Give back what is leased, at shutdown."""
        now = self._ports.now_us()
        self._database().write_blocking(lambda db: jobs.release(db, self._owner, now=now))
