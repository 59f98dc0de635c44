"""The list of claims, which two tools show."""

from __future__ import annotations

import apsw

from memrpc.server.service import ToolResult
from memrpc.surface.workspace import coordination_views as views
from memrpc.surface.workspace import shown
from memrpc.surface.workspace.visit import Drawn, Visit
from memrpc.wire.messages import JSON
from memrpc.workspace import asking, claims, tasks
from memrpc.workspace.claims import ClaimFilter
from memrpc.workspace.handoffs import MAX_SEARCHED
from memrpc.workspace.model import Claim, Repo, Task


async def list_claims(visit: Visit, schema: str) -> ToolResult:
    """List claims by agent, by task and by words of the claimed task."""
    limit, offset = visit.page(20)
    agent: str | None = visit.arguments.get("agent")
    active_only = bool(visit.arguments.get("active_only", True))
    query: str = visit.arguments.get("query") or ""
    chosen = ClaimFilter(agent or None, None, active_only, limit, offset)
    found, total = await visit.read(lambda db, repo: _found(db, repo, chosen, query, visit.now))
    asked = shown.shortened(query)

    def draw(count: int) -> Drawn:
        page = shown.paging(count=count, total=total, offset=offset, limit=limit)
        rows: list[JSON] = [views.claim_row(claim, task) for claim, task in found[:count]]
        structured: dict[str, JSON] = {
            "schema": schema,
            "claims": {"columns": list(views.CLAIM_COLUMNS), "rows": rows},
            **page,
        }
        whose = f" of {agent}" if agent else ""
        where = f'in "{visit.project.name}" (showing {count})' + (
            f", query={asked}" if asked else ""
        )
        lines = [views.claim_line(claim, task, visit.now) for claim, task in found[:count]]
        hint = [] if lines or not active_only else ["Ended ones: active_only false."]
        head = f"{shown.counted(total, 'claims')}{whose} {where}"
        return structured, [head, *lines, *hint, *shown.more_lines(page)]

    return visit.fitted(len(found), draw)


def _found(
    db: apsw.Connection, repo: Repo, chosen: ClaimFilter, query: str, now: int
) -> tuple[list[tuple[Claim, Task]], int]:
    """Return a page of claims; words are looked for in the newest thousand."""
    if not query:
        listed, total = claims.listed(db, repo, chosen, now=now)
        return _with_tasks(db, listed), total
    listed, _ = claims.listed(db, repo, chosen._replace(limit=MAX_SEARCHED, offset=0), now=now)
    fitting = asking.fitting(query, _with_tasks(db, listed), _text)
    return fitting[chosen.offset : chosen.offset + chosen.limit], len(fitting)


def _with_tasks(db: apsw.Connection, listed: list[Claim]) -> list[tuple[Claim, Task]]:
    on = tasks.by_keys(db, {claim.task for claim in listed})
    return [(claim, on[claim.task]) for claim in listed]


def _text(pair: tuple[Claim, Task]) -> str:
    claim, task = pair
    return f"{task.code} {task.title} {claim.agent} {claim.role}"
