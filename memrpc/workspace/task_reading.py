"""Reading tasks: the list of what is to be done, search, and one task with all around it."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.store.errors import NotFound
from memrpc.store.where import compose
from memrpc.workspace import claims, graph, scope, tasks
from memrpc.workspace.graph import Subgraph
from memrpc.workspace.handles import resolve
from memrpc.workspace.model import Claim, Comment, Kind, Task, TaskStatus
from memrpc.workspace.searching import Mark

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.model import Repo
    from memrpc.workspace.windows import Window

LIST_ORDER: Final = (
    TaskStatus.IN_PROGRESS,
    TaskStatus.PENDING,
    TaskStatus.BACKLOG,
    TaskStatus.BLOCKED,
    TaskStatus.CANCELED,
    TaskStatus.COMPLETED,
)
DEFAULT_STATUSES: Final = (TaskStatus.BACKLOG, TaskStatus.IN_PROGRESS)
ACTIVE: Final = (
    TaskStatus.IN_PROGRESS,
    TaskStatus.PENDING,
    TaskStatus.BACKLOG,
    TaskStatus.BLOCKED,
)

SELECT: Final = "SELECT task FROM tasks"
OF_REPO: Final = "repo = :repo"
_STATUS: Final = "status = :status"
_STATUSES: Final = "status IN (SELECT value FROM json_each(:statuses))"
_PHASE: Final = "phase = :phase COLLATE NOCASE"
_PRIORITY: Final = "priority = :priority"
_ISSUE: Final = "task IN (SELECT task FROM task_issues WHERE issue = :issue)"
_CREATED: Final = "created_at >= :since AND created_at < :until"
_WHEN: Final[dict[tuple[TaskStatus, ...], str]] = {
    (TaskStatus.COMPLETED,): "finished_at >= :since AND finished_at < :until",
    (TaskStatus.CANCELED,): "canceled_at >= :since AND canceled_at < :until",
    (TaskStatus.IN_PROGRESS,): "in_progress_at >= :since AND in_progress_at < :until",
}
"""What a time means where the tasks of one status are asked for; else it is when they were made."""
_BY_PRIORITY: Final = "ORDER BY priority DESC, task LIMIT :limit OFFSET :offset"
_BY_UPDATE: Final = "ORDER BY updated_at DESC, task LIMIT :limit OFFSET :offset"
_HANDOFFS: Final = """
SELECT task, count(*), max(handoff) FROM handoffs
WHERE task IN (SELECT value FROM json_each(:keys)) AND status = 'pending'
AND (expires_at IS NULL OR expires_at > :now) GROUP BY task
"""
_HANDOFF: Final = """
SELECT id, summary, to_agent, created_at FROM handoffs WHERE handoff = :handoff
"""
_COUNT: Final = "SELECT count(*) FROM tasks"
_FOREVER: Final = 1 << 62
_COMMENT_CHARS: Final = 200
"""What a comment or a task nearby needs besides its text."""
CUT_ITEMS: Final = 5
CUT_CHARS: Final = 300


class TaskFilter(NamedTuple):
    """Which tasks to list or search."""

    statuses: tuple[TaskStatus, ...] = ()
    phase: str | None = None
    priority: int | None = None
    issue: int | None = None
    limit: int = 5
    offset: int = 0

    def conditions(self, window: Window | None = None) -> dict[str, dict[str, Any]]:
        """Return the fragments that apply, each with the values that it binds."""
        chosen: dict[str, dict[str, Any]] = {}
        if self.statuses:
            chosen[_STATUSES] = {"statuses": json.dumps([str(each) for each in self.statuses])}
        if window is not None:
            since, until = window.since, window.until
            when = _WHEN.get(self.statuses, _CREATED)
            chosen[when] = {"since": since or -_FOREVER, "until": until or _FOREVER}
        return chosen | self._plain()

    def with_statuses(self, statuses: tuple[TaskStatus, ...]) -> TaskFilter:
        """Return the filter with these statuses."""
        return self._replace(statuses=statuses)

    def _plain(self) -> dict[str, dict[str, Any]]:
        named = (
            (_PHASE, "phase", self.phase),
            (_PRIORITY, "priority", self.priority),
            (_ISSUE, "issue", self.issue),
        )
        return {fragment: {key: value} for fragment, key, value in named if value is not None}


class TaskRow(NamedTuple):
    """A task as a list shows it."""

    task: Task
    comments: int = 0
    mark: Mark | None = None
    issues: tuple[int, ...] = ()
    matched: str = "text"


class TaskList(NamedTuple):
    """A page of tasks, with how many there are by status and in all."""

    rows: tuple[TaskRow, ...]
    total: int
    tallies: dict[TaskStatus, int]
    graph: Subgraph
    window: Window | None = None
    reason: str | None = None
    near: tuple[str, ...] = ()


class Waiting(NamedTuple):
    """The newest handoff that waits on a task, and how many do."""

    total: int
    id: str
    summary: str
    to_agent: str | None
    created_at: int


class TaskDetail(NamedTuple):
    """A task with everything around it."""

    task: Task
    parent: Task | None
    dependency: Task | None
    claim: Claim | None
    waiting: Waiting | None
    comments: tuple[Comment, ...]
    children: tuple[Task, ...]
    depended_by: tuple[Task, ...]
    graph: Subgraph
    comment_count: int
    is_cut: bool = False


def listing(db: apsw.Connection, repo: Repo, chosen: TaskFilter) -> TaskList:
    """List tasks: in progress first, then by priority and age; completed ones by their end."""
    statuses = chosen.statuses or tuple(TaskStatus)
    filters = TaskFilter((), chosen.phase, chosen.priority, chosen.issue).conditions()
    tallies = tasks.tallies(db, repo)
    keys: list[int] = []
    skip = chosen.offset
    total = 0
    for status in (each for each in LIST_ORDER if each in statuses):
        count = _counted(db, repo, status, filters) if filters else tallies.get(status, 0)
        total += count
        if skip < count and len(keys) < chosen.limit:
            keys += _page(db, repo, status, filters, chosen.limit - len(keys), skip)
        skip = max(0, skip - count)
    return _listed(db, keys, total, tallies)


def details(
    db: apsw.Connection, repo: Repo, handles: Sequence[str], *, now: int
) -> tuple[list[TaskDetail], list[str]]:
    """Return the tasks that these ids and codes name, in their order, and what names none.

    Raises NotFound when none is there.
    """
    found, missing = resolve(handles, lambda handle: tasks.find(db, repo, handle))
    if not found:
        raise NotFound(
            f"No tasks found for {', '.join(handles)} in {scope.full_name(repo)}.",
            ids=list(handles),
        )
    return [detail(db, task, now=now) for task in found], missing


def detail(db: apsw.Connection, task: Task, *, now: int) -> TaskDetail:
    """Return the task with everything around it."""
    near = tasks.by_keys(db, [key for key in (task.parent, task.depends_on) if key is not None])
    comments = tuple(tasks.comments(db, task))
    return TaskDetail(
        task=task,
        parent=near.get(task.parent or 0),
        dependency=near.get(task.depends_on or 0),
        claim=claims.live_of(db, [task.key], now=now).get(task.key),
        waiting=waiting(db, [task.key], now=now).get(task.key),
        comments=comments,
        children=tuple(tasks.children(db, task)),
        depended_by=tuple(tasks.depending(db, task)),
        graph=graph.around(db, Kind.TASK, [task.key]),
        comment_count=len(comments),
    )


def within(found: TaskDetail, max_chars: int) -> TaskDetail:
    """Return the task as it is, or with less of what was said and what stands around it."""
    said = sum(len(each.text) + _COMMENT_CHARS for each in found.comments)
    around = len(found.children) + len(found.depended_by)
    if said + around * _COMMENT_CHARS <= max_chars:
        return found
    comments = [each._replace(text=each.text[:CUT_CHARS]) for each in found.comments[:CUT_ITEMS]]
    return found._replace(
        comments=tuple(comments),
        children=found.children[:CUT_ITEMS],
        depended_by=found.depended_by[:CUT_ITEMS],
        is_cut=True,
    )


def waiting(db: apsw.Connection, keys: Collection[int], *, now: int) -> dict[int, Waiting]:
    """Return what waits to be handed over on each task."""
    values = {"keys": json.dumps(list(keys)), "now": now}
    rows: list[Any] = db.execute(_HANDOFFS, values).fetchall()
    found: dict[int, Waiting] = {}
    for key, count, newest in rows:
        found[key] = Waiting(count, *db.execute(_HANDOFF, {"handoff": newest}).get)
    return found


def status_list(text: str | None) -> tuple[TaskStatus, ...]:
    """Read "all" or a list of statuses with commas.  Raises ValueError for another word."""
    words = [word.strip().casefold() for word in (text or "").split(",") if word.strip()]
    return tuple(TaskStatus) if "all" in words else tuple(TaskStatus(word) for word in words)


def _page(
    db: apsw.Connection,
    repo: Repo,
    status: TaskStatus,
    filters: dict[str, dict[str, Any]],
    limit: int,
    offset: int,
) -> list[int]:
    order = _BY_UPDATE if status is TaskStatus.COMPLETED else _BY_PRIORITY
    values: dict[str, Any] = {"repo": repo.key, "status": str(status)}
    for bound in filters.values():
        values |= bound
    statement = compose(SELECT, [OF_REPO, _STATUS, *filters], order)
    rows: list[Any] = db.execute(statement, values | {"limit": limit, "offset": offset}).fetchall()
    return [key for (key,) in rows]


def _counted(
    db: apsw.Connection, repo: Repo, status: TaskStatus, filters: dict[str, dict[str, Any]]
) -> int:
    values: dict[str, Any] = {"repo": repo.key, "status": str(status)}
    for bound in filters.values():
        values |= bound
    count: int = db.execute(compose(_COUNT, [OF_REPO, _STATUS, *filters]), values).get
    return count


def _listed(
    db: apsw.Connection, keys: list[int], total: int, tallies: dict[TaskStatus, int]
) -> TaskList:
    known, counts = tasks.by_keys(db, keys), tasks.comment_counts(db, keys)
    rows = tuple(TaskRow(known[key], counts.get(key, 0)) for key in keys)
    return TaskList(rows, total, tallies, graph.around(db, Kind.TASK, keys))
