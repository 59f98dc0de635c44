"""handoff-read: list, search or open handoffs; or list claims."""

from __future__ import annotations

import apsw

from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.surface.desk import Desk
from memrpc.surface.workspace import coordination_views as views
from memrpc.surface.workspace import shown
from memrpc.surface.workspace.claim_lists import list_claims
from memrpc.surface.workspace.visit import Arguments, Drawn, Visit, always, given, serve
from memrpc.wire.messages import JSON
from memrpc.workspace import handoffs
from memrpc.workspace.handoffs import HandoffFilter
from memrpc.workspace.model import Handoff, HandoffStatus, Repo, Task

TOOL = "handoff-read"


async def handle(ctx: Context, desk: Desk, arguments: Arguments) -> ToolResult:
    return await serve(ctx, desk, TOOL, arguments, MODES)


async def detail(visit: Visit) -> ToolResult:
    handoff, task = await visit.read(lambda db, repo: _detail(db, repo, visit.arguments["id"]))
    structured = views.handoff_json(handoff, task, visit.project, visit.now)
    return visit.answer(structured, views.handoff_lines(handoff, task, visit.now))


async def claims_of(visit: Visit) -> ToolResult:
    return await list_claims(visit, "claim-list")


async def list_handoffs(visit: Visit) -> ToolResult:
    limit, offset = visit.page(20)
    status = visit.arguments.get("status")
    chosen = HandoffFilter(
        status=None if status is None else HandoffStatus(status),
        from_agent=visit.arguments.get("from_agent") or None,
        to_agent=visit.arguments.get("to_agent") or None,
        query=visit.arguments.get("query") or "",
        limit=limit,
        offset=offset,
    )
    found, total = await visit.read(lambda db, repo: _listed(db, repo, chosen, visit.now))

    def draw(count: int) -> Drawn:
        page = shown.paging(count=count, total=total, offset=offset, limit=limit)
        rows: list[JSON] = [
            views.handoff_row(handoff, task, visit.project, visit.now)
            for handoff, task in found[:count]
        ]
        structured: dict[str, JSON] = {
            "schema": "handoff-read",
            "handoffs": {"columns": list(views.HANDOFF_COLUMNS), "rows": rows},
            **page,
        }
        how_many = shown.counted(total, "handoffs")
        head = f'{how_many} in "{visit.project.name}" (showing {count}){_filters(chosen)}'
        lines = [views.handoff_line(handoff, task, visit.now) for handoff, task in found[:count]]
        return structured, [head, *lines, *shown.more_lines(page)]

    return visit.fitted(len(found), draw)


MODES = (
    (lambda a: bool(a.get("id")), detail),
    (lambda a: bool(a.get("claim") or a.get("agent")), claims_of),
    (given("query"), list_handoffs),
    (always, list_handoffs),
)


def _detail(db: apsw.Connection, repo: Repo, handoff_id: str) -> tuple[Handoff, Task | None]:
    handoff = handoffs.find(db, repo, handoff_id)
    return handoff, handoffs.task_of(db, handoff)


def _listed(
    db: apsw.Connection, repo: Repo, chosen: HandoffFilter, now: int
) -> tuple[list[tuple[Handoff, Task | None]], int]:
    found, total = handoffs.listed(db, repo, chosen, now=now)
    return handoffs.with_tasks(db, found), total


def _filters(chosen: HandoffFilter) -> str:
    named = {
        "status": chosen.status,
        "from": chosen.from_agent,
        "to": chosen.to_agent,
        "query": shown.shortened(chosen.query),
    }
    said = ", ".join(f"{name}={value}" for name, value in named.items() if value)
    return f", {said}" if said else ""
