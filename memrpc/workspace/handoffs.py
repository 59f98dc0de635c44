"""Handoffs: unfinished work passed on, answered once.

A handoff that waits too long is expired by the clock alone; whoever reads it sees that.  Accepting
one claims its task for the accepting agent in the same transaction, or fails whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.store import json_column, lanes
from memrpc.store.errors import InvalidArguments, NotFound
from memrpc.store.where import compose
from memrpc.workspace import actions, asking, fields, rules, scope, tasks, times, topics
from memrpc.workspace.actions import Change
from memrpc.workspace.model import UNKNOWN, Comment, Handoff, HandoffStatus, Kind

if TYPE_CHECKING:
    from collections.abc import Collection

    import apsw

    from memrpc.store.json_column import JSON
    from memrpc.workspace.model import Act, Object, Repo, Task

MAX_SEARCHED: Final = 1_000
_SHORT_ID: Final = 8
_NEXT_STEPS_CHARS: Final = 300

_COLUMNS: Final = """
SELECT handoff, id, repo, from_agent, to_agent, task, summary, context, status, created_at,
  updated_at, expires_at
FROM handoffs
"""
_BY_ID: Final = _COLUMNS + "WHERE repo = :repo AND id = :id"
_BY_SHORT_ID: Final = (
    _COLUMNS + "WHERE repo = :repo AND substr(id, -8) = :id ORDER BY handoff DESC LIMIT 1"
)
_PENDING_OF: Final = _COLUMNS + "WHERE task = :task AND status = 'pending'"
_OF_REPO: Final = "repo = :repo"
_FROM: Final = "from_agent = :from_agent"
_TO: Final = "to_agent = :to_agent"
_STATUS: Final = "status = :status"
_PENDING: Final = "status = 'pending' AND (expires_at IS NULL OR expires_at > :now)"
_EXPIRED: Final = "status = 'expired' OR (status = 'pending' AND expires_at <= :now)"
_NEWEST: Final = "ORDER BY handoff DESC LIMIT :limit"
_ADD: Final = """
INSERT INTO handoffs (id, repo, from_agent, to_agent, task, summary, context, status, created_at,
  updated_at, expires_at)
VALUES (:id, :repo, :from_agent, :to_agent, :task, :summary, :context, :status, :created_at,
  :updated_at, :expires_at)
RETURNING handoff
"""
_SET: Final = "UPDATE handoffs SET status = :status, updated_at = :now WHERE handoff = :handoff"


class HandoffDraft(NamedTuple):
    """What a caller says of a new handoff; ``expires_at`` is ISO 8601 with a zone."""

    from_agent: str
    summary: str
    to_agent: str | None = None
    task: str | None = None
    context: Object | None = None
    expires_at: str | None = None


def create(db: apsw.Connection, repo: Repo, draft: HandoffDraft, act: Act) -> Handoff:
    """Offer unfinished work to another agent.

    Raises InvalidArguments for a handoff of nothing or a time that has no zone or has passed,
    InvalidState for a task that is over.
    """
    rules.check_text(draft.from_agent, "from_agent", rules.SHORT_CHARS)
    rules.check_text(draft.summary, "summary", rules.LONG_CHARS)
    told = draft.context or {}
    context = json_column.encode(told)
    rules.check_object(context, "context")
    task = None if draft.task is None else tasks.find(db, repo, draft.task)
    rules.check_handoff_reason(draft.to_agent, has_task=task is not None, context=told)
    if task is not None:
        rules.check_unfinished(task.code, task.status)
    handoff = Handoff(
        key=0,
        id=act.new_id(),
        repo=repo.key,
        from_agent=draft.from_agent,
        to_agent=draft.to_agent,
        task=None if task is None else task.key,
        summary=draft.summary,
        context=told,
        status=HandoffStatus.PENDING,
        created_at=act.now,
        updated_at=act.now,
        expires_at=_expiry(draft.expires_at, act.now),
    )
    values = fields.of(handoff) | {"context": context}
    handoff = handoff._replace(key=db.execute(_ADD, values).get)
    if task is not None:
        said = f"{draft.from_agent} → {draft.to_agent or 'anyone'} — {draft.summary}"
        _remark(db, task, f"Handoff [{short(handoff)}] created: {said}", act)
    _log(db, repo, act, None, handoff, task)
    return handoff


def answer(
    db: apsw.Connection, repo: Repo, handoff: Handoff, status: HandoffStatus, act: Act
) -> Handoff:
    """Accept, reject or expire a pending handoff, once.

    Raises InvalidState for one that was answered or whose time is over.
    """
    rules.check_handoff_move(handoff.status_at(act.now), status, handoff.id)
    _set(db, handoff, status, act)
    after = handoff._replace(status=status, updated_at=act.now)
    task = task_of(db, handoff)
    if task is not None:
        _remark(db, task, _answered(handoff, status, act), act)
    _log(db, repo, act, handoff, after, task)
    return after


def _answered(handoff: Handoff, status: HandoffStatus, act: Act) -> str:
    said = f"Handoff [{short(handoff)}] {status} by {act.agent}"
    steps = handoff.context.get("next_steps")
    if status is HandoffStatus.ACCEPTED and steps:
        said += f". Next steps: {_listed(steps)}"[:_NEXT_STEPS_CHARS]
    return said


def expire_of(db: apsw.Connection, repo: Repo, task: Task, act: Act) -> int:
    """Expire what is pending on a task that is over; returns how many."""
    rows: list[Any] = db.execute(_PENDING_OF, {"task": task.key}).fetchall()
    for handoff in map(_handoff, rows):
        lanes.checkpoint()
        _set(db, handoff, HandoffStatus.EXPIRED, act)
        after = handoff._replace(status=HandoffStatus.EXPIRED, updated_at=act.now)
        _log(db, repo, act, handoff, after, task)
    return len(rows)


def find(db: apsw.Connection, repo: Repo, handoff_id: str) -> Handoff:
    """Return the newest handoff of this id, or short id, in this repository.  Raises NotFound."""
    handle = handoff_id.strip()
    values = {"repo": repo.key, "id": handle}
    row = db.execute(_BY_ID, values).get
    if row is None and len(handle) == _SHORT_ID:
        row = db.execute(_BY_SHORT_ID, values).get
    if row is None:
        raise NotFound(
            f"Handoff not found: {handoff_id} in {scope.full_name(repo)}; list them with "
            "handoff-read.",
            id=handoff_id,
        )
    return _handoff(row)


class HandoffFilter(NamedTuple):
    """Which handoffs to list; of the words of ``query`` half must stand in it."""

    status: HandoffStatus | None = None
    from_agent: str | None = None
    to_agent: str | None = None
    query: str = ""
    limit: int = 20
    offset: int = 0


def listed(
    db: apsw.Connection, repo: Repo, chosen: HandoffFilter, *, now: int
) -> tuple[list[Handoff], int]:
    """List handoffs, those that fit the words best and then the newest first.

    They are looked for among the newest thousand, of which the second value says how many fit.
    """
    conditions = [_OF_REPO]
    conditions += [_FROM] if chosen.from_agent else []
    conditions += [_TO] if chosen.to_agent else []
    conditions += [_STATUSES.get(chosen.status, _STATUS)] if chosen.status else []
    values = {
        "repo": repo.key,
        "from_agent": chosen.from_agent,
        "to_agent": chosen.to_agent,
        "status": None if chosen.status is None else str(chosen.status),
        "now": now,
        "limit": MAX_SEARCHED,
    }
    statement = compose(_COLUMNS, conditions, _NEWEST)
    bound = {name: value for name, value in values.items() if f":{name}" in statement}
    rows: list[Any] = db.execute(statement, bound).fetchall()
    end = chosen.offset + chosen.limit
    if not chosen.query:
        return [_handoff(row) for row in rows[chosen.offset : end]], len(rows)
    fitting = asking.fitting(chosen.query, with_tasks(db, list(map(_handoff, rows))), _text)
    return [handoff for handoff, _ in fitting[chosen.offset : end]], len(fitting)


_STATUSES: Final = {HandoffStatus.PENDING: _PENDING, HandoffStatus.EXPIRED: _EXPIRED}


def with_tasks(
    db: apsw.Connection, found: Collection[Handoff]
) -> list[tuple[Handoff, Task | None]]:
    """Return each handoff with the task that it passes on, if it is still there."""
    known = tasks.by_keys(db, {each.task for each in found if each.task is not None})
    return [(each, known.get(each.task or 0)) for each in found]


def task_of(db: apsw.Connection, handoff: Handoff) -> Task | None:
    """Return the task that the handoff passes on, if it is still there."""
    return None if handoff.task is None else tasks.by_keys(db, [handoff.task]).get(handoff.task)


def short(handoff: Handoff) -> str:
    """Return the part of the id by which people speak of it."""
    return handoff.id.replace("-", "")[-_SHORT_ID:]


def _listed(steps: JSON) -> str:
    """Return steps as a sentence has them, whatever they were given as."""
    items = steps if isinstance(steps, list) else [steps]
    return "; ".join(item if isinstance(item, str) else json_column.encode(item) for item in items)


def _expiry(text: str | None, now: int) -> int | None:
    if text is None:
        return None
    expires_at = times.parse(text, "expires_at")
    if expires_at <= now:
        raise InvalidArguments(
            f"expires_at {text} has passed; send a time in the future, or leave it out.",
            field="expires_at",
        )
    return expires_at


def _text(found: tuple[Handoff, Task | None]) -> str:
    """Return the words by which a handoff is found: its own, and those of its task's head."""
    handoff, task = found
    named = "" if task is None else f"{task.code} {task.title}"
    agents = f"{handoff.from_agent} {handoff.to_agent or ''}"
    return f"{handoff.summary} {agents} {named} {json_column.encode(handoff.context)}"


def _set(db: apsw.Connection, handoff: Handoff, status: HandoffStatus, act: Act) -> None:
    values = {"handoff": handoff.key, "status": str(status), "now": act.now}
    db.execute(_SET, values).fetchall()


def _remark(db: apsw.Connection, task: Task, text: str, act: Act) -> None:
    remark = Comment(act.new_id(), text, act.agent, UNKNOWN, UNKNOWN, None, None, act.now)
    tasks.add_comment(db, task, remark)


def _log(
    db: apsw.Connection,
    repo: Repo,
    act: Act,
    before: Handoff | None,
    after: Handoff,
    task: Task | None,
) -> None:
    operation = "create" if before is None else "update"
    shown = None if before is None else actions.snapshot(before)
    change = Change(operation, Kind.HANDOFF, after.id, None, shown, actions.snapshot(after))
    actions.log(db, repo, act, change)
    named = () if task is None else (f"task://{task.id}",)
    topics.note(db, repo, (topics.TASKS,), *named, now=act.now)


def _handoff(row: Any) -> Handoff:  # noqa: ANN401 -- a row as apsw returns it
    values: list[Any] = list(row)
    values[7] = json_column.decode_object(row[7])
    values[8] = HandoffStatus(row[8])
    return Handoff(*values)
