"""The list of claims, which two tools show."""

from __future__ import annotations

import apsw

from memrpc.server.service import ToolResult
from memrpc.surface.workspace import coordination_views as views
from memrpc.surface.workspace import shown
from memrpc.surface.workspace.visit import Drawn, Visit
from memrpc.wire.messages import JSON
from memrpc.workspace import claims, tasks
from memrpc.workspace.claims import ClaimFilter
from memrpc.workspace.model import Claim, Repo, Task
from memrpc.workspace.scope import fold


async def list_claims(visit: Visit, schema: str) -> ToolResult:
    """List claims by agent, by task and by words of the claimed task."""
    limit, offset = visit.page(20)
    agent: str | None = visit.arguments.get("agent")
    active_only = bool(visit.arguments.get("active_only", True))
    query: str = visit.arguments.get("query") or ""
    chosen = ClaimFilter(agent or None, None, active_only, limit, offset)
    found, total = await visit.read(lambda db, repo: _found(db, repo, chosen, query, visit.now))

    def draw(count: int) -> Drawn:
        page = shown.paging(count=count, total=total, offset=offset, limit=limit)
        rows: list[JSON] = [views.claim_row(claim, task) for claim, task in found[:count]]
        structured: dict[str, JSON] = {
            "schema": schema,
            "claims": {"columns": list(views.CLAIM_COLUMNS), "rows": rows},
            **page,
        }
        whose = f" of {agent}" if agent else ""
        head = f'{total} claims{whose} in "{visit.project.name}" (showing {count})'
        lines = [views.claim_line(claim, task, visit.now) for claim, task in found[:count]]
        return structured, [head, *lines, *shown.more_lines(page)]

    return visit.fitted(len(found), draw)


def _found(
    db: apsw.Connection, repo: Repo, chosen: ClaimFilter, query: str, now: int
) -> tuple[list[tuple[Claim, Task]], int]:
    listed, total = claims.listed(db, repo, chosen, now=now)
    on = tasks.by_keys(db, [claim.task for claim in listed])
    words = fold(query).split()
    pairs = [(claim, on[claim.task]) for claim in listed]
    fitting = [pair for pair in pairs if all(word in _text(pair) for word in words)]
    return fitting, len(fitting) if words else total


def _text(pair: tuple[Claim, Task]) -> str:
    claim, task = pair
    return fold(f"{task.code} {task.title} {claim.agent} {claim.role}")
