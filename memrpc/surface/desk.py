"""What handlers work with: the database, the clock, ids and the few settings they need."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memrpc.recall.meaning import Embedders
    from memrpc.server.context import Context
    from memrpc.store.database import Database
    from memrpc.surface.projects import Places
    from memrpc.wire.messages import JSON
    from memrpc.workers.indexing import IndexOrder


@dataclass(frozen=True, slots=True)
class Desk:
    """The handlers' side of the seam.

    ``now_us`` is the time in microseconds since the epoch, UTC.  ``work_is_due`` tells the worker
    that a job was enqueued.  ``erase`` has the bytes of what was forgotten removed and says whether
    that took only a moment.  ``database`` opens the file when it is first used.  ``instance`` is
    this process, which with an agent's name makes a claimant.  ``index`` runs an index of code and
    returns its report; the files done and in all go to its second argument.
    """

    open_database: Callable[[], Database]
    now_us: Callable[[], int]
    new_id: Callable[[], str]
    work_is_due: Callable[[], None]
    erase: Callable[[], Awaitable[bool]]
    open_places: Callable[[], Places]
    open_embedders: Callable[[], Embedders]
    meet: Callable[[Context], None]
    extractor: str
    project: str
    answer_chars: int
    instance: str
    claim_minutes: int
    index: Callable[[IndexOrder, Callable[[int, int], None]], Awaitable[Mapping[str, JSON]]]

    @property
    def embedders(self) -> Embedders:
        """What turns texts into vectors, if anything does."""
        return self.open_embedders()

    @property
    def places(self) -> Places:
        """Where the server stands, and what its session is about."""
        return self.open_places()

    @property
    def claim_us(self) -> int:
        """How long a claim lasts, in microseconds."""
        return self.claim_minutes * 60_000_000

    @property
    def database(self) -> Database:
        """Raises DomainError where the path cannot be told."""
        return self.open_database()
