"""Statistics: what the workspace holds, over all repositories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    import apsw

_COUNTS: Final = """
SELECT (SELECT count(*) FROM repos),
       (SELECT count(*) FROM entries),
       (SELECT count(*) FROM entries WHERE status = 'active'),
       (SELECT count(*) FROM tasks),
       (SELECT count(*) FROM tasks WHERE status NOT IN ('completed', 'canceled')),
       (SELECT count(*) FROM comments),
       (SELECT count(*) FROM handoffs),
       (SELECT count(*) FROM claims),
       (SELECT count(*) FROM standards),
       (SELECT count(*) FROM actions)
"""


class Statistics(NamedTuple):
    """Counts of rows; an open task is neither completed nor canceled."""

    repositories: int
    entries: int
    active_entries: int
    tasks: int
    open_tasks: int
    comments: int
    handoffs: int
    claims: int
    standards: int
    logged_actions: int


def count(db: apsw.Connection) -> Statistics:
    """Count everything, over all repositories."""
    row: tuple[Any, ...] = db.execute(_COUNTS).fetchall()[0]
    return Statistics(*row)
