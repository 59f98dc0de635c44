"""Importing: what an export holds of the workspace, taken over where it is newer than what is here.

Subjects keep their ids and codes.  One that is already here under the same id gives way to a later
version of itself, which the action log shows, and stays as it is otherwise; comments are added to
those that are here.  A code or an id that something else has here is a conflict.  What was redacted
here stays away.  Parents and dependencies are tied, and everything is indexed, when all lines are
in; one that is neither here nor in the lines is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from memrpc.store import json_column, transfer
from memrpc.store.errors import Conflict, DomainError, InvalidArguments, NotFound
from memrpc.store.transfer import BadLine, Importer, Outcome, Reader, Record
from memrpc.workspace import (
    actions,
    claims,
    codes,
    entries,
    indexing,
    lines,
    rebuilding,
    redacting,
    rules,
    scope,
    standards,
    task_writing,
    tasks,
    topics,
    upkeep_due,
)
from memrpc.workspace.actions import Change
from memrpc.workspace.model import (
    Claim,
    Comment,
    Entry,
    Handoff,
    Kind,
    Standard,
    Summary,
    Task,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    import apsw

    from memrpc.workspace.model import Act, Repo

    Subject = Entry | Task | Standard

_BY_ID: Final = {
    Kind.ENTRY: "SELECT entry FROM entries WHERE id = :id",
    Kind.TASK: "SELECT task FROM tasks WHERE id = :id",
    Kind.STANDARD: "SELECT standard FROM standards WHERE id = :id",
}
_BY_CODE: Final = {
    Kind.ENTRY: "SELECT id FROM entries WHERE repo = :repo AND code = :code",
    Kind.TASK: "SELECT id FROM tasks WHERE repo = :repo AND code = :code",
    Kind.STANDARD: "SELECT id FROM standards WHERE repo = :repo AND code = :code",
}
_COMMENTED: Final = "SELECT task FROM comments WHERE id = :id"
_HOMES: Final = {
    Kind.HANDOFF: "SELECT repo FROM handoffs WHERE id = :id",
    Kind.CLAIM: "SELECT repo FROM claims WHERE id = :id",
}
_EXTENDS: Final = """
WITH RECURSIVE above (standard) AS (
  SELECT :start
  UNION
  SELECT standards.parent FROM above JOIN standards ON standards.standard = above.standard
  WHERE standards.parent IS NOT NULL
)
SELECT 1 FROM above WHERE standard = :sought
"""
_HANDOFF: Final = """
INSERT INTO handoffs (id, repo, from_agent, to_agent, task, summary, context, status, created_at,
  updated_at, expires_at)
VALUES (:id, :repo, :from_agent, :to_agent, :task, :summary, :context, :status, :created_at,
  :updated_at, :expires_at)
ON CONFLICT (id) DO UPDATE SET status = excluded.status, updated_at = excluded.updated_at
WHERE excluded.updated_at > handoffs.updated_at
RETURNING handoff
"""
# The token, by which the holder alone may write, is made here and told to nobody.
_CLAIM: Final = """
INSERT INTO claims (id, repo, task, agent, instance, role, token, metadata, claimed_at, expires_at,
  released_at, ended_by)
VALUES (:id, :repo, :task, :agent, :instance, :role, lower(hex(randomblob(16))), :metadata,
  :claimed_at, :expires_at, :released_at, :ended_by)
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


@dataclass(frozen=True, slots=True)
class _Shelf:
    """Where the subjects of a kind stand."""

    kind: Kind
    form: Callable[..., Subject]
    rows: ModuleType
    topic: str
    uri: str | None
    refs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Tie:
    """A subject that was written, and by field the ids of the others that it names."""

    shelf: _Shelf
    key: int
    others: dict[str, str]


_SHELVES: Final = (
    _Shelf(Kind.ENTRY, Entry, entries, topics.MEMORIES, "memory"),
    _Shelf(Kind.TASK, Task, tasks, topics.TASKS, "task", ("parent", "depends_on")),
    _Shelf(Kind.STANDARD, Standard, standards, topics.STANDARDS, None, ("parent",)),
)


def reader(act: Act) -> Reader:
    """Return what reads the workspace's lines, on behalf of ``act``."""
    subjects: dict[str, Importer] = {
        shelf.kind: partial(_import_subject, act, shelf) for shelf in _SHELVES
    }
    return Reader(
        {
            "repository": partial(_import_repository, act),
            Kind.SUMMARY: partial(_import_summary, act),
            **subjects,
            Kind.HANDOFF: partial(_import_handoff, act),
            Kind.CLAIM: partial(_import_claim, act),
        },
        _finish,
    )


def _repo(db: apsw.Connection, record: Record, act: Act) -> Repo:
    owner, name = transfer.text(record, "owner"), transfer.text(record, "repo")
    return scope.ensure(db, owner, name, now=act.now)


def _import_repository(
    act: Act, db: apsw.Connection, record: Record
) -> tuple[Outcome, Sequence[Tie]]:
    is_known = scope.find(db, transfer.text(record, "owner"), transfer.text(record, "repo")).key
    repo = _repo(db, record, act)
    for kind, prefix in codes.PREFIXES.items():
        codes.reserve(db, repo, kind, f"{prefix}-{int(record['codes'][str(kind)])}")
    upkeep_due.owe(db, now=act.now)
    return Outcome.KNOWN if is_known else Outcome.IMPORTED, ()


def _import_subject(
    act: Act, shelf: _Shelf, db: apsw.Connection, record: Record
) -> tuple[Outcome, Sequence[Tie]]:
    repo = _repo(db, record, act)
    found: Subject = lines.read(shelf.form, record, key=0, repo=repo.key)
    others = {name: transfer.text(record, name) for name in shelf.refs if record[name] is not None}
    if redacting.is_redacted(db, found.id):
        return Outcome.FORGOTTEN, ()
    before = _find(db, shelf, found.id)
    if before is None:
        key = _add(db, shelf, repo, found)
    else:
        _check_same(shelf, before, found)
        key = before.key
    is_newer = before is None or found.updated_at > before.updated_at
    if before is not None and is_newer:
        shelf.rows.save(db, replace(found, key=key))
    has_remarks = shelf.kind is Kind.TASK and _import_comments(db, key, record)
    if not (is_newer or has_remarks):
        return Outcome.KNOWN, ()
    _note(db, repo, act, shelf, before, found)
    return Outcome.IMPORTED, (Tie(shelf, key, others if is_newer else {}),)


def _find(db: apsw.Connection, shelf: _Shelf, subject_id: str) -> Subject | None:
    key: int | None = db.execute(_BY_ID[shelf.kind], {"id": subject_id}).get
    subject: Subject | None = None if key is None else shelf.rows.by_keys(db, [key])[key]
    return subject


def _add(db: apsw.Connection, shelf: _Shelf, repo: Repo, found: Subject) -> int:
    code = rules.check_code(found.code)
    holder: str | None = db.execute(_BY_CODE[shelf.kind], {"repo": repo.key, "code": code}).get
    if holder is not None:
        raise Conflict(
            f"code {code} is taken in {scope.full_name(repo)} by another {shelf.kind}, {holder}."
        )
    codes.reserve(db, repo, shelf.kind, code)
    key: int = shelf.rows.add(db, found)
    return key


def _check_same(shelf: _Shelf, before: Subject, found: Subject) -> None:
    if (before.repo, before.code) != (found.repo, found.code):
        raise Conflict(
            f"id {found.id} is taken here by another {shelf.kind}: {before.code}, or of another "
            "repository."
        )


def _import_comments(db: apsw.Connection, task: int, record: Record) -> bool:
    """Add the comments that are not here, and say whether there were any."""
    remarks = [lines.read(Comment, each) for each in record["comments"]]
    homes = {each.id: db.execute(_COMMENTED, {"id": each.id}).get for each in remarks}
    if set(homes.values()) - {None, task}:
        raise Conflict("a comment's id is taken here by a comment on another task.")
    owner = tasks.by_keys(db, [task])[task]
    new = [remark for remark in remarks if homes[remark.id] is None]
    for remark in new:
        tasks.add_comment(db, owner, remark)
    return bool(new)


def _note(
    db: apsw.Connection, repo: Repo, act: Act, shelf: _Shelf, before: Subject | None, after: Subject
) -> None:
    shown = None if before is None else actions.snapshot(before)
    change = Change("import", shelf.kind, after.id, after.code, shown, actions.snapshot(after))
    actions.log(db, repo, act, change)
    uris = () if shelf.uri is None else (f"{shelf.uri}://{after.id}",)
    topics.note(db, repo, (shelf.topic,), *uris, now=act.now)


def _import_handoff(act: Act, db: apsw.Connection, record: Record) -> tuple[Outcome, Sequence[Tie]]:
    if _is_redacted(db, record):
        return Outcome.FORGOTTEN, ()
    repo = _repo(db, record, act)
    task = None if record["task"] is None else _task(db, repo, record).key
    handoff = lines.read(Handoff, record, key=0, repo=repo.key, task=task)
    return _put(db, repo, act, Kind.HANDOFF, handoff), ()


def _import_claim(act: Act, db: apsw.Connection, record: Record) -> tuple[Outcome, Sequence[Tie]]:
    if _is_redacted(db, record):
        return Outcome.FORGOTTEN, ()
    repo = _repo(db, record, act)
    task = _task(db, repo, record)
    claim = lines.read(Claim, record, key=0, repo=repo.key, task=task.key)
    held = claims.open_claim(db, task)
    if claim.released_at is None and held is not None and held.id != claim.id:
        raise Conflict(f"{task.code} has another open claim here, of {held.agent}.")
    return _put(db, repo, act, Kind.CLAIM, claim), ()


def _import_summary(act: Act, db: apsw.Connection, record: Record) -> tuple[Outcome, Sequence[Tie]]:
    repo = _repo(db, record, act)
    values = _columns(lines.read(Summary, record)) | {"repo": repo.key}
    if db.execute(_SUMMARY, values).get is None:
        return Outcome.KNOWN, ()
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
    topics.note(db, repo, (topics.TASKS,), now=act.now)
    return Outcome.IMPORTED


def _columns(value: Handoff | Claim | Summary) -> dict[str, Any]:
    named = {f.name: getattr(value, f.name) for f in fields(value)}
    return {
        n: json_column.encode(v) if isinstance(v, dict | tuple) else v for n, v in named.items()
    }


def _finish(db: apsw.Connection, ties: Sequence[tuple[int, Tie]]) -> list[BadLine]:
    """Tie what names others, then index it; a circle is refused at the line that closes it."""
    bad: list[BadLine] = []
    for number, tie in ties:
        try:
            _join(db, tie)
        except DomainError as error:
            bad.append(BadLine(number, error.message))
    for _, tie in ties:
        _index(db, tie)
    return bad


def _join(db: apsw.Connection, tie: Tie) -> None:
    for name, other_id in tie.others.items():
        other = _find(db, tie.shelf, other_id)
        if other is None:
            continue
        if _is_circle(db, tie, name, other.key):
            raise InvalidArguments(f"{name} makes a circle: {other.code} leads back here.")
        subject = tie.shelf.rows.by_keys(db, [tie.key])[tie.key]
        tie.shelf.rows.save(db, replace(subject, **{name: other.key}))


def _is_circle(db: apsw.Connection, tie: Tie, name: str, other: int) -> bool:
    """Say whether the tie would lead back to where it begins."""
    if tie.shelf.kind is Kind.STANDARD:
        return db.execute(_EXTENDS, {"start": other, "sought": tie.key}).get is not None
    return tasks.waits_for(db, *((tie.key, other) if name == "parent" else (other, tie.key)))


def _index(db: apsw.Connection, tie: Tie) -> None:
    match tie.shelf.rows.by_keys(db, [tie.key])[tie.key]:
        case Entry() as entry:
            indexing.put_entry(db, entry, rebuilding.entry_links(db, entry))
        case Task() as task:
            decisions = task_writing.decisions_of(db, scope.by_key(db, task.repo), task)
            indexing.put_task(db, task, tasks.comments(db, task), decisions)
        case Standard() as standard:
            indexing.put_standard(db, standard)
