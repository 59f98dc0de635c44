"""Lines that wait to be written, in order, and how many bytes they are."""

from __future__ import annotations

from typing import Final

DROP_NOTIFICATIONS_ABOVE_BYTES: Final = 1024 * 1024
_NOTHING: Final = memoryview(b"")


class Outbox:
    """Answers always enter; what may be dropped asks ``is_crowded`` first."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []
        self._block = _NOTHING  # what is being written; cutting a view copies nothing
        self.size_bytes = 0

    def put(self, line: bytes) -> None:
        self._lines.append(line)
        self.size_bytes += len(line)

    @property
    def is_crowded(self) -> bool:
        return self.size_bytes > DROP_NOTIFICATIONS_ABOVE_BYTES

    def peek(self) -> memoryview:
        """Everything that waits, as one block: one write is cheaper than many."""
        if not self._block:
            self._block = memoryview(b"".join(self._lines))
            self._lines.clear()
        return self._block

    def written(self, count: int) -> None:
        """The first ``count`` bytes of ``peek`` have left."""
        self._block = self._block[count:]
        self.size_bytes -= count
