"""The daily upkeep: what has expired is archived, what nobody uses fades, old actions go.

Fading is slow, bounded and undone by memory-write: an entry that was never acknowledged as used
loses one point of importance, down to one, for each month beyond ninety days without a change.  The
action log says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.workspace import actions, entries, entry_writing, scope, topics
from memrpc.workspace.actions import Change
from memrpc.workspace.model import Act, EntryStatus, Kind
from memrpc.workspace.times import DAY_US

if TYPE_CHECKING:
    import apsw

TOOL: Final = "upkeep"
UNUSED_US: Final = 90 * DAY_US
MONTH_US: Final = 30 * DAY_US
BATCH: Final = 100

_EXPIRED: Final = """
SELECT entry FROM entries WHERE status = 'active' AND expires_at <= :now
ORDER BY expires_at LIMIT :limit
"""
_FADING: Final = """
SELECT entry FROM entries
WHERE status = 'active' AND used = 0 AND importance > 1 AND updated_at <= :unused
AND (decayed_at IS NULL OR decayed_at <= :month) ORDER BY entry LIMIT :limit
"""


class Upkeep(NamedTuple):
    """How much was done; ``is_done`` unless a batch was full."""

    archived: int
    faded: int
    is_done: bool


def keep_up(db: apsw.Connection, act: Act, *, keep_actions_us: int) -> Upkeep:
    """Do one batch of what is due."""
    values = {"now": act.now, "limit": BATCH}
    expired: list[Any] = db.execute(_EXPIRED, values).fetchall()
    for entry in entries.by_keys(db, [key for (key,) in expired]).values():
        repo = scope.by_key(db, entry.repo)
        entry_writing.set_status(db, repo, entry, EntryStatus.ARCHIVED, act)
    faded = _fade(db, act)
    actions.prune(db, before=act.now - keep_actions_us)
    return Upkeep(len(expired), faded, max(len(expired), faded) < BATCH)


def _fade(db: apsw.Connection, act: Act) -> int:
    values = {"unused": act.now - UNUSED_US, "month": act.now - MONTH_US, "limit": BATCH}
    rows: list[Any] = db.execute(_FADING, values).fetchall()
    for before in entries.by_keys(db, [key for (key,) in rows]).values():
        after = before._replace(importance=before.importance - 1, decayed_at=act.now)
        entries.save(db, after)
        change = Change(
            "decay",
            Kind.ENTRY,
            after.id,
            after.code,
            {"importance": before.importance},
            {"importance": after.importance},
        )
        repo = scope.by_key(db, before.repo)
        actions.log(db, repo, act, change)
        topics.note(db, repo, (topics.MEMORIES,), f"memory://{after.id}", now=act.now)
    return len(rows)
