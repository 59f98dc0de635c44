"""Lines that wait to be written, in order, and how many bytes they are."""

from __future__ import annotations

from collections import deque
from typing import Final

DROP_NOTIFICATIONS_ABOVE_BYTES: Final = 1024 * 1024


class Outbox:
    """Answers always enter; what may be dropped asks ``is_crowded`` first."""

    def __init__(self) -> None:
        self._lines: deque[bytes] = deque()
        self.size_bytes = 0

    def put(self, line: bytes) -> None:
        self._lines.append(line)
        self.size_bytes += len(line)

    @property
    def is_crowded(self) -> bool:
        return self.size_bytes > DROP_NOTIFICATIONS_ABOVE_BYTES

    def peek(self) -> bytes:
        """Everything that waits, as one block: one write is cheaper than many."""
        if len(self._lines) > 1:
            block = b"".join(self._lines)
            self._lines.clear()
            self._lines.append(block)
        return self._lines[0] if self._lines else b""

    def written(self, count: int) -> None:
        """The first ``count`` bytes of ``peek`` have left."""
        block = self._lines.popleft()
        if count < len(block):
            self._lines.appendleft(block[count:])
        self.size_bytes -= count
