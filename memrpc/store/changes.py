"""The log of changes: which topics changed, in commit order, for subscribers in any process.

``note`` runs in the transaction that makes the change, so a subscriber never hears of a change
that was rolled back.  Only the latest change of a topic is kept: a subscriber re-reads the
resource anyway, and the table stays as small as the number of topics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import apsw

_NOTE: Final = "INSERT OR REPLACE INTO changes (topic, noted_at) VALUES (:topic, :now)"
_SINCE: Final = "SELECT seq, topic, noted_at FROM changes WHERE seq > :seq ORDER BY seq"
_LAST_BEFORE: Final = "SELECT coalesce(max(seq), 0) FROM changes WHERE noted_at < :instant"
_LAST: Final = "SELECT coalesce(max(seq), 0) FROM changes"


@dataclass(frozen=True, slots=True)
class Change:
    """One topic's latest change."""

    seq: int
    topic: str
    noted_at: int


def note(db: apsw.Connection, *topics: str, now: int) -> None:
    """Say that ``topics`` changed, as part of the transaction that changes them."""
    db.executemany(_NOTE, [{"topic": topic, "now": now} for topic in topics]).fetchall()


def since(db: apsw.Connection, seq: int) -> list[Change]:
    """List the topics that changed after ``seq``, in the order of their latest changes."""
    rows: list[Any] = db.execute(_SINCE, {"seq": seq}).fetchall()
    return [Change(*row) for row in rows]


def last_before(db: apsw.Connection, *, instant: int) -> int:
    """Return the sequence of the latest change noted before ``instant``; 0 when there is none."""
    seq: int = db.execute(_LAST_BEFORE, {"instant": instant}).get
    return seq


def last(db: apsw.Connection) -> int:
    """Return the sequence of the latest change, where a new subscriber starts; 0 before any."""
    seq: int = db.execute(_LAST).get
    return seq
