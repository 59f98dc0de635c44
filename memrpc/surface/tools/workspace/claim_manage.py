"""claim-manage: claim a task, renew or release the claim, or list claims."""

from __future__ import annotations

import apsw

from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.store.errors import InvalidArguments
from memrpc.surface.desk import Desk
from memrpc.surface.workspace import coordination_views as views
from memrpc.surface.workspace.claim_lists import list_claims
from memrpc.surface.workspace.visit import Arguments, Visit, always, serve
from memrpc.workspace import claims, tasks, working
from memrpc.workspace.claims import Wish
from memrpc.workspace.model import Act, Claim, Repo, Task

TOOL = "claim-manage"


async def handle(ctx: Context, desk: Desk, arguments: Arguments) -> ToolResult:
    return await serve(ctx, desk, TOOL, arguments, MODES)


async def release(visit: Visit) -> ToolResult:
    claim, task = await visit.write(lambda db, repo, act: _release(db, repo, act, visit.arguments))
    structured = {
        "success": True,
        "repo": visit.project.name,
        "task_id": task.id,
        "task_code": task.code,
        "agent": claim.agent,
    }
    head = f'Released claim for [{task.code}] in repo "{visit.project.name}": agent={claim.agent}.'
    return visit.answer(structured, [head, f"Task {task.id}, status {task.status}."])


async def claim(visit: Visit) -> ToolResult:
    wish = Wish(
        role=visit.arguments.get("role"),
        metadata=visit.arguments.get("metadata"),
        token=visit.arguments.get("claim_token"),
        force=bool(visit.arguments.get("force")),
        lease_us=visit.desk.claim_us,
    )
    handle = _task(visit.arguments)
    taken, task = await visit.write(
        lambda db, repo, act: working.claim(db, repo, handle, wish, act)
    )
    structured = views.claim_json(taken, task, visit.project)
    return visit.answer(structured, views.claim_lines(taken, task, visit.project))


async def list_all(visit: Visit) -> ToolResult:
    return await list_claims(visit, TOOL)


def _task(arguments: Arguments) -> str:
    return str(arguments.get("task_id") or arguments.get("task_code") or "")


def _named(arguments: Arguments) -> str:
    handle = _task(arguments)
    if not handle:
        raise InvalidArguments(
            "nothing is named; send task_id or task_code of the claim to release.",
            field="task_code",
        )
    return handle


MODES = (
    (lambda a: bool(a.get("release")), release),
    (lambda a: bool(_task(a)), claim),
    (always, list_all),
)


def _release(db: apsw.Connection, repo: Repo, act: Act, arguments: Arguments) -> tuple[Claim, Task]:
    task = tasks.find(db, repo, _named(arguments))
    token: str | None = arguments.get("claim_token")
    force = bool(arguments.get("force"))
    return claims.release(db, repo, task, act, token=token, force=force), task
