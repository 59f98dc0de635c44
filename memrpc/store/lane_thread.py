"""One thread with one connection: how a job runs, and how it is stopped.

Whichever of these comes first stops a job whose caller has been cancelled:

- ``interrupt()``, which aborts a statement within a fraction of a millisecond, even inside
  FTS5.  It stops whatever runs on the connection, so it is called under the worker's lock and
  only while this job is the worker's current one.
- the busy handler, for a wait for another process's lock, which no interrupt ends.
- ``checkpoint()``, which long Python loops inside a job call between chunks.
- the progress handler, the backstop.

``seal()`` ends all that before a COMMIT: from there on the job takes effect, and a caller that
is cancelled now loses only the answer.  Whatever transaction a job leaves open is rolled back,
behind the same barrier, so that no late interrupt can hit the ROLLBACK.

To hand a job to the thread and its result back costs more than most jobs do.  ``attempt()`` lends
the connection to the caller's own thread instead, for a job that is over in a moment: it finds a
lock taken instead of waiting for it, and what stops a cancelled job stops this one when its time is
up.  It is then as if it had never begun, and it runs in its turn.
"""

from __future__ import annotations

import contextlib
import math
import queue
import threading
import time
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar, cast

import apsw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

PROGRESS_STEPS: Final = 10_000  # steps of SQLite's virtual machine between two looks at the flag
MIN_PAUSE_S: Final = 0.001  # between two attempts at a lock that another process holds
MAX_PAUSE_S: Final = 0.010
IDLE_AFTER_S: Final = 0.25
BRIEF_S: Final = 0.005  # that an attempt may keep its caller's thread

_here = threading.local()


class JobCancelled(BaseException):
    """The job's caller has been cancelled; unwinds the job and goes no further.

    Not an Exception, so that no clause in between takes it for a failure.
    """


def checkpoint() -> None:
    """Stop here if the job that runs on this thread has been cancelled; else do nothing."""
    if (worker := _this_worker()) is not None:
        worker.checkpoint()


def seal() -> None:
    """Stop here if the job has been cancelled, else let nothing stop it from here on."""
    if (worker := _this_worker()) is not None:
        worker.seal()


def _this_worker() -> Worker | None:
    return getattr(_here, "worker", None)


@contextlib.contextmanager
def no_waiting() -> Iterator[None]:
    """Let statements of this thread's lane find a lock taken instead of waiting for it."""
    worker = _this_worker()
    if worker is None:
        yield
        return
    worker.is_patient = False
    try:
        yield
    finally:
        worker.is_patient = True


@dataclass(frozen=True, slots=True)
class Connector:
    """How a lane gets its connections and what it does with them besides the jobs.

    ``open`` takes no lock; ``prepare`` may, because the lane's handlers are set in between.
    ``idle`` runs once after each burst of jobs, ``finish`` before the connection is closed.
    """

    open: Callable[[], apsw.Connection]
    prepare: Callable[[apsw.Connection], None]
    idle: Callable[[apsw.Connection], None] | None = None
    finish: Callable[[apsw.Connection], None] | None = None


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a statement waits for another process's lock, and how it spreads its attempts."""

    timeout_s: float
    jitter: Callable[[], float]  # uniform in [0, 1)


@dataclass(slots=True, eq=False)
class Job(Generic[T]):
    """A function that waits for a worker, and what became of it."""

    function: Callable[[apsw.Connection], T]
    wake: Callable[[], object] = lambda: None
    ends_at: float = math.inf  # by the monotonic clock
    cancelled: bool = False
    worker: Worker | None = None
    result: T | None = None
    error: BaseException | None = None

    def cancel(self) -> None:
        """Stop the job wherever it is; harmless when it is over, so it may be repeated."""
        # The flag comes first: a worker that takes the job at this moment announces itself
        # before it looks at the flag, so one of the two sees the other.
        self.cancelled = True
        if self.worker is not None:
            self.worker.interrupt(self)

    @property
    def is_stopped(self) -> bool:
        """Say whether the job is to go no further."""
        return self.cancelled or time.monotonic() >= self.ends_at

    @property
    def is_final(self) -> bool:
        """Say whether an attempt's error is the job's own, and not of a lock or of its time.

        What a stopped statement becomes on its way up is not told by its class.
        """
        if not isinstance(self.error, Exception | JobCancelled):
            return True
        return not (self.is_stopped or isinstance(self.error, apsw.BusyError))

    def outcome(self) -> T:
        """Return the settled job's result, or raise its error."""
        error, self.error = self.error, None
        if error is None:
            return cast(T, self.result)
        try:
            raise error
        finally:
            del error  # else the frame, its traceback and the error hold each other


class Worker:
    """One thread and its connection, which it lends while it has nothing to do."""

    def __init__(
        self,
        name: str,
        jobs: queue.SimpleQueue[Job[Any] | None],
        connector: Connector,
        patience: Patience,
        release: Callable[[], None],
    ) -> None:
        self._jobs = jobs
        self._connector = connector
        self._patience = patience
        self._release = release
        self._lock = threading.Lock()
        self._turn = threading.Lock()  # held by whoever uses the connection
        self._current: Job[Any] | None = None  # whom an interrupt may hit
        self._connection: apsw.Connection | None = None
        self._stop_waiting = threading.Event()
        self._give_up_at = 0.0
        self._was_lent = False  # since the thread last looked whether there is anything to do
        self.is_patient = True
        self.thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self.thread.start()

    def attempt(self, function: Callable[[apsw.Connection], T]) -> Job[T] | None:
        """Run ``function`` here and now and return it as a settled job, if it proves brief.

        None if the connection is not free, a lock is taken or the time is up.  What it did is then
        undone, and it will run again.
        """
        if not self._turn.acquire(blocking=False):
            return None
        try:
            _here.worker, self.is_patient, self._was_lent = self, False, True
            if self._connection is None:
                return None
            job = Job(function, ends_at=time.monotonic() + BRIEF_S)
            self._perform(job)
        finally:
            _here.worker, self.is_patient = None, True
            self._turn.release()
        return job if job.error is None or job.is_final else None

    def interrupt(self, job: Job[Any]) -> None:
        with self._lock:
            if self._current is job:
                self._stop_waiting.set()
                if self._connection is not None:
                    self._connection.interrupt()

    def checkpoint(self) -> None:
        job = self._current
        if job is not None and job.is_stopped:
            raise JobCancelled

    def seal(self) -> None:
        with self._lock:
            self.checkpoint()
            self._current = None

    def _serve(self) -> None:
        _here.worker = self
        while (job := self._next()) is not None:
            with self._turn:
                self._perform(job)
            self._release()
            with contextlib.suppress(RuntimeError):  # a closed event loop: nobody waits any more
                job.wake()
            del job  # not kept, with its result, until the next one comes
        with self._turn:
            self._tidy(self._connector.finish)
            self._disconnect()

    def _next(self) -> Job[Any] | None:
        """Take the next job, tidying up once if none comes for a while; None ends the thread.

        Whoever is lent the connection meanwhile has one, too.
        """
        is_idle = False
        while not is_idle:
            try:
                return self._jobs.get(timeout=IDLE_AFTER_S)
            except queue.Empty:
                is_idle, self._was_lent = not self._was_lent, False
        with self._turn:
            self._tidy(self._connector.idle)
        return self._jobs.get()

    def _perform(self, job: Job[Any]) -> None:
        with self._lock:
            self._current = job
            if self._stop_waiting.is_set():
                self._stop_waiting.clear()
        job.worker = self
        try:
            self.checkpoint()
            job.result = job.function(self._connect())
        except BaseException as error:  # noqa: BLE001 -- carried to the caller, who raises it
            job.error = error
            _clear_frames(error)
        finally:
            with self._lock:
                self._current = None
            self._leave_transaction()

    def _connect(self) -> apsw.Connection:
        if self._connection is None:
            db = self._connector.open()
            db.set_busy_handler(self._wait_for_lock)
            db.set_progress_handler(self._is_stopped, PROGRESS_STEPS)
            self._connection = db
            try:
                self._connector.prepare(db)
            except BaseException:
                self._disconnect()
                raise
        return self._connection

    def _disconnect(self) -> None:
        with self._lock:
            db, self._connection = self._connection, None
        if db is not None:
            db.close(True)

    def _leave_transaction(self) -> None:
        """Roll back what the job has left open; a connection that cannot is given up."""
        if self._connection is None or not self._connection.in_transaction:
            return
        try:
            self._connection.execute("ROLLBACK").fetchall()
        except apsw.Error:
            self._disconnect()

    def _tidy(self, function: Callable[[apsw.Connection], None] | None) -> None:
        if function is None or self._connection is None:
            return
        with contextlib.suppress(apsw.Error):  # the next job meets it and has somebody to tell
            function(self._connection)

    def _is_stopped(self) -> bool:
        return self._current is not None and self._current.is_stopped

    def _wait_for_lock(self, attempts: int) -> bool:
        """SQLite's busy handler: pause and say whether to try again."""
        if attempts == 0:
            self._give_up_at = time.monotonic() + self._patience.timeout_s
        if not self.is_patient or time.monotonic() >= self._give_up_at:
            return False
        pause_s = MIN_PAUSE_S + (MAX_PAUSE_S - MIN_PAUSE_S) * self._patience.jitter()
        self._stop_waiting.wait(pause_s)
        return not self._is_stopped()


def _clear_frames(error: BaseException) -> None:
    """Drop the locals of the frames that ``error`` went through, and keep the line numbers.

    A cursor among them must die here: on another thread it would meet the connection at work.
    """
    link: BaseException | None = error
    while link is not None:
        traceback.clear_frames(link.__traceback__)
        link = link.__cause__ or link.__context__
