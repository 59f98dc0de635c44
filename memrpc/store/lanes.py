"""Lanes: SQLite connections, each on a thread of its own, that never outlive their callers.

A lane runs plain functions of a connection.  A caller waits for its job from an event loop
(``run``) or from a thread (``call``).  When the caller is cancelled, its job is *stopped* and
only then does the caller go on: no work survives the scope that asked for it.  A job that waits
in the queue is marked and never starts; ``lane_thread`` tells how a running one is stopped.
"""

from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING, Any, Final, TypeVar

import anyio
from anyio.lowlevel import checkpoint_if_cancelled, current_token

from memrpc.store.errors import Unavailable
from memrpc.store.lane_thread import (
    Connector,
    Job,
    JobCancelled,
    Patience,
    Worker,
    checkpoint,
    no_waiting,
    seal,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

__all__ = ["Connector", "JobCancelled", "Lane", "Patience", "checkpoint", "no_waiting", "seal"]

T = TypeVar("T")

# An interrupt between two statements is forgotten by SQLite, so it is repeated until the job has
# settled.
INTERRUPT_EVERY_S: Final = 0.002


class Lane:
    """A queue of jobs and the workers that run them: one, or up to ``width`` at a time.

    Threads start and connections open with the first job that needs them.
    """

    def __init__(
        self, name: str, connector: Connector, patience: Patience, *, width: int = 1
    ) -> None:
        self._name = name
        self._connector = connector
        self._patience = patience
        self._width = width
        self._jobs: queue.SimpleQueue[Job[Any] | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._workers: list[Worker] = []
        self._free = 0  # workers less jobs queued or running
        self._is_closed = False

    async def run(self, function: Callable[[apsw.Connection], T], *, is_brief: bool = False) -> T:
        """Run ``function`` on the lane and return its result, from an event loop.

        When the caller is cancelled, the job is stopped and settled before the cancellation
        continues; what it has committed stays.  One that ``is_brief`` is attempted on the loop's
        own thread if the lane is idle, where no cancel can come in between; it may therefore be
        run twice, the first time without effect.
        """
        await checkpoint_if_cancelled()
        if is_brief and (done := self._attempt(function)) is not None:
            return done.outcome()
        settled = anyio.Event()
        call_soon = loop_call_soon()
        job = Job(function, lambda: call_soon(settled.set))
        self._submit(job)
        try:
            await settled.wait()
        except BaseException:
            with anyio.CancelScope(shield=True):
                while not settled.is_set():
                    job.cancel()
                    with anyio.move_on_after(INTERRUPT_EVERY_S):
                        await settled.wait()
            raise
        return job.outcome()

    def _attempt(self, function: Callable[[apsw.Connection], T]) -> Job[T] | None:
        """Run ``function`` on this thread unless others come first or it takes long."""
        return self._workers[0].attempt(function) if self._free > 0 and self._workers else None

    def call(self, function: Callable[[apsw.Connection], T]) -> T:
        """Run ``function`` on the lane and return its result, from any thread but the lane's.

        What ends the wait, such as KeyboardInterrupt, stops and settles the job first.
        """
        settled = threading.Event()
        job = Job(function, settled.set)
        self._submit(job)
        try:
            settled.wait()
        except BaseException:
            job.cancel()
            while not settled.wait(INTERRUPT_EVERY_S):
                job.cancel()
            raise
        return job.outcome()

    @property
    def is_idle(self) -> bool:
        """Say whether no job runs or waits."""
        return self._free == len(self._workers)

    def close(self) -> None:
        """Finish the queue, close the connections and join the threads."""
        with self._lock:
            self._is_closed = True
            workers, self._workers = self._workers, []
        for _ in workers:
            self._jobs.put(None)
        for worker in workers:
            worker.thread.join()

    def release_worker(self) -> None:
        with self._lock:
            self._free += 1

    def _submit(self, job: Job[Any]) -> None:
        with self._lock:
            if self._is_closed:
                raise Unavailable("The database is being closed; try again with a new session.")
            self._jobs.put(job)
            self._free -= 1
            if self._free < 0 and len(self._workers) < self._width:
                self._free += 1
                self._workers.append(self._new_worker())

    def _new_worker(self) -> Worker:
        name = f"memrpc-{self._name}-{len(self._workers)}"
        return Worker(name, self._jobs, self._connector, self._patience, self.release_worker)


def loop_call_soon() -> Callable[[Callable[[], None]], object]:
    """Return the running loop's way to be called by a job without making the job wait.

    ``anyio.from_thread.run_sync`` waits for the loop, which may itself be joining this lane.  On
    the loop's own thread, where a brief job may run, the call is made at once, or it would come
    after the job's answer.
    """
    loop: Any = current_token().native_token
    scheduler: Callable[[Callable[[], None]], object] = (
        loop.call_soon_threadsafe if hasattr(loop, "call_soon_threadsafe") else loop.run_sync_soon
    )
    own = threading.get_ident()
    return lambda told: told() if threading.get_ident() == own else scheduler(told)
