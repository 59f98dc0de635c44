"""Overviews: every repository with its counts, and the values that complete an argument."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.workspace import entries, tasks
from memrpc.workspace.model import EntryStatus, Repo, TaskStatus

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

MAX_VALUES: Final = 10_000
_ACTIVE_AT: Final = "SELECT active_at FROM repos WHERE repo = :repo"
_CLAIMS: Final = """
SELECT count(*) FILTER (WHERE expires_at > :now), count(*) FILTER (WHERE expires_at <= :now)
FROM claims WHERE repo = :repo AND released_at IS NULL
"""
_HANDOFFS: Final = """
SELECT count(*), count(*) FILTER (WHERE to_agent IS NULL) FROM handoffs
WHERE repo = :repo AND status = 'pending' AND (expires_at IS NULL OR expires_at > :now)
"""
_TITLES: Final = """
SELECT title FROM entries WHERE repo = :repo AND status = 'active'
ORDER BY created_at DESC LIMIT :limit
"""
_TAGS: Final = """
SELECT tags FROM entries WHERE repo = :repo AND status = 'active'
ORDER BY created_at DESC LIMIT :limit
"""
_ENTRY_IDS: Final = """
SELECT id FROM entries WHERE repo = :repo AND status = 'active'
ORDER BY created_at DESC LIMIT :limit
"""
_TASK_IDS: Final = "SELECT id FROM tasks WHERE repo = :repo ORDER BY task DESC LIMIT :limit"
_ACTION_IDS: Final = """
SELECT CAST(action AS TEXT) FROM actions WHERE repo = :repo ORDER BY action DESC LIMIT :limit
"""
_LANGUAGES: Final = """
SELECT DISTINCT language FROM (
  SELECT language FROM standards WHERE repo = :repo
  UNION ALL SELECT language FROM entries WHERE repo = :repo AND status = 'active'
) WHERE language IS NOT NULL LIMIT :limit
"""
_AGENTS: Final = """
SELECT DISTINCT agent FROM (
  SELECT agent FROM actions WHERE repo = :repo ORDER BY action DESC LIMIT 2000
) LIMIT :limit
"""


class Overview(NamedTuple):
    """A repository and how much it holds."""

    repo: Repo
    memories: int
    tasks: int
    in_progress: int
    pending: int
    blocked: int
    backlog: int
    active_at: int
    claims: int
    stale_claims: int
    handoffs: int
    unassigned: int


def repositories(db: apsw.Connection, repos: Iterable[Repo], *, now: int) -> list[Overview]:
    """Count what each repository holds that is in use."""
    return [_overview(db, repo, now) for repo in repos]


def titles(db: apsw.Connection, repo: Repo) -> list[str]:
    """List the newest titles."""
    return _column(db, _TITLES, repo)


def tags(db: apsw.Connection, repo: Repo) -> list[str]:
    """List the tags of the newest entries, each once."""
    return list(dict.fromkeys(tag for row in _column(db, _TAGS, repo) for tag in json.loads(row)))


def entry_ids(db: apsw.Connection, repo: Repo) -> list[str]:
    """List the newest entries' ids."""
    return _column(db, _ENTRY_IDS, repo)


def task_ids(db: apsw.Connection, repo: Repo) -> list[str]:
    """List the newest tasks' ids."""
    return _column(db, _TASK_IDS, repo)


def action_ids(db: apsw.Connection, repo: Repo) -> list[str]:
    """List the newest changes' numbers."""
    return _column(db, _ACTION_IDS, repo)


def languages(db: apsw.Connection, repo: Repo) -> list[str]:
    """List the languages of standards and entries."""
    return _column(db, _LANGUAGES, repo)


def agents(db: apsw.Connection, repo: Repo) -> list[str]:
    """List who has changed something lately."""
    return _column(db, _AGENTS, repo)


def _overview(db: apsw.Connection, repo: Repo, now: int) -> Overview:
    known = entries.tallies(db, repo)
    by_status = tasks.tallies(db, repo)
    values = {"repo": repo.key, "now": now}
    live, stale = db.execute(_CLAIMS, values).get
    waiting, unassigned = db.execute(_HANDOFFS, values).get
    return Overview(
        repo=repo,
        memories=sum(n for (status, _), n in known.items() if status is EntryStatus.ACTIVE),
        tasks=sum(by_status.values()),
        in_progress=by_status.get(TaskStatus.IN_PROGRESS, 0),
        pending=by_status.get(TaskStatus.PENDING, 0),
        blocked=by_status.get(TaskStatus.BLOCKED, 0),
        backlog=by_status.get(TaskStatus.BACKLOG, 0),
        active_at=db.execute(_ACTIVE_AT, {"repo": repo.key}).get,
        claims=live,
        stale_claims=stale,
        handoffs=waiting,
        unassigned=unassigned,
    )


def _column(db: apsw.Connection, statement: str, repo: Repo) -> list[str]:
    rows: list[Any] = db.execute(statement, {"repo": repo.key, "limit": MAX_VALUES}).fetchall()
    return [value for (value,) in rows]
