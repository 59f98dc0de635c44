"""The daily upkeep is owed from the first write on; see ``upkeep``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memrpc.store import jobs
from memrpc.workspace.times import DAY_US

if TYPE_CHECKING:
    import apsw

JOB_KIND: Final = "upkeep"
JOB_SUBJECT: Final = "workspace"


def owe(db: apsw.Connection, *, now: int) -> None:
    """Owe one upkeep within a day; an earlier one that is owed already stays as it is."""
    jobs.enqueue(db, JOB_KIND, JOB_SUBJECT, now=now, due=now + DAY_US)
