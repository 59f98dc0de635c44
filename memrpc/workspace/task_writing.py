"""Writing tasks: create, update, delete; each in the caller's transaction.

A change of status passes the gates of ``rules.TASK_MOVES``.  A task that is over lets go of its
claims and pending handoffs, and a completed one leaves an entry that records what was done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.store.errors import Conflict, InvalidArguments
from memrpc.workspace import (
    actions,
    claims,
    codes,
    entries,
    handoffs,
    indexing,
    rules,
    scope,
    task_archive,
    task_drafts,
    tasks,
    topics,
    upkeep_due,
)
from memrpc.workspace.actions import Change
from memrpc.workspace.graph import Link
from memrpc.workspace.model import UNKNOWN, Comment, Kind, Task, TaskStatus
from memrpc.workspace.rules import Gate, Move
from memrpc.workspace.task_drafts import TaskDraft

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.model import Act, Repo

_STAMPS: Final = {
    TaskStatus.IN_PROGRESS: "in_progress_at",
    TaskStatus.COMPLETED: "finished_at",
    TaskStatus.CANCELED: "canceled_at",
}


class TaskUpdated(NamedTuple):
    """A task after a change, with what it was, which fields are new and what was let go."""

    task: Task
    before: Task
    fields: tuple[str, ...]
    released_claims: int = 0
    expired_handoffs: int = 0


def create(db: apsw.Connection, repo: Repo, given: TaskDraft, act: Act) -> Task:
    """Keep a new task; with many pending ones it goes to the backlog instead.

    Raises InvalidArguments, NotFound for a parent, dependency or decision that is not there,
    Conflict when the code is taken.
    """
    draft = task_drafts.checked(given)
    task_drafts.check_complete(draft)
    status = draft.status or TaskStatus.BACKLOG
    rules.check_start(status)
    if status is TaskStatus.PENDING and tasks.pending(db, repo) > rules.MAX_PENDING:
        status = TaskStatus.BACKLOG
    links = _decisions(db, repo, draft)
    task = _new(db, repo, draft, status, act)
    added = task._replace(key=tasks.add(db, task))
    task = _joined(db, repo, added, draft)
    if task != added:
        tasks.save(db, task)
    indexing.put_task(db, task, (), links, is_new=True)
    if draft.comment:
        comment(db, task, draft.comment, act, draft=draft)
    _log(db, repo, act, "create", None, task)
    upkeep_due.owe(db, now=act.now)
    return task


def update(db: apsw.Connection, repo: Repo, handle: str, given: TaskDraft, act: Act) -> TaskUpdated:
    """Change what ``given`` says and leave the rest, authorship included.

    Raises what ``rules.check_move`` and ``claims.check_writer`` refuse.
    """
    draft = task_drafts.checked(given)
    before = tasks.find(db, repo, handle)
    after = _joined(db, repo, before._replace(**task_drafts.changes(before, draft)), draft)
    moves = draft.status is not None and draft.status is not before.status
    claims.check_writer(db, before, act, token=draft.claim_token, moves=moves, force=draft.force)
    fields = _fields(before, after, draft)
    if not fields:
        raise InvalidArguments(
            f"nothing to change for {before.code}; send at least one field such as status with "
            "comment, title, description or priority.",
            field="code",
        )
    if moves:
        after = _moved(db, after, TaskStatus(str(draft.status)), draft, act)
    after = after._replace(updated_at=act.now)
    tasks.save(db, after)
    _forget_issues(db, before, after)
    if moves or draft.comment:
        said = draft.comment or f"Status updated to {after.status}"
        comment(db, after, said, act, before=before.status if moves else None, draft=draft)
    indexing.put_task(db, after, tasks.comments(db, after), _decisions(db, repo, draft, after))
    released, expired = _let_go(db, repo, before, after, act) if moves else (0, 0)
    _log(db, repo, act, "update", before, after)
    return TaskUpdated(after, before, fields, released, expired)


def start(db: apsw.Connection, repo: Repo, task: Task, act: Act, said: str, *, force: bool) -> Task:
    """Bring a claimed task into progress, with a comment of its own."""
    draft = TaskDraft(comment=said, force=force)
    moved = _moved(db, task, TaskStatus.IN_PROGRESS, draft, act)
    after = moved._replace(updated_at=act.now)
    tasks.save(db, after)
    comment(db, after, str(draft.comment), act, before=task.status)
    _log(db, repo, act, "start", task, after)
    return after


def delete(db: apsw.Connection, repo: Repo, handle: str, act: Act) -> Task:
    """Delete the row for good; its comments stay in the action log."""
    task = tasks.find(db, repo, handle)
    remarks = tasks.comments(db, task)
    claims.end_all(db, task, act)
    handoffs.expire_of(db, repo, task, act)
    indexing.remove(db, Kind.TASK, task.key)
    near = tasks.around(db, task)
    tasks.delete(db, task)
    change = Change("delete", Kind.TASK, task.id, task.code, actions.snapshot(task, remarks))
    actions.log(db, repo, act, change)
    topics.note_tasks(db, repo, task, *near, now=act.now)
    return task


def comment(
    db: apsw.Connection,
    task: Task,
    text: str,
    act: Act,
    *,
    before: TaskStatus | None = None,
    draft: TaskDraft | None = None,
) -> None:
    """Write a comment; with ``before`` it is the trace of a change of status."""
    remark = Comment(
        id=act.new_id(),
        text=text,
        agent=act.agent,
        role=(draft.role if draft else None) or UNKNOWN,
        model=(draft.model if draft else None) or UNKNOWN,
        previous_status=before,
        next_status=None if before is None else task.status,
        created_at=act.now,
    )
    tasks.add_comment(db, task, remark)


def _new(db: apsw.Connection, repo: Repo, draft: TaskDraft, status: TaskStatus, act: Act) -> Task:
    phase = str(draft.phase)
    return Task(
        key=0,
        id=act.new_id(),
        repo=repo.key,
        code=_code(db, repo, draft.code),
        phase=phase,
        title=str(draft.title),
        description=str(draft.description),
        status=status,
        priority=draft.priority or 3,
        agent=act.agent,
        role=draft.role or UNKNOWN,
        model=draft.model or UNKNOWN,
        doc_path=draft.doc_path,
        created_at=act.now,
        updated_at=act.now,
        in_progress_at=None,
        finished_at=None,
        canceled_at=None,
        est_tokens=draft.est_tokens or 0,
        commit_id=draft.commit_id,
        changed_files=draft.changed_files or (),
        tags=task_drafts.tagged(draft.tags or (), phase),
        suggested_skills=draft.suggested_skills or (),
        metadata=task_drafts.metadata(draft.metadata or {}, draft),
        parent=None,
        depends_on=None,
    )


def _code(db: apsw.Connection, repo: Repo, chosen: str | None) -> str:
    if chosen is None:
        return codes.take(db, repo, Kind.TASK)
    code = rules.check_code(chosen)
    if tasks.holds_code(db, repo, code):
        raise Conflict(
            f"code {code} already exists in {scope.full_name(repo)}; leave it out to get the next "
            "one.",
            code=code,
        )
    codes.reserve(db, repo, Kind.TASK, code)
    return code


def _fields(before: Task, after: Task, draft: TaskDraft) -> tuple[str, ...]:
    """Name what the caller changes, in the caller's words."""
    changed = [name for name in task_drafts.changes(before, draft) if name in task_drafts.SHOWN]
    named = {
        "status": draft.status is not None and draft.status is not before.status,
        "comment": draft.comment is not None,
        "parent_id": after.parent != before.parent,
        "depends_on": after.depends_on != before.depends_on,
    }
    return (*changed, *(name for name, is_new in named.items() if is_new))


def _forget_issues(db: apsw.Connection, before: Task, after: Task) -> None:
    """Forget the issues that only the words named which are no longer there."""
    words = (before.title, before.description)
    if words != (after.title, after.description) and tasks.issues_in("\n".join(words)):
        tasks.recount_issues(db, after)


def _decisions(
    db: apsw.Connection, repo: Repo, draft: TaskDraft, task: Task | None = None
) -> list[Link]:
    """Return the links to the decisions that a task names.  New ones must exist."""
    if draft.decision_refs is None and task is not None:
        return decisions_of(db, repo, task)
    found = [entries.find(db, repo, ref) for ref in draft.decision_refs or ()]
    return [Link("decided_in", Kind.ENTRY, entry.key) for entry in found]


def decisions_of(db: apsw.Connection, repo: Repo, task: Task) -> list[Link]:
    """Return the links to those of the task's decisions that are still there."""
    refs = task.metadata.get(task_drafts.DECISIONS, ())
    found = (entries.find_or_none(db, repo, str(ref)) for ref in refs)
    return [Link("decided_in", Kind.ENTRY, entry.key) for entry in found if entry is not None]


def _joined(db: apsw.Connection, repo: Repo, task: Task, draft: TaskDraft) -> Task:
    """Return the task with the parent and the dependency that the draft names."""
    if draft.depends_on is not None and task.depends_on is not None:
        task = task._replace(depends_on=None)
        tasks.save(db, task)  # The parent's search for cycles must not see what ends.
    if draft.parent_id is not None:
        task = task._replace(parent=_other(db, repo, task, draft.parent_id, "parent_id"))
        tasks.save(db, task)  # The dependency's search for cycles has to see it.
    if draft.depends_on is not None:
        task = task._replace(depends_on=_other(db, repo, task, draft.depends_on, "depends_on"))
    return task


def _other(db: apsw.Connection, repo: Repo, task: Task, handle: str, field: str) -> int | None:
    """Return the key of another task; refuse what would make a task wait for itself."""
    if not handle.strip():
        return None
    other = tasks.find(db, repo, handle)
    waiting = (task.key, other.key) if field == "parent_id" else (other.key, task.key)
    if other.key == task.key or tasks.waits_for(db, *waiting):
        raise InvalidArguments(
            f"{field} {other.code} would make a cycle: {task.code} would wait for itself. Send "
            "another task, or an empty string to clear it.",
            field=field,
            code=task.code,
        )
    return other.key


def _moved(db: apsw.Connection, task: Task, status: TaskStatus, draft: TaskDraft, act: Act) -> Task:
    """Return the task in its new status, if the gates let it through."""
    rules.check_move(_move(db, task, status, draft), force=draft.force)
    stamps: dict[str, Any] = {"finished_at": None, "canceled_at": None}
    if status in _STAMPS:
        stamps[_STAMPS[status]] = act.now
    return task._replace(status=status, **stamps)


def _move(db: apsw.Connection, task: Task, status: TaskStatus, draft: TaskDraft) -> Move:
    waits = None if task.depends_on is None else tasks.by_keys(db, [task.depends_on])
    dependency = None if waits is None else waits.get(task.depends_on or 0)
    is_open = dependency is not None and dependency.status is not TaskStatus.COMPLETED
    asks = Gate.CHILDREN in rules.TASK_MOVES[task.status, status]
    children = tasks.children(db, task) if asks else []
    return Move(
        code=task.code,
        before=task.status,
        after=status,
        has_comment=draft.comment is not None,
        open_dependency=dependency.code if dependency is not None and is_open else None,
        dependency_status=None if dependency is None else dependency.status,
        open_children=tuple(c.code for c in children if c.status not in rules.CLOSED),
    )


def _let_go(
    db: apsw.Connection, repo: Repo, before: Task, after: Task, act: Act
) -> tuple[int, int]:
    """End claims and handoffs of a task that is over, and record a completed one."""
    if after.status not in rules.CLOSED:
        return 0, 0
    released = claims.end_all(db, after, act)
    expired = handoffs.expire_of(db, repo, after, act)
    if after.status is TaskStatus.COMPLETED and before.status is not TaskStatus.COMPLETED:
        task_archive.record(db, repo, after, act)
    return released, expired


def _log(
    db: apsw.Connection, repo: Repo, act: Act, operation: str, before: Task | None, after: Task
) -> None:
    shown = None if before is None else actions.snapshot(before)
    change = Change(operation, Kind.TASK, after.id, after.code, shown, actions.snapshot(after))
    actions.log(db, repo, act, change)
    above = tasks.above(db, after) if before is None else tasks.above(db, before, after)
    topics.note_tasks(db, repo, after, *above, now=act.now)
