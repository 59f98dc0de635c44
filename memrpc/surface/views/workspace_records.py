"""The records behind the workspace's resources, as JSON; ``KeyError`` for what is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memrpc.surface.projects import Origin, Project
from memrpc.surface.workspace import entry_views, shown, task_views
from memrpc.wire.messages import JSON
from memrpc.workspace import (
    actions,
    entries,
    entry_search,
    graph,
    overview,
    scope,
    task_reading,
    tasks,
    times,
)
from memrpc.workspace.entry_filters import EntryQuestion
from memrpc.workspace.model import EntryType, Kind, Repo
from memrpc.workspace.task_reading import TaskFilter

if TYPE_CHECKING:
    import apsw

    from memrpc.surface.catalogue import Values
    from memrpc.workspace.model import Action, Entry
    from memrpc.workspace.overview import Overview

Row = dict[str, JSON]
Page = tuple[int, int]
PREVIEW_CHARS: Final = 300
_MAX_NAMED: Final = 200


def repo_of(db: apsw.Connection, named: str) -> Repo:
    """The repository of this name; a bare one must be unique."""
    owner, name = scope.split(None, named)
    if name is not None and owner is not None:
        found = [scope.find(db, owner, name)]
    else:
        found = scope.by_name(db, name or "")
    known = [repo for repo in found if repo.key]
    if len(known) == 1:
        return known[0]
    if known:
        owners = ", ".join(f"{repo.owner}%2F{repo.name}" for repo in known)
        raise KeyError(named, f"{named} has several owners; send one of {owners}")
    near = ", ".join(scope.near(db, Repo(0, owner or "", name or "")))
    raise KeyError(named, f"no repository {named}" + (f"; similar: {near}" if near else ""))


def repositories(db: apsw.Connection, page: tuple[int | None, int], now: int) -> list[Row]:
    """Repositories by owner and name, with counts of what they hold."""
    limit, offset = page
    shown = scope.everything(db)[offset:][:limit]
    return [_counts(each) for each in overview.repositories(db, shown, now=now)]


def _counts(each: Overview) -> Row:
    return {
        "owner": each.repo.owner,
        "repo": each.repo.name,
        "memoryCount": each.memories,
        "taskCount": each.tasks,
        "inProgressCount": each.in_progress,
        "pendingCount": each.pending,
        "blockedCount": each.blocked,
        "backlogCount": each.backlog,
        "lastActivity": times.to_text(each.active_at),
        "activeClaims": each.claims,
        "pendingHandoffs": each.handoffs,
        "unassignedHandoffs": each.unassigned,
        "staleClaims": each.stale_claims,
    }


def memories(
    db: apsw.Connection, repo: Repo, values: Values, page: Page, now: int
) -> tuple[list[Row], int]:
    """Active entries, newest first, or ranked where something is searched."""
    limit, offset = page
    question = EntryQuestion(
        query=values.get("search", ""),
        types=_types(values),
        tags=(values["tag"],) if values.get("tag") else (),
        limit=limit,
        offset=offset,
    )
    answer = entry_search.search(db, repo, question, now=now)
    repos = shown.repo_names(db, [hit.entry.repo for hit in answer.hits])
    return [_memory(hit.entry, repos[hit.entry.repo]) for hit in answer.hits], answer.total


def _types(values: Values) -> tuple[EntryType, ...]:
    try:
        return tuple(EntryType(kind) for kind in values.get("type", "").split(",") if kind)
    except ValueError:
        known = ", ".join(EntryType)
        raise KeyError(values["type"], f"type must be one of {known}") from None


def _memory(entry: Entry, repo: Repo) -> Row:
    row = {**entry_views.entry_json(entry, repo), **_rate(entry)}
    if len(entry.content) > PREVIEW_CHARS:
        row |= {"content": f"{entry.content[:PREVIEW_CHARS]}…", "truncated": True}
    return row


def _rate(entry: Entry) -> Row:
    """How often the entry was used, of all the times that somebody said."""
    told = entry.used + entry.irrelevant + entry.contradictory
    return {"recall_rate": round(entry.used / told, 2) if told else 0.0}


def memory(db: apsw.Connection, entry_id: str) -> Row:
    """One entry in full."""
    entry = entries.anywhere(db, entry_id)
    if entry is None:
        raise KeyError(entry_id, f"no memory {entry_id}")
    return {**entry_views.entry_json(entry, scope.by_key(db, entry.repo)), **_rate(entry)}


def tasks_of(
    db: apsw.Connection, repo: Repo, values: Values, page: Page, now: int
) -> tuple[list[Row], int]:
    """Tasks by status and priority; those that are not over where no status is named."""
    limit, offset = page
    priority = values.get("priority") or None
    if priority is not None and priority not in ("1", "2", "3", "4", "5"):
        raise KeyError(priority, "priority must be a whole number from 1 to 5")
    try:
        named = task_reading.status_list(values.get("status"))
    except ValueError:
        raise KeyError(values["status"], "status must be all or a list of statuses") from None
    chosen = TaskFilter(
        statuses=named or task_reading.ACTIVE,
        priority=None if priority is None else int(priority),
        limit=limit,
        offset=offset,
    )
    found = task_reading.listing(db, repo, chosen)
    details = [task_reading.detail(db, row.task, now=now) for row in found.rows]
    place = Project(repo.owner, repo.name, Origin.ARGUMENT)
    rows = [task_views.task_json(detail, place) for detail in details]
    return [_task_row(row) for row in rows], found.total


def _task_row(row: Row) -> Row:
    """A task of a list: without its comments, and with the beginning of a long description."""
    kept = {name: value for name, value in row.items() if name != "comments"}
    if len(str(row["description"])) > PREVIEW_CHARS:
        kept |= {"description": f"{row['description'][:PREVIEW_CHARS]}…", "truncated": True}
    return kept


def task(db: apsw.Connection, task_id: str, now: int) -> Row:
    """One task with everything around it."""
    found = tasks.anywhere(db, task_id)
    if found is None:
        raise KeyError(task_id, f"no task {task_id}")
    repo = scope.by_key(db, found.repo)
    place = Project(repo.owner, repo.name, Origin.ARGUMENT)
    return task_views.task_json(task_reading.detail(db, found, now=now), place)


def actions_of(db: apsw.Connection, repo: Repo, page: Page) -> tuple[list[Row], int]:
    """Changes, newest first, without what was before and after."""
    limit, offset = page
    found = actions.of_repo(db, repo, limit=limit, offset=offset)
    return [_action(each, repo) for each in found], actions.count(db, repo)


def action(db: apsw.Connection, number: str) -> Row:
    """One change with what was before and after."""
    is_number = number.isascii() and number.isdecimal() and len(number) < len(str(1 << 62))
    found = actions.by_key(db, int(number)) if is_number else None
    if found is None:
        raise KeyError(number, f"no action {number}")
    row = _action(found, scope.by_key(db, found.repo))
    return {**row, "before": _dated(found.before), "after": _dated(found.after)}


def _dated(value: JSON) -> JSON:
    """A snapshot with its instants as every answer shows them."""
    if isinstance(value, list):
        return [_dated(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: times.to_text(item) if name.endswith("_at") and type(item) is int else _dated(item)
        for name, item in value.items()
    }


def _action(found: Action, repo: Repo) -> Row:
    return shown.present(
        {
            "id": found.key,
            "owner": repo.owner,
            "repo": repo.name,
            "tool": found.tool,
            "action": found.operation,
            "kind": str(found.kind),
            "subject_id": found.subject_id,
            "memory_id": found.subject_id if found.kind is Kind.ENTRY else None,
            "task_id": found.subject_id if found.kind is Kind.TASK else None,
            "code": found.code,
            "title": (found.after or found.before or {}).get("title"),
            "agent": found.agent,
            "created_at": times.to_text(found.created_at),
        }
    )


def entities(
    db: apsw.Connection, repo: Repo, entity: str | None, page: Page
) -> tuple[list[Row], int]:
    """What the repository's texts name, or who names one thing."""
    limit, offset = page
    if entity is not None:
        found = graph.mentioning(db, repo.key, entity, _MAX_NAMED)
        subjects: list[JSON] = [graph.code_of(db, kind, key) for kind, key in found]
        return [{"name": entity, "mentioned_by": subjects}] if found else [], min(len(found), 1)
    names = graph.names(db, repo.key, limit=limit, offset=offset)
    rows: list[Row] = [{"name": name, "type": kind, "mentions": n} for name, kind, n in names]
    return rows, graph.count(db, repo.key)
