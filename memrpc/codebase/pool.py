"""Parsing processes that can be killed: one that takes too long over a file is replaced.

Each process has a few tasks in its pipe and answers them in order, so the first unanswered task is
the one that it works on.  A thread for each process reads its answers; all meet in one queue.
"""

from __future__ import annotations

import contextlib
import queue
import signal
import subprocess
import sys
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Final

from memrpc.codebase.parsing import Order, Outcome, Task, read_frames, write_frame

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

BATCH: Final = 16
TASKS_AHEAD: Final = 48
"""A process is given more when it has fewer than this."""
PROGRAM: Final = (sys.executable, "-m", "memrpc.codebase.parsing_process")
_ALARMED: Final = -getattr(signal, "SIGALRM", 0) or None
"""How a process ends that its own alarm has stopped."""
_TICK_S: Final = 0.2


@dataclass(slots=True, eq=False)
class _Process:
    """One parsing process; ``tasks`` are those that it has not answered."""

    child: subprocess.Popen[bytes]
    tasks: deque[Task] = field(default_factory=deque)
    busy_since: float = 0.0

    @property
    def pipe(self) -> IO[bytes]:
        assert self.child.stdin is not None  # noqa: S101 -- it was made with a pipe
        return self.child.stdin


class Pool:
    """Runs tasks in ``count`` processes; to be closed."""

    def __init__(self, order: Order, count: int, monotonic: Callable[[], float]) -> None:
        self._order = order
        self._monotonic = monotonic
        self._answers: queue.SimpleQueue[tuple[_Process, Outcome | None]] = queue.SimpleQueue()
        self._processes = [self._start() for _ in range(count)]
        self._ended = False

    def run(self, tasks: Iterable[Task]) -> Iterator[Outcome | None]:
        """The outcome of each task, as they come; None when a moment has passed without any."""
        waiting = deque(tasks)
        left = len(waiting)
        for process in self._processes:
            self._feed(process, waiting)
        while left:
            try:
                process, outcome = self._answers.get(timeout=_TICK_S)
            except queue.Empty:
                self._kill_late_ones()
                yield None
                continue
            if outcome is None:
                outcome = self._replace(process, waiting)
                if outcome is None:
                    continue
            else:
                process.tasks.popleft()
                process.busy_since = self._monotonic()
                self._feed(process, waiting)
            left -= 1
            yield outcome

    def close(self) -> None:
        """End every process at once."""
        self._ended = True
        for process in self._processes:
            process.child.kill()
        for process in self._processes:
            process.child.wait()
            _close(process.pipe)

    def _start(self) -> _Process:
        child = subprocess.Popen(  # noqa: S603 -- our own program
            PROGRAM,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        process = _Process(child)
        with contextlib.suppress(BrokenPipeError):  # Its end is noticed by its listener.
            write_frame(process.pipe, self._order)
        threading.Thread(target=self._listen, args=(process,), daemon=True).start()
        return process

    def _listen(self, process: _Process) -> None:
        assert process.child.stdout is not None  # noqa: S101 -- it was made with a pipe
        try:
            with process.child.stdout as answers:
                for outcome in read_frames(answers):
                    self._answers.put((process, outcome))
        finally:
            self._answers.put((process, None))

    def _feed(self, process: _Process, waiting: deque[Task]) -> None:
        if len(process.tasks) >= TASKS_AHEAD or not waiting:
            return
        batch = [waiting.popleft() for _ in range(min(BATCH, len(waiting)))]
        if not process.tasks:
            process.busy_since = self._monotonic()
        process.tasks.extend(batch)
        with contextlib.suppress(BrokenPipeError):  # Its end is noticed by its listener.
            write_frame(process.pipe, batch)

    def _kill_late_ones(self) -> None:
        limit = self._order.time_limit_s
        for process in self._processes:
            if process.tasks and self._monotonic() - process.busy_since > limit:
                process.child.kill()

    def _replace(self, process: _Process, waiting: deque[Task]) -> Outcome | None:
        """Start another one for a process that ended, and say what became of its task."""
        if self._ended:
            return None
        code = process.child.wait()
        is_late = self._monotonic() - process.busy_since > self._order.time_limit_s
        is_late = is_late or code == _ALARMED
        _close(process.pipe)
        lost = process.tasks.popleft() if process.tasks else None
        waiting.extendleft(reversed(process.tasks))
        self._processes.remove(process)
        successor = self._start()
        self._processes.append(successor)
        self._feed(successor, waiting)
        if lost is None:
            return None
        return Outcome(lost, "failed", problem="timeout" if is_late else f"crash ({code})")


def _close(pipe: IO[bytes]) -> None:
    """Close a pipe whose reader may be gone with what was written still in the buffer."""
    with contextlib.suppress(OSError):
        pipe.close()
