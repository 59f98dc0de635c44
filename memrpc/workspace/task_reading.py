"""Reading tasks: the list of what is to be done, search, and one task with all around it."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memrpc.recall.model import never_cancelled
from memrpc.store.errors import NotFound
from memrpc.store.where import compose
from memrpc.workspace import claims, graph, indexing, scope, searching, tasks, windows
from memrpc.workspace.graph import Subgraph
from memrpc.workspace.model import Claim, Comment, Kind, Task, TaskStatus
from memrpc.workspace.searching import Mark, Place

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
_ISSUE_PRIOR: Final = 5.0
_MONTH_US: Final = 30 * 86_400_000_000

_SELECT: Final = "SELECT task FROM tasks"
_OF_REPO: Final = "repo = :repo"
_STATUS: Final = "status = :status"
_STATUSES: Final = "status IN (SELECT value FROM json_each(:statuses))"
_PHASE: Final = "phase = :phase COLLATE NOCASE"
_PRIORITY: Final = "priority = :priority"
_ISSUE: Final = "task IN (SELECT task FROM task_issues WHERE issue = :issue)"
_CREATED: Final = "created_at >= :since AND created_at < :until"
_BY_PRIORITY: Final = "ORDER BY priority DESC, task LIMIT :limit OFFSET :offset"
_BY_UPDATE: Final = "ORDER BY updated_at DESC, task DESC LIMIT :limit OFFSET :offset"
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


@dataclass(frozen=True, slots=True)
class TaskFilter:
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
            chosen[_CREATED] = {"since": since or -_FOREVER, "until": until or _FOREVER}
        return chosen | self._plain()

    def _plain(self) -> dict[str, dict[str, Any]]:
        named = (
            (_PHASE, "phase", self.phase),
            (_PRIORITY, "priority", self.priority),
            (_ISSUE, "issue", self.issue),
        )
        return {fragment: {key: value} for fragment, key, value in named if value is not None}


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task as a list shows it."""

    task: Task
    comments: int = 0
    mark: Mark | None = None
    issues: tuple[int, ...] = ()
    matched: str = "text"


@dataclass(frozen=True, slots=True)
class TaskList:
    """A page of tasks, with how many there are by status and in all."""

    rows: tuple[TaskRow, ...]
    total: int
    tallies: dict[TaskStatus, int]
    graph: Subgraph
    window: Window | None = None
    reason: str | None = None
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Waiting:
    """The newest handoff that waits on a task, and how many do."""

    count: int
    id: str
    summary: str
    to_agent: str | None
    created_at: int


@dataclass(frozen=True, slots=True)
class TaskDetail:
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


def search(
    db: apsw.Connection,
    repo: Repo,
    query: str,
    chosen: TaskFilter,
    *,
    now: int,
    checkpoint: Callable[[], None] = never_cancelled,
) -> TaskList:
    """Find tasks that answer a question; without words the newest that pass the filters."""
    text, window = windows.extract(query.strip(), now)
    conditions = chosen.conditions(window)
    within = _selected(db, repo, conditions) if conditions else None
    named = frozenset(tasks.issues_in(query)) | _spoken_issues(query)
    if not text:
        newest = sorted(within or (), reverse=True)
        return _found(db, _Seen(repo, "", window), newest, chosen)
    place = Place(indexing.scope_of(repo.key), within)
    issue_keys = _of_issues(db, repo, named, within)

    def priors(keys: Collection[int]) -> dict[int, float]:
        known = tasks.by_keys(db, keys)
        return {key: _prior(each, now, is_named=key in issue_keys) for key, each in known.items()}

    result = searching.ranked(db, text, Kind.TASK, [place], priors, checkpoint)
    linked = [key for key in issue_keys if key not in result.subjects]
    subjects = [*(key for key in result.subjects if key in issue_keys), *linked]
    subjects += [key for key in result.subjects if key not in issue_keys]
    seen = _Seen(repo, text, window, frozenset(issue_keys), is_filtered=within is not None)
    if not subjects:
        return _empty(db, seen, result.reason)
    return _found(db, seen, subjects, chosen)


def details(
    db: apsw.Connection, repo: Repo, handles: Sequence[str], *, now: int
) -> list[TaskDetail]:
    """Return the tasks that these ids and codes name, in their order; unknown ones are left out.

    Raises NotFound when none is there.
    """
    found: dict[int, Task] = {}
    for handle in handles:
        try:
            task = tasks.find(db, repo, handle)
        except NotFound:
            if len(handles) == 1:
                raise
            continue
        found[task.key] = task
    if not found:
        raise NotFound(
            f"No tasks found for {', '.join(handles)} in {scope.full_name(repo)}.",
            ids=list(handles),
        )
    return [detail(db, task, now=now) for task in found.values()]


def detail(db: apsw.Connection, task: Task, *, now: int) -> TaskDetail:
    """Return the task with everything around it."""
    near = tasks.by_keys(db, [key for key in (task.parent, task.depends_on) if key is not None])
    return TaskDetail(
        task=task,
        parent=near.get(task.parent or 0),
        dependency=near.get(task.depends_on or 0),
        claim=claims.live_of(db, [task.key], now=now).get(task.key),
        waiting=waiting(db, [task.key], now=now).get(task.key),
        comments=tuple(tasks.comments(db, task)),
        children=tuple(tasks.children(db, task)),
        depended_by=tuple(tasks.depending(db, task)),
        graph=graph.around(db, Kind.TASK, [task.key]),
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
    statement = compose(_SELECT, [_OF_REPO, _STATUS, *filters], order)
    rows: list[Any] = db.execute(statement, values | {"limit": limit, "offset": offset}).fetchall()
    return [key for (key,) in rows]


def _counted(
    db: apsw.Connection, repo: Repo, status: TaskStatus, filters: dict[str, dict[str, Any]]
) -> int:
    values: dict[str, Any] = {"repo": repo.key, "status": str(status)}
    for bound in filters.values():
        values |= bound
    count: int = db.execute(compose(_COUNT, [_OF_REPO, _STATUS, *filters]), values).get
    return count


def _selected(db: apsw.Connection, repo: Repo, conditions: dict[str, dict[str, Any]]) -> set[int]:
    values: dict[str, Any] = {"repo": repo.key}
    for bound in conditions.values():
        values |= bound
    rows: list[Any] = db.execute(compose(_SELECT, [_OF_REPO, *conditions]), values).fetchall()
    return {key for (key,) in rows}


def _of_issues(
    db: apsw.Connection, repo: Repo, issues: Collection[int], within: set[int] | None
) -> list[int]:
    """Return the tasks that name one of the issues that the question names, newest first."""
    found = {
        key for issue in issues for key in _selected(db, repo, TaskFilter(issue=issue).conditions())
    }
    return sorted(found if within is None else found & within, reverse=True)


def _spoken_issues(query: str) -> frozenset[int]:
    words = query.casefold().split()
    pairs = itertools.pairwise(words)
    return frozenset(
        int(number) for word, number in pairs if word == "issue" and number.isdecimal()
    )


def _prior(task: Task, now: int, *, is_named: bool) -> float:
    recency = math.exp2(-max(0, now - task.created_at) / _MONTH_US)
    return 0.2 * recency + (_ISSUE_PRIOR if is_named else 0.0)


def _listed(
    db: apsw.Connection, keys: list[int], total: int, tallies: dict[TaskStatus, int]
) -> TaskList:
    known, counts = tasks.by_keys(db, keys), tasks.comment_counts(db, keys)
    rows = tuple(TaskRow(known[key], counts.get(key, 0)) for key in keys)
    return TaskList(rows, total, tallies, graph.around(db, Kind.TASK, keys))


@dataclass(frozen=True, slots=True)
class _Seen:
    """A question as it was understood; ``named`` are the tasks of an issue that it names."""

    repo: Repo
    text: str
    window: Window | None
    named: frozenset[int] = frozenset()
    is_filtered: bool = False


def _found(db: apsw.Connection, seen: _Seen, subjects: list[int], chosen: TaskFilter) -> TaskList:
    keys = subjects[chosen.offset : chosen.offset + chosen.limit]
    known, issues = tasks.by_keys(db, keys), tasks.issues(db, keys)
    marks = searching.marks(db, seen.text, Kind.TASK, keys) if seen.text else [None] * len(keys)
    counts = tasks.comment_counts(db, keys)
    rows = tuple(
        TaskRow(
            task=known[key],
            comments=counts.get(key, 0),
            mark=mark,
            issues=tuple(issues.get(key, ())),
            matched="issue" if key in seen.named else "text",
        )
        for key, mark in zip(keys, marks, strict=True)
    )
    around = graph.around(db, Kind.TASK, keys)
    reason = None if subjects else searching.OUTSIDE_FILTERS
    tallies = tasks.tallies(db, seen.repo)
    return TaskList(rows, len(subjects), tallies, around, seen.window, reason)


def _empty(db: apsw.Connection, seen: _Seen, reason: str | None) -> TaskList:
    """Say why nothing was found: an empty scope, the filters, or that nothing is known."""
    tallies = tasks.tallies(db, seen.repo)
    if not tallies:
        reason = searching.SCOPE_EMPTY
    elif seen.is_filtered and _is_known(db, seen):
        reason = searching.OUTSIDE_WINDOW if seen.window else searching.OUTSIDE_FILTERS
    near = tuple(scope.near(db, seen.repo))
    return TaskList((), 0, tallies, Subgraph(), seen.window, reason, near)


def _is_known(db: apsw.Connection, seen: _Seen) -> bool:
    """Say whether the words alone, without filters, would find something."""
    place = Place(indexing.scope_of(seen.repo.key))
    found = searching.ranked(
        db, seen.text, Kind.TASK, [place], lambda keys: dict.fromkeys(keys, 0.0)
    )
    return bool(found.subjects)
