"""What a run of the bridge has found: broken promises of the server, and counts."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Findings:
    """Shared by all threads of a bridge."""

    failures: list[str] = field(default_factory=list)
    children: int = 0
    late_answers: int = 0
    slowest_exit_s: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def fail(self, what: str) -> None:
        with self._lock:
            self.failures.append(what)

    def count_child(self) -> None:
        with self._lock:
            self.children += 1

    def count_late_answer(self) -> None:
        """An answer that crossed the cancel of its request on the way; both sides may race."""
        with self._lock:
            self.late_answers += 1

    def note_exit(self, seconds: float) -> None:
        with self._lock:
            self.slowest_exit_s = max(self.slowest_exit_s, seconds)

    def summary(self) -> str:
        return (
            f"{self.children} children, slowest exit {self.slowest_exit_s:.2f} s, "
            f"{self.late_answers} late answers, {len(self.failures)} failures"
        )
