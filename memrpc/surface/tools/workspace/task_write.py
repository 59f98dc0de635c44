"""task-write: create or change tasks, one or many, or ask the user for a new one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import apsw

from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.store.errors import DomainError, InvalidArguments
from memrpc.surface.desk import Desk
from memrpc.surface.workspace import bulk, task_views
from memrpc.surface.workspace.shown import counted
from memrpc.surface.workspace.task_form import ask_for_task
from memrpc.surface.workspace.visit import (
    Arguments,
    Drawn,
    Visit,
    always,
    serve,
)
from memrpc.wire.messages import JSON
from memrpc.workspace import rules, task_writing, tasks
from memrpc.workspace.model import Act, Repo, Task, TaskStatus

if TYPE_CHECKING:
    from memrpc.workspace.task_drafts import TaskDraft
    from memrpc.workspace.task_writing import TaskUpdated

TOOL = "task-write"
_NEW = ("phase", "title", "description")


async def handle(ctx: Context, desk: Desk, arguments: Arguments) -> ToolResult:
    """Ask the user for what is missing where that is wanted: asking comes before writing."""
    if arguments.get("interactive") and not arguments.get("tasks"):
        arguments = {**arguments, **await ask_for_task(ctx, desk, arguments)}
    return await serve(ctx, desk, TOOL, arguments, MODES)


async def write_many(visit: Visit) -> ToolResult:
    given = await bulk.read_items(visit, "tasks")
    items = bulk.once_each(given, lambda item: _code(item) if _is_new(item) else None)
    order = _siblings_first(items)
    outcome = await visit.write(
        lambda db, repo, act: bulk.run(db, items, lambda item: _one(db, repo, act, item), order),
        count=len(items),
    )
    counts: dict[str, JSON] = {"repo": visit.project.name, "createdCount": len(outcome.done)}
    head = f'Wrote {len(outcome.done)}/{outcome.total} tasks in "{visit.project.name}".'
    return bulk.answer(visit, outcome, head, counts, _line)


def _siblings_first(items: Sequence[Arguments | DomainError]) -> list[int]:
    """Return the items' places so that what one names by a sibling's code is made before it."""
    given = [{} if isinstance(item, DomainError) else item for item in items]
    places = {
        code: place for place, item in enumerate(given) if (code := (_code(item) or "").strip())
    }
    order: list[int] = []
    seen: set[int] = set()

    def visit(place: int) -> None:
        if place in seen:
            return
        seen.add(place)
        for name in ("parent_id", "depends_on"):
            handle = (given[place].get(name) or "").strip()
            if handle in places:
                visit(places[handle])
        order.append(place)

    for place in range(len(given)):
        visit(place)
    return order


async def change_many(visit: Visit) -> ToolResult:
    """Change several tasks alike, or none."""
    draft = task_views.draft_of(visit.arguments)
    handles = visit.handles("ids")

    def work(db: apsw.Connection, repo: Repo, act: Act) -> list[TaskUpdated]:
        named = dict.fromkeys(tasks.find(db, repo, handle).id for handle in handles)
        return [task_writing.update(db, repo, each, draft, act) for each in named]

    done = await visit.write(work, count=len(handles))
    fields = list(dict.fromkeys(field for each in done for field in each.fields))
    structured: dict[str, JSON] = {
        "success": True,
        "codes": [each.task.code for each in done],
        "repo": visit.project.name,
        "updatedCount": len(done),
        "updatedFields": fields,
        "coordinationCleanup": _cleanup(done),
    }
    head = f'Updated {counted(len(done), "tasks")} in "{visit.project.name}" — {", ".join(fields)}.'

    def draw(count: int) -> Drawn:
        lines = [f"- {_brief(each.task)}" for each in done[:count]]
        rest = bulk.other_lines([each.task.code for each in done[count:]])
        ids = [each.task.id for each in done[:count]]
        return {**structured, "ids": ids}, [head, *lines, *rest]

    return visit.fitted(len(done), draw, answers=bulk.ANSWERS)


async def create(visit: Visit) -> ToolResult:
    await visit.path("doc_path")
    draft = task_views.draft_of(visit.arguments)
    code = _code(visit.arguments)
    task, dependency = await visit.write(
        lambda db, repo, act: _created(db, repo, act, draft._replace(code=code))
    )
    structured: dict[str, JSON] = {
        "success": True,
        "id": task.id,
        "repo": visit.project.name,
        "task_code": task.code,
        "code": task.code,
        "phase": task.phase,
        "title": task.title,
        "status": str(task.status),
        "priority": task.priority,
        "depends_on": None if dependency is None else dependency.id,
    }
    facts = f"phase: {task.phase}, priority: {task.priority}, status: {task.status}"
    head = f'Created [{task.code}] "{task.title}" in "{visit.project.name}" ({facts}).'
    waits = [] if dependency is None else [f"Depends on {dependency.code} ({dependency.id})."]
    is_full = draft.status is TaskStatus.PENDING and task.status is TaskStatus.BACKLOG
    full = [f"More than {rules.MAX_PENDING} tasks are pending, so it begins in the backlog."]
    return visit.answer(structured, [head, f"Id: {task.id}", *waits, *(full if is_full else [])])


async def change(visit: Visit) -> ToolResult:
    handle = visit.arguments.get("id") or _code(visit.arguments)
    await visit.path("doc_path")
    draft = task_views.draft_of(visit.arguments)
    done = await visit.write(
        lambda db, repo, act: task_writing.update(db, repo, str(handle), draft, act)
    )
    task = done.task
    structured: dict[str, JSON] = {
        "success": True,
        "id": task.id,
        "code": task.code,
        "repo": visit.project.name,
        "status": str(task.status),
        "updatedCount": 1,
        "updatedFields": list(done.fields),
        "coordinationCleanup": _cleanup([done]),
    }
    moved = "" if task.status is done.before.status else f" {done.before.status} → {task.status}"
    where = f'in "{visit.project.name}" — {", ".join(done.fields)}.'
    lines = [f'Updated [{task.code}] "{task.title}"{moved} {where}']
    if done.released_claims or done.expired_handoffs:
        claims = counted(done.released_claims, "claims")
        lines.append(f"Released {claims}, expired {counted(done.expired_handoffs, 'handoffs')}.")
    return visit.answer(structured, [*lines, f"Id: {task.id}, status: {task.status}"])


async def explain(visit: Visit) -> ToolResult:
    missing = [name for name in _NEW if not visit.arguments.get(name)]
    raise InvalidArguments(
        f"nothing to do: a new task needs {', '.join(_NEW)} (missing: {', '.join(missing)}); a "
        "change needs id, code or ids.",
        field=missing[0] if missing else "id",
        missing=missing,
    )


def _is_new(arguments: Arguments) -> bool:
    """Say whether a task is described in full, under no handle or a code."""
    return all(arguments.get(name) for name in _NEW) and "id" not in arguments


def _names_one(arguments: Arguments) -> bool:
    return bool(arguments.get("id") or _code(arguments))


def _code(arguments: Arguments) -> str | None:
    code: str | None = arguments.get("code") or arguments.get("task_code")
    return code


async def create_or_change(visit: Visit) -> ToolResult:
    """A complete task under a code that exists is a change of that task."""
    code = _code(visit.arguments)
    if code is not None and await visit.read(lambda db, repo: tasks.is_known(db, repo, code)):
        return await change(visit)
    return await create(visit)


MODES = (
    (lambda a: bool(a.get("tasks")), write_many),
    (lambda a: bool(a.get("interactive")), create),
    (lambda a: bool(a.get("ids")), change_many),
    (_is_new, create_or_change),
    (_names_one, change),
    (always, explain),
)


def _one(db: apsw.Connection, repo: Repo, act: Act, item: Arguments) -> dict[str, JSON]:
    """Do what one item asks for."""
    handle, code = item.get("id"), _code(item)
    draft = task_views.draft_of(item)
    is_change = handle or (code and (not _is_new(item) or tasks.is_known(db, repo, code)))
    if is_change:
        done = task_writing.update(db, repo, str(handle or code), draft, act)
        rest = {"updatedFields": list(done.fields), "status": str(done.task.status)}
        return {"operation": "update", **_handles(done.task), **rest}
    task = task_writing.create(db, repo, draft._replace(code=code), act)
    return {"operation": "create", **_handles(task), "status": str(task.status)}


def _created(
    db: apsw.Connection, repo: Repo, act: Act, draft: TaskDraft
) -> tuple[Task, Task | None]:
    task = task_writing.create(db, repo, draft, act)
    waits = [] if task.depends_on is None else [task.depends_on]
    return task, tasks.by_keys(db, waits).get(task.depends_on or 0)


def _handles(task: Task) -> dict[str, JSON]:
    return {"success": True, "id": task.id, "code": task.code, "title": task.title}


def _cleanup(done: list[TaskUpdated]) -> dict[str, JSON]:
    return {
        "releasedClaims": sum(each.released_claims for each in done),
        "expiredHandoffs": sum(each.expired_handoffs for each in done),
    }


def _brief(task: Task) -> str:
    return f"{task.code} {task.title} {task.status} ({task.id})"


def _line(done: dict[str, JSON]) -> str:
    return f"{done['operation']} {done['code']} {done['title']} {done['status']} ({done['id']})"
