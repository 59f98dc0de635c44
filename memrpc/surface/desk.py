"""What handlers work with: the database, the clock, ids and the few settings they need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memrpc.store.database import Database


@dataclass(frozen=True, slots=True)
class Desk:
    """The handlers' side of the seam.

    ``now_us`` is the time in microseconds since the epoch, UTC.  ``work_is_due`` tells the worker
    that a job was enqueued.  ``database`` opens the file when it is first used.
    """

    open_database: Callable[[], Database]
    now_us: Callable[[], int]
    new_id: Callable[[], str]
    work_is_due: Callable[[], None]
    extractor: str
    answer_chars: int

    @property
    def database(self) -> Database:
        """Raises DomainError where the path cannot be told."""
        return self.open_database()
