"""Taking over: the handoffs, claims and summaries of an export, where they moved on elsewhere.

What has been answered or ended here stays so.  A claim comes without the token by which its holder
alone may write: a new one is made here and told to nobody, so an open claim keeps others away until
it ends.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memrpc.store import json_column, transfer
from memrpc.store.errors import Conflict, NotFound
from memrpc.store.transfer import Outcome, Record
from memrpc.workspace import actions, claims, fields, lines, redacting, scope, tasks, topics
from memrpc.workspace.actions import Change
from memrpc.workspace.model import Claim, Handoff, Kind, Summary

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.model import Act, Repo, Task

_HOMES: Final = {
    Kind.HANDOFF: "SELECT repo FROM handoffs WHERE id = :id",
    Kind.CLAIM: "SELECT repo FROM claims WHERE id = :id",
}
_HANDOFF: Final = """
INSERT INTO handoffs (id, repo, from_agent, to_agent, task, summary, context, status, created_at,
  updated_at, expires_at)
VALUES (:id, :repo, :from_agent, :to_agent, :task, :summary, :context, :status, :created_at,
  :updated_at, :expires_at)
ON CONFLICT (id) DO UPDATE SET status = excluded.status, updated_at = excluded.updated_at
WHERE excluded.updated_at > handoffs.updated_at
RETURNING handoff
"""
_CLAIM: Final = """
INSERT INTO claims (id, repo, task, agent, instance, role, token, metadata, claimed_at, expires_at,
  released_at, ended_by)
VALUES (:id, :repo, :task, :agent, :instance, :role, :token, :metadata, :claimed_at,
  :expires_at, :released_at, :ended_by)
ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at,
  released_at = excluded.released_at, ended_by = excluded.ended_by
WHERE claims.released_at IS NULL
AND (excluded.released_at IS NOT NULL OR excluded.expires_at > claims.expires_at)
RETURNING claim
"""
_SUMMARY: Final = """
INSERT INTO summaries (repo, signals, agent, updated_at)
VALUES (:repo, :signals, :agent, :updated_at)
ON CONFLICT (repo) DO UPDATE SET signals = excluded.signals, agent = excluded.agent,
  updated_at = excluded.updated_at
WHERE excluded.updated_at > summaries.updated_at
RETURNING repo
"""
_PUT: Final = {Kind.HANDOFF: _HANDOFF, Kind.CLAIM: _CLAIM}


def repo_of(db: apsw.Connection, record: Record, act: Act) -> Repo:
    """Return the repository of a record, which may be new here."""
    owner, name = transfer.text(record, "owner"), transfer.text(record, "repo")
    return scope.ensure(db, owner, name, now=act.now)


def import_handoff(act: Act, db: apsw.Connection, record: Record) -> tuple[Outcome, tuple[()]]:
    if _is_redacted(db, record):
        return Outcome.FORGOTTEN, ()
    repo = repo_of(db, record, act)
    task = None if record["task"] is None else _task(db, repo, record).key
    handoff = lines.read(Handoff, record, key=0, repo=repo.key, task=task)
    return _put(db, repo, act, Kind.HANDOFF, handoff), ()


def import_claim(act: Act, db: apsw.Connection, record: Record) -> tuple[Outcome, tuple[()]]:
    if _is_redacted(db, record):
        return Outcome.FORGOTTEN, ()
    repo = repo_of(db, record, act)
    task = _task(db, repo, record)
    claim = lines.read(Claim, record, key=0, repo=repo.key, task=task.key)
    claim = claim._replace(token=act.new_id())
    held = claims.open_claim(db, task)
    if claim.released_at is None and held is not None and held.id != claim.id:
        raise Conflict(f"{task.code} has another open claim here, of {held.agent}.")
    return _put(db, repo, act, Kind.CLAIM, claim), ()


def import_summary(act: Act, db: apsw.Connection, record: Record) -> tuple[Outcome, tuple[()]]:
    repo = repo_of(db, record, act)
    values = _columns(lines.read(Summary, record)) | {"repo": repo.key}
    if db.execute(_SUMMARY, values).get is None:
        return Outcome.KNOWN, ()
    scope.touch(db, repo, now=act.now)
    topics.note(db, repo, (topics.SUMMARY,), now=act.now)
    return Outcome.IMPORTED, ()


def _is_redacted(db: apsw.Connection, record: Record) -> bool:
    named = (record["id"], record["task"])
    return any(redacting.is_redacted(db, str(each)) for each in named)


def _task(db: apsw.Connection, repo: Repo, record: Record) -> Task:
    task = tasks.anywhere(db, transfer.text(record, "task"))
    if task is None or task.repo != repo.key:
        raise NotFound(f"task names no task of {scope.full_name(repo)} here.")
    return task


def _put(db: apsw.Connection, repo: Repo, act: Act, kind: Kind, found: Handoff | Claim) -> Outcome:
    """Write what is new or has moved on since; what has been answered or ended stays so."""
    home: int | None = db.execute(_HOMES[kind], {"id": found.id}).get
    if home not in (None, repo.key):
        raise Conflict(f"id {found.id} is taken here by a {kind} of another repository.")
    if db.execute(_PUT[kind], _columns(found)).get is None:
        return Outcome.KNOWN
    change = Change("import", kind, found.id, after=actions.snapshot(found))
    actions.log(db, repo, act, change)
    scope.touch(db, repo, now=act.now)
    topics.note(db, repo, (topics.TASKS,), now=act.now)
    return Outcome.IMPORTED


def _columns(value: Handoff | Claim | Summary) -> dict[str, Any]:
    return {
        name: json_column.encode(each) if isinstance(each, dict | tuple) else each
        for name, each in fields.of(value).items()
    }
