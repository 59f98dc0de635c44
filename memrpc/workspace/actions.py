"""The action log: every change of a subject with who made it, and the subject before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.store import json_column
from memrpc.workspace import fields
from memrpc.workspace.model import Action, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from memrpc.store.json_column import JSON
    from memrpc.workspace.model import (
        Act,
        Claim,
        Comment,
        Entry,
        Handoff,
        Repo,
        Standard,
        Summary,
        Task,
    )

    Subject = Entry | Task | Claim | Handoff | Standard | Summary

MAX_ROWS: Final = 10_000
_INSIDE: Final = frozenset({"key", "repo", "token"})
"""What stays inside: row numbers, and the secret by which a claim is renewed."""

_ADD: Final = """
INSERT INTO actions
  (repo, tool, operation, kind, subject_id, code, agent, before, after, created_at)
VALUES (:repo, :tool, :operation, :kind, :subject_id, :code, :agent, :before, :after, :now)
"""
_COLUMNS: Final = """
SELECT action, repo, tool, operation, kind, subject_id, code, agent, before, after, created_at
FROM actions
"""
_OF_REPO: Final = _COLUMNS + "WHERE repo = :repo ORDER BY action DESC LIMIT :limit OFFSET :offset"
_BY_KEY: Final = _COLUMNS + "WHERE action = :action"
_COUNT: Final = "SELECT count(*) FROM actions WHERE repo = :repo"
_PRUNE_OLD: Final = "DELETE FROM actions WHERE created_at < :before"
_PRUNE_MANY: Final = """
DELETE FROM actions WHERE action <= (SELECT max(action) FROM actions) - :keep
"""
_ERASE: Final = """
UPDATE actions SET before = NULL, after = NULL, code = NULL WHERE subject_id = :subject_id
"""


class Change(NamedTuple):
    """What happened to a subject; ``before`` is absent for a new one, ``after`` for a gone one."""

    operation: str
    kind: Kind
    subject_id: str
    code: str | None = None
    before: JSON = None
    after: JSON = None


def log(db: apsw.Connection, repo: Repo, act: Act, change: Change) -> None:
    """Keep the change, in the transaction that makes it."""
    values = {
        "repo": repo.key,
        "tool": act.tool,
        "operation": change.operation,
        "kind": change.kind,
        "subject_id": change.subject_id,
        "code": change.code,
        "agent": act.agent,
        "before": _column(change.before),
        "after": _column(change.after),
        "now": act.now,
    }
    db.execute(_ADD, values).fetchall()


def snapshot(subject: Subject, comments: Iterable[Comment] = ()) -> dict[str, JSON]:
    """Return the subject as the log keeps it, with the comments that go with it."""
    shown: dict[str, JSON] = fields.of(subject, _INSIDE)
    kept: list[JSON] = [fields.of(comment) for comment in comments]
    return shown | {"comments": kept} if kept else shown


def of_repo(db: apsw.Connection, repo: Repo, *, limit: int, offset: int) -> list[Action]:
    """List the repository's changes, newest first."""
    values = {"repo": repo.key, "limit": limit, "offset": offset}
    return [_action(row) for row in db.execute(_OF_REPO, values).fetchall()]


def count(db: apsw.Connection, repo: Repo) -> int:
    """Count the repository's changes that are still kept."""
    total: int = db.execute(_COUNT, {"repo": repo.key}).get
    return total


def by_key(db: apsw.Connection, key: int) -> Action | None:
    """Return the change that has this number."""
    row = db.execute(_BY_KEY, {"action": key}).fetchone()
    return None if row is None else _action(row)


def prune(db: apsw.Connection, *, before: int, keep: int = MAX_ROWS) -> None:
    """Forget changes that are older than ``before`` or not among the last ``keep``."""
    db.execute(_PRUNE_OLD, {"before": before}).fetchall()
    db.execute(_PRUNE_MANY, {"keep": keep}).fetchall()


def erase(db: apsw.Connection, subject_id: str) -> None:
    """Take what a subject was out of the log; that something happened to it stays."""
    db.execute(_ERASE, {"subject_id": subject_id}).fetchall()


def _column(value: JSON) -> str | None:
    return None if value is None else json_column.encode(value)


def _action(row: Any) -> Action:  # noqa: ANN401 -- a row as apsw returns it
    key, repo, tool, operation, kind, subject_id, code, agent, before, after, created_at = row
    return Action(
        key=key,
        repo=repo,
        tool=tool,
        operation=operation,
        kind=Kind(kind),
        subject_id=subject_id,
        code=code,
        agent=agent,
        before=None if before is None else json_column.decode_object(before),
        after=None if after is None else json_column.decode_object(after),
        created_at=created_at,
    )
