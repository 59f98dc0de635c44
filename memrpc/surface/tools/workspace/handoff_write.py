"""handoff-write: offer unfinished work, or answer an offer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.store.errors import InvalidArguments
from memrpc.surface.desk import Desk
from memrpc.surface.workspace import coordination_views as views
from memrpc.surface.workspace.shown import one_line
from memrpc.surface.workspace.visit import Arguments, Visit, always, given, serve
from memrpc.wire.messages import JSON
from memrpc.workspace import claims, handoffs, working
from memrpc.workspace.handoffs import HandoffDraft
from memrpc.workspace.model import Act, Claim, Handoff, HandoffStatus, Repo

if TYPE_CHECKING:
    from memrpc.workspace.model import Task

TOOL = "handoff-write"
_HEAD_CHARS = 80


async def handle(ctx: Context, desk: Desk, arguments: Arguments) -> ToolResult:
    return await serve(ctx, desk, TOOL, arguments, MODES)


async def answer(visit: Visit) -> ToolResult:
    status = visit.arguments.get("status")
    if status is None:
        raise InvalidArguments(
            "status is missing; answer a handoff with accepted, rejected or expired.",
            field="status",
        )
    before, after, claim, task = await visit.write(
        lambda db, repo, act: _answered(db, repo, act, visit, HandoffStatus(status))
    )
    shown = views.handoff_json(after, task, visit.project, visit.now)
    structured: dict[str, JSON] = {
        "success": True,
        "id": after.id,
        "status": shown["status"],
        "handoff": shown,
    }
    summary = one_line(after.summary, _HEAD_CHARS)
    moved = f"{before.status} → {after.status}"
    head = f'Updated [{handoffs.short(after)}] "{summary}" in "{visit.project.name}" — {moved}.'
    lines = [head, *views.handoff_lines(after, task, visit.now)]
    if claim is not None and task is not None:
        structured["claim"] = views.claim_json(claim, task, visit.project)
        lines += views.claim_lines(claim, task, visit.project)
    return visit.answer(structured, lines)


async def create(visit: Visit) -> ToolResult:
    draft = _draft(visit.arguments)
    handoff, task = await visit.write(lambda db, repo, act: _created(db, repo, act, draft))
    structured = views.handoff_json(handoff, task, visit.project, visit.now)
    summary = one_line(handoff.summary, _HEAD_CHARS)
    agents = f"{handoff.from_agent}→{handoff.to_agent or 'anyone'}"
    where = f'in "{visit.project.name}".'
    head = f'Created [{handoffs.short(handoff)}] "{summary}" — {agents} (pending) {where}'
    return visit.answer(structured, [head, *views.handoff_lines(handoff, task, visit.now)])


MODES = ((given("id"), answer), (always, create))


def _draft(arguments: Arguments) -> HandoffDraft:
    missing = [name for name in ("from_agent", "summary") if not arguments.get(name)]
    if missing:
        raise InvalidArguments(
            f"{', '.join(missing)} missing: a new handoff needs from_agent and summary; to answer "
            "one send its id and status.",
            field=missing[0],
            missing=missing,
        )
    if "status" in arguments:
        raise InvalidArguments(
            "status belongs to an answer; a new handoff is pending. Leave it out.", field="status"
        )
    if "task_id" in arguments and "task_code" in arguments:
        raise InvalidArguments("send task_id or task_code, not both.", field="task_code")
    return HandoffDraft(
        from_agent=arguments["from_agent"],
        summary=arguments["summary"],
        to_agent=(arguments.get("to_agent") or "").strip() or None,
        task=arguments.get("task_id") or arguments.get("task_code"),
        context=arguments.get("context", {}),
        expires_at=arguments.get("expires_at"),
    )


def _created(
    db: apsw.Connection, repo: Repo, act: Act, draft: HandoffDraft
) -> tuple[Handoff, Task | None]:
    handoff = handoffs.create(db, repo, draft, act)
    return handoff, handoffs.task_of(db, handoff)


def _answered(
    db: apsw.Connection, repo: Repo, act: Act, visit: Visit, status: HandoffStatus
) -> tuple[Handoff, Handoff, Claim | None, Task | None]:
    before = handoffs.find(db, repo, visit.arguments["id"])
    claim: Claim | None = None
    if status is HandoffStatus.ACCEPTED:
        lease_us = visit.desk.claim_us
        wish = claims.Wish(force=bool(visit.arguments.get("force")), lease_us=lease_us)
        after, claim = working.accept(db, repo, before, wish, act)
    else:
        after = handoffs.answer(db, repo, before, status, act)
    return before, after, claim, handoffs.task_of(db, after)
