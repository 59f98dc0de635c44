"""What waits to be written, in order, and how many bytes it is.

A peer that does not read may leave a million small answers here.  As objects of their own they
would cost twice their size, so they are gathered into blocks; a block is never joined to another,
and cutting the view of one copies nothing.

A line that says only that something has changed need not wait twice: whoever reads the first will
look then.  So such a line is remembered with its place in the stream until it has left.
"""

from __future__ import annotations

from collections import deque
from typing import Final

DROP_NOTIFICATIONS_ABOVE_BYTES: Final = 1024 * 1024
BLOCK_BYTES: Final = 256 * 1024
_NOTHING: Final = memoryview(b"")


class Outbox:
    """Answers always enter; what may be dropped asks ``is_crowded`` first."""

    def __init__(self) -> None:
        self._leaving = _NOTHING
        self._blocks: deque[bytes] = deque()
        self._lines: list[bytes] = []
        self._gathered_bytes = 0
        self._left_bytes = 0
        self._ends: dict[bytes, int] = {}
        self.size_bytes = 0

    def put(self, line: bytes) -> None:
        self._lines.append(line)
        self.size_bytes += len(line)
        self._gathered_bytes += len(line)
        if self._gathered_bytes >= BLOCK_BYTES:
            self._gather()

    def put_once(self, line: bytes) -> bool:
        """Put a line, unless the same one waits.  False if it does."""
        if self._ends.get(line, 0) > self._left_bytes:
            return False
        self.put(line)
        self._ends[line] = self._left_bytes + self.size_bytes
        return True

    def _gather(self) -> None:
        self._blocks.append(b"".join(self._lines))
        self._lines.clear()
        self._gathered_bytes = 0

    @property
    def is_crowded(self) -> bool:
        return self.size_bytes > DROP_NOTIFICATIONS_ABOVE_BYTES

    def peek(self) -> memoryview:
        """The block that leaves next: one write is cheaper than many.  Empty if nothing waits."""
        if not self._leaving:
            if not self._blocks:
                self._gather()
            self._leaving = memoryview(self._blocks.popleft())
        return self._leaving

    def written(self, count: int) -> None:
        """The first ``count`` bytes of ``peek`` have left."""
        self._leaving = self._leaving[count:]
        self.size_bytes -= count
        self._left_bytes += count
        if not self.size_bytes:
            self._ends.clear()
