"""The purge: what makes forgetting true of the bytes, once the rows are gone.

After a forget commits, nothing recalls the record, but its text is still readable in the file: in
old frames of the write-ahead log, in gaps of pages that SQLite has rearranged, and in separator
keys of the full-text index.  The purge removes these in turn:

1. truncate the log, which needs that no older reader is open anywhere;
2. delete the automatic backups;
3. scrub the full-text indexes (the caller's function: the store does not know them);
4. rewrite the file with VACUUM, in memory, because a temporary file would be one more copy;
5. truncate the log again, which now holds the rewritten pages.

Each step may find another process in the way.  The purge then says BLOCKED and is to be tried
again, from the start: a job row, which holds no text, remembers that it is owed.  Copies that
people made, and blocks that the file system has freed, are out of its reach.

VACUUM renumbers the rows of tables without an INTEGER PRIMARY KEY; ours all have one.
"""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Final

import apsw

from memrpc.store import backups, jobs
from memrpc.store.lane_thread import no_waiting

if TYPE_CHECKING:
    from collections.abc import Callable

JOB_KIND: Final = "purge"
JOB_SUBJECT: Final = "file"  # one job serves every forget that waits
QUIET_US: Final = 1_000_000
_SIZE_BYTES: Final = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size"
_FIXED_S: Final = 0.02
_S_PER_BYTE: Final = 12e-9  # VACUUM and optimize, with a factor of two in hand


class Erasure(Enum):
    """How far the purge got."""

    COMPLETE = "complete"  # no trace is left in the file, its side files or automatic backups
    BLOCKED = "blocked"  # another connection is in the way; try again


def request(db: apsw.Connection, *, now: int) -> None:
    """Owe a purge, in the transaction of the forget; it is due after a quiet moment."""
    jobs.enqueue(db, JOB_KIND, JOB_SUBJECT, now=now, due=now + QUIET_US)


def is_owed(db: apsw.Connection) -> bool:
    """Say whether traces of what was forgotten may be left."""
    return jobs.is_owed(db, JOB_KIND, JOB_SUBJECT)


def purge(db: apsw.Connection, *, scrub: Callable[[apsw.Connection], None]) -> Erasure:
    """Remove the last traces of forgotten text; ``db`` is outside a transaction.

    ``scrub(db)`` removes what the full-text indexes keep of deleted terms.  Run it through
    ``Database.maintain``.
    """
    try:
        if not _truncate(db):
            return Erasure.BLOCKED
        backups.delete(Path(db.filename))
        scrub(db)
        db.execute("VACUUM").fetchall()
        return Erasure.COMPLETE if _truncate(db) else Erasure.BLOCKED
    except apsw.BusyError:
        return Erasure.BLOCKED


def expected_s(db: apsw.Connection) -> float:
    """Estimate how long a purge takes, on the careful side."""
    return _FIXED_S + float(db.execute(_SIZE_BYTES).get) * _S_PER_BYTE


def _truncate(db: apsw.Connection) -> bool:
    """Empty the log and say whether nobody was in the way.

    SQLite reports that in a row and not as an error.  Nothing is waited for here, because writers
    of other processes would be shut out meanwhile.
    """
    with no_waiting():
        ((busy, _, _),) = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return busy == 0
