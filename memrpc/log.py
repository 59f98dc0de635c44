"""The log: one JSON line a record on stderr, written by a thread that nobody waits for.

A record has a time, a level, an event name and fields.  It holds no content of memories and no
environment.  A host that does not read stderr costs records, never time.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable
from typing import Final

from memrpc.wire.codec import compact
from memrpc.wire.messages import JSON

LEVELS: Final = ("debug", "info", "warning", "error")
_QUEUED: Final = 1_000
_STDERR: Final = 2


class Log:
    """Call it with a level, an event name and fields."""

    def __init__(self, threshold: str, now_s: Callable[[], float] = time.time) -> None:
        self._threshold = LEVELS.index(threshold)
        self._now_s = now_s
        self._lines: queue.Queue[bytes] = queue.Queue(_QUEUED)
        self._thread: threading.Thread | None = None

    def hears(self, level: str) -> bool:
        """True for a level that is written."""
        return LEVELS.index(level) >= self._threshold

    def __call__(self, level: str, event: str, /, **fields: JSON) -> None:
        """Queue one record, or drop it if stderr takes none."""
        if not self.hears(level):
            return
        record = {"ts": round(self._now_s(), 6), "level": level, "event": event, **fields}
        if self._thread is None:
            self._thread = threading.Thread(target=self._write, name="memrpc-log", daemon=True)
            self._thread.start()
        try:
            self._lines.put_nowait(compact(record).encode() + b"\n")
        except queue.Full:
            return

    def _write(self) -> None:
        while True:
            line = self._lines.get()
            try:
                os.write(_STDERR, line)
            except OSError:
                return
            finally:
                self._lines.task_done()

    def flush(self, timeout_s: float = 0.2) -> None:
        """Give what is queued a moment to leave before the process ends."""
        ended = threading.Thread(target=self._lines.join, daemon=True)
        ended.start()
        ended.join(timeout_s)
