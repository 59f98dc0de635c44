"""Collect the answers to one JSON-RPC batch into one line (2025-03-26 only)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from memrpc.wire.messages import Response


@dataclass(slots=True, eq=False)
class Collector:
    """Writes once, when every element that is owed an answer has it or was cancelled."""

    write: Callable[[list[Response]], None]
    _answers: list[Response] = field(default_factory=list)
    _owed: int = 1  # one for the batch itself, until all its elements have been looked at

    def expect(self) -> None:
        """One more answer is owed."""
        self._owed += 1

    def add(self, response: Response) -> None:
        """An answer that nobody was waiting for: the element was refused."""
        self._answers.append(response)

    def settle(self, response: Response | None) -> None:
        """An expected answer has come, or never will."""
        if response is not None:
            self._answers.append(response)
        self._owed -= 1
        if self._owed == 0 and self._answers:
            self.write(self._answers)
