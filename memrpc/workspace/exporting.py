"""Exporting: every repository of the workspace as JSON Lines, with ids and codes as they are.

A task carries its comments; subjects name each other by id.  The action log stays behind, being
the history of this file, and so do the graph and the index, which are made of the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memrpc.store import json_column
from memrpc.workspace import claims, entries, handoffs, lines, scope, standards, summaries, tasks
from memrpc.workspace.claims import ClaimFilter
from memrpc.workspace.model import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    import apsw

    from memrpc.store.json_column import JSON
    from memrpc.workspace.model import Repo

ALL: Final = -1
"""As a limit of SQLite's: none."""
_CODES: Final = "SELECT entry_codes, task_codes, standard_codes FROM repos WHERE repo = :repo"
_ENTRIES: Final = "SELECT entry FROM entries WHERE repo = :repo ORDER BY entry"
_TASKS: Final = "SELECT task FROM tasks WHERE repo = :repo ORDER BY task"
_STANDARDS: Final = "SELECT standard FROM standards WHERE repo = :repo ORDER BY standard"
_HANDOFFS: Final = "SELECT id FROM handoffs WHERE repo = :repo ORDER BY handoff"


def export_lines(
    db: apsw.Connection, *, since: int | None = None, repo: Repo | None = None
) -> Iterator[str]:
    """Yield every record as a line without its end, each after those that it cannot do without.

    ``since`` leaves out what has not changed from then on, ``repo`` what belongs to another one.
    """
    for home in scope.everything(db):
        if repo is None or repo.key == home.key:
            names: dict[str, JSON] = {"owner": home.owner, "repo": home.name}
            for record, changed_at in _records(db, home):
                if since is None or changed_at is None or changed_at >= since:
                    yield json_column.encode(names | record)


def _records(db: apsw.Connection, repo: Repo) -> Iterator[tuple[dict[str, JSON], int | None]]:
    """Yield the repository's records with the instant of their last change, where they have one."""
    yield {"type": "repository", "codes": _codes(db, repo)}, None
    summary = summaries.find(db, repo)
    if summary is not None:
        yield {"type": Kind.SUMMARY, **lines.written(summary)}, summary.updated_at
    yield from _entries(db, repo)
    yield from _tasks(db, repo)
    yield from _standards(db, repo)
    yield from _handoffs(db, repo)
    yield from _claims(db, repo)


def _codes(db: apsw.Connection, repo: Repo) -> dict[str, JSON]:
    """Return how many codes were given out, so that none is given twice."""
    rows: list[Any] = db.execute(_CODES, {"repo": repo.key}).fetchall()
    return dict(zip(("entry", "task", "standard"), rows[0], strict=True))


def _entries(db: apsw.Connection, repo: Repo) -> Iterator[tuple[dict[str, JSON], int]]:
    for key in _keys(db, _ENTRIES, repo):
        entry = entries.by_keys(db, [key])[key]
        yield {"type": Kind.ENTRY, **lines.written(entry)}, entry.updated_at


def _tasks(db: apsw.Connection, repo: Repo) -> Iterator[tuple[dict[str, JSON], int]]:
    for key in _keys(db, _TASKS, repo):
        task = tasks.by_keys(db, [key])[key]
        others = tasks.by_keys(db, filter(None, (task.parent, task.depends_on)))
        remarks = tasks.comments(db, task, limit=ALL)[::-1]
        links: dict[str, JSON] = {
            "parent": others[task.parent].id if task.parent else None,
            "depends_on": others[task.depends_on].id if task.depends_on else None,
            "comments": [lines.written(remark) for remark in remarks],
        }
        changed_at = max(task.updated_at, *(remark.created_at for remark in remarks), 0)
        yield {"type": Kind.TASK, **lines.written(task), **links}, changed_at


def _standards(db: apsw.Connection, repo: Repo) -> Iterator[tuple[dict[str, JSON], int]]:
    for key in _keys(db, _STANDARDS, repo):
        standard = standards.by_keys(db, [key])[key]
        parents = standards.by_keys(db, filter(None, (standard.parent,)))
        parent = parents[standard.parent].id if standard.parent else None
        line = {"type": Kind.STANDARD, **lines.written(standard), "parent": parent}
        yield line, standard.updated_at


def _handoffs(db: apsw.Connection, repo: Repo) -> Iterator[tuple[dict[str, JSON], int]]:
    for handoff_id in _keys(db, _HANDOFFS, repo):
        handoff = handoffs.find(db, repo, handoff_id)
        task = handoffs.task_of(db, handoff)
        task_id = None if task is None else task.id
        yield {"type": Kind.HANDOFF, **lines.written(handoff), "task": task_id}, handoff.updated_at


def _claims(db: apsw.Connection, repo: Repo) -> Iterator[tuple[dict[str, JSON], int]]:
    everything = ClaimFilter(active_only=False, limit=ALL)
    for claim in claims.listed(db, repo, everything, now=0)[0][::-1]:
        line = {"type": Kind.CLAIM, **lines.written(claim), "task": claims.task_of(db, claim).id}
        yield line, max(claim.claimed_at, claim.released_at or 0)


def _keys(db: apsw.Connection, statement: str, repo: Repo) -> list[Any]:
    rows: list[Any] = db.execute(statement, {"repo": repo.key}).fetchall()
    return [key for (key,) in rows]
