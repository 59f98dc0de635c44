"""task-read: list, search or open tasks."""

from __future__ import annotations

from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.store.errors import InvalidArguments
from memrpc.surface.desk import Desk
from memrpc.surface.workspace import shown, task_views
from memrpc.surface.workspace.visit import Arguments, Drawn, Visit, always, given, serve
from memrpc.wire.messages import JSON
from memrpc.workspace import rules, task_reading, task_search
from memrpc.workspace.model import TaskStatus
from memrpc.workspace.task_reading import TaskDetail, TaskFilter, TaskList

TOOL = "task-read"
HANDLES = ("id", "code", "task_code", "ids", "codes", "task_codes")


async def handle(ctx: Context, desk: Desk, arguments: Arguments) -> ToolResult:
    return await serve(ctx, desk, TOOL, arguments, MODES)


async def search(visit: Visit) -> ToolResult:
    issue = _issue(visit.arguments)
    query: str = visit.arguments.get("query") or ""
    chosen = _filter(visit, 10, issue)
    found = await visit.search(
        lambda db, repo: task_search.search(db, repo, query, chosen, now=visit.now, aids=visit.aids)
    )
    asked = shown.shortened(query) or ("" if issue is None else f"#{issue}")
    return visit.fitted(len(found.rows), lambda count: _found(visit, asked, chosen, found, count))


async def detail(visit: Visit) -> ToolResult:
    handles = visit.handles(*HANDLES)
    found, missing = await visit.read(
        lambda db, repo: task_reading.details(db, repo, handles, now=visit.now)
    )
    if len(handles) == 1 and not {"ids", "codes", "task_codes"} & visit.arguments.keys():
        return _single(visit, found[0])
    half = visit.desk.answer_chars // 2
    parts = [_beginning(each, half) for each in found]
    return visit.fitted(len(parts), lambda count: _several(visit, parts, missing, count))


async def list_tasks(visit: Visit) -> ToolResult:
    chosen = _filter(visit, 5, None)
    if not chosen.statuses:
        chosen = chosen.with_statuses(task_reading.DEFAULT_STATUSES)
    found = await visit.read(lambda db, repo: task_reading.listing(db, repo, chosen))
    return visit.fitted(len(found.rows), lambda count: _listed(visit, chosen, found, count))


MODES = (
    (given("query", "issue_ref"), search),
    (given(*HANDLES), detail),
    (always, list_tasks),
)


def _single(visit: Visit, found: TaskDetail) -> ToolResult:
    """Show one task; a long description page by page, by characters."""
    half = visit.desk.answer_chars // 2
    _, offset = visit.page(1)
    seen, after = _part(task_reading.within(found, half), offset, half)
    structured = task_views.task_json(seen, visit.project)
    structured |= shown.present({"next_offset": after, "kg": shown.kg_json(seen.graph)})
    more = shown.part_lines(offset, after, len(found.task.description))
    lines = [*task_views.task_lines(seen, visit.project), *shown.kg_lines(seen.graph)]
    return visit.answer(structured, [*lines, *more])


def _beginning(found: TaskDetail, max_chars: int) -> TaskDetail:
    part, after = _part(task_reading.within(found, max_chars), 0, max_chars)
    return part._replace(is_cut=part.is_cut or after is not None)


def _part(found: TaskDetail, offset: int, max_chars: int) -> tuple[TaskDetail, int | None]:
    """Return the task with a part of its description, and where the next part begins."""
    text = found.task.description
    end = min(len(text), offset + max_chars)
    task = found.task._replace(description=text[offset:end])
    return found._replace(task=task), end if end < len(text) else None


def _several(visit: Visit, found: list[TaskDetail], missing: list[str], count: int) -> Drawn:
    """Draw the first ``count`` tasks."""
    chosen, remaining = found[:count], [each.task.code for each in found[count:]]
    tasks = [task_views.task_json(each, visit.project) for each in chosen]
    structured = {"schema": "task-read/detail", "count": count, "tasks": tasks}
    lines = [line for each in chosen for line in (*task_views.task_lines(each, visit.project), "")]
    lines += shown.missing_lines(missing)
    after = shown.remaining_lines(remaining)
    rest = {"missing": shown.missing_json(missing), "remaining": remaining or None}
    return structured | shown.present(rest), [*lines, *after]


def _filter(visit: Visit, default: int, issue: int | None) -> TaskFilter:
    limit, offset = visit.page(default)
    text: str | None = visit.arguments.get("status")
    try:
        statuses = task_reading.status_list(text)
    except ValueError:
        raise InvalidArguments(
            f"status {text} is unknown; send all, or of {', '.join(TaskStatus)} one or more with "
            "commas.",
            field="status",
        ) from None
    return TaskFilter(
        statuses=statuses,
        phase=visit.arguments.get("phase") or None,
        priority=visit.arguments.get("priority"),
        issue=issue,
        limit=limit,
        offset=offset,
    )


def _issue(arguments: Arguments) -> int | None:
    text: str | None = arguments.get("issue_ref")
    if text is None:
        return None
    number = text.strip().removeprefix("#")
    if not number.isdecimal() or len(number) > rules.MAX_ISSUE_DIGITS:
        raise InvalidArguments(
            f"issue_ref {text} is no issue; send one such as #544.", field="issue_ref"
        )
    return int(number)


def _listed(visit: Visit, chosen: TaskFilter, found: TaskList, count: int) -> Drawn:
    """Draw the first ``count`` tasks of a list."""
    rows = found.rows[:count]
    page = shown.paging(count=count, total=found.total, offset=chosen.offset, limit=chosen.limit)
    kg = shown.kg_json(found.graph) if count == len(found.rows) else None
    counts = {str(status): number for status, number in found.tallies.items()}
    structured: dict[str, JSON] = {
        "schema": "task-read/list",
        "tasks": {
            "columns": list(task_views.LIST_COLUMNS),
            "rows": [task_views.list_row(row) for row in rows],
        },
        "statusCounts": counts,
        **page,
        **shown.present({"kg": kg}),
    }
    is_any = len(chosen.statuses) == len(TaskStatus)
    named = "of any status" if is_any else ", ".join(chosen.statuses)
    head = f'### Tasks in "{visit.project.name}": {found.total} {named} (showing {count})'
    lines = [head, _in_all(found), task_views.LEGEND]
    return structured, [*lines, *task_views.row_lines(rows), *shown.more_lines(page)]


def _found(visit: Visit, query: str, chosen: TaskFilter, found: TaskList, count: int) -> Drawn:
    """Draw the first ``count`` hits of a search."""
    rows = found.rows[:count]
    page = shown.paging(count=count, total=found.total, offset=chosen.offset, limit=chosen.limit)
    kg = shown.kg_json(found.graph) if count == len(found.rows) else None
    structured: dict[str, JSON] = {
        "schema": "task-read/search",
        "query": query,
        "results": {
            "columns": list(task_views.SEARCH_COLUMNS),
            "rows": [task_views.search_row(row) for row in rows],
        },
        **page,
        **shown.present(
            {
                "window": shown.window_json(found.window),
                "reason": found.reason,
                "near_repos": list(found.near) or None,
                "kg": kg,
            }
        ),
    }
    window = shown.window_lines(found.window)
    if not rows:
        head = shown.nothing_head("tasks", query, visit.project.name, found.total)
        why = shown.nothing_lines(found.reason, found.near)
        return structured, [head, *window, *why, *([_in_all(found)] if found.tallies else [])]
    head = f'### Results: {shown.counted(found.total, "tasks")} for "{query}" (showing {count})'
    lines = [head, task_views.LEGEND, *window, *task_views.row_lines(rows)]
    more = shown.ranking_lines(page) if rows[0].mark else shown.more_lines(page)
    return structured, [*lines, *more]


def _in_all(found: TaskList) -> str:
    """Say how many tasks there are of each status, which a search for words does not ask about."""
    counts = (f"{status}: {number}" for status, number in found.tallies.items())
    return f"All statuses: {', '.join(counts) or 'none yet'}. List others with status."
