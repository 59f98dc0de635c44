"""How claims and handoffs are shown: in full, as rows, as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from memrpc.surface.workspace.shown import brief_object, indented, one_line, present, shortened
from memrpc.wire.codec import compact
from memrpc.wire.messages import JSON
from memrpc.workspace import times

if TYPE_CHECKING:
    from memrpc.surface.projects import Project
    from memrpc.workspace.model import Claim, Handoff, Task

HANDOFF_COLUMNS = (
    "id",
    "from_agent",
    "to_agent",
    "task_id",
    "task_code",
    "status",
    "created_at",
    "updated_at",
    "expires_at",
    "summary",
    "context",
)
CLAIM_COLUMNS = (
    "id",
    "task_id",
    "task_code",
    "agent",
    "role",
    "claimed_at",
    "expires_at",
    "released_at",
    "metadata",
)


def handoff_json(
    handoff: Handoff, task: Task | None, project: Project, now: int
) -> dict[str, JSON]:
    """Return the handoff in full."""
    return present(
        {
            "id": handoff.id,
            "owner": project.owner,
            "repo": project.name,
            "from_agent": handoff.from_agent,
            "to_agent": handoff.to_agent,
            "task_id": None if task is None else task.id,
            "task_code": None if task is None else task.code,
            "summary": handoff.summary,
            "context": dict(handoff.context),
            "status": str(handoff.status_at(now)),
            "created_at": times.to_text(handoff.created_at),
            "updated_at": times.to_text(handoff.updated_at),
            "expires_at": times.to_text_or_none(handoff.expires_at),
        }
    )


def handoff_row(handoff: Handoff, task: Task | None, project: Project, now: int) -> list[JSON]:
    """Return the handoff as a list's table has it, with the beginning of what is long."""
    brief = {"summary": shortened(handoff.summary), "context": brief_object(handoff.context)}
    shown = handoff_json(handoff, task, project, now) | brief
    return [shown.get(name) for name in HANDOFF_COLUMNS]


def handoff_lines(handoff: Handoff, task: Task | None, now: int) -> list[str]:
    """Return the handoff in full as text."""
    labelled = {
        "Handoff": handoff.id,
        "From": handoff.from_agent,
        "To": handoff.to_agent or "anyone",
        "Status": str(handoff.status_at(now)),
        "Task": None if task is None else f"{task.code} {task.title} ({task.id})",
        "Created": times.to_text(handoff.created_at),
        "Expires": times.to_text_or_none(handoff.expires_at),
        "Summary": indented(handoff.summary),
    }
    lines = [f"{name}: {value}" for name, value in labelled.items() if value]
    return [*lines, *_context(handoff.context)]


def _context(context: Mapping[str, JSON]) -> list[str]:
    shown = {
        key: value if isinstance(value, str) else compact(value) for key, value in context.items()
    }
    return [indented(f"{key}: {value}") for key, value in shown.items()]


def handoff_line(handoff: Handoff, task: Task | None, now: int) -> str:
    """Return the handoff on one line, with its handles and the beginning of its context."""
    on = "" if task is None else f" on {task.code} ({task.id})"
    agents = f"{handoff.from_agent}→{handoff.to_agent or 'anyone'}"
    summary = one_line(handoff.summary)
    rest = one_line("; ".join(_context(handoff.context)))
    context = f" — {rest}" if rest else ""
    return f"- {handoff.id} {agents} ({handoff.status_at(now)}){on}: {summary}{context}"


def claim_json(claim: Claim, task: Task, project: Project) -> dict[str, JSON]:
    """Return a claim as its holder sees it, with the token."""
    return {
        "id": claim.id,
        "owner": project.owner,
        "repo": project.name,
        "task_id": task.id,
        "task_code": task.code,
        "agent": claim.agent,
        "role": claim.role,
        "claimed_at": times.to_text(claim.claimed_at),
        "expires_at": times.to_text(claim.expires_at),
        "released_at": None,
        "metadata": dict(claim.metadata),
        "claim_token": claim.token,
    }


def claim_row(claim: Claim, task: Task) -> list[JSON]:
    """Return a claim as a list's table has it; the token is the holder's alone."""
    return [
        claim.id,
        task.id,
        task.code,
        claim.agent,
        claim.role,
        times.to_text(claim.claimed_at),
        times.to_text(claim.expires_at),
        times.to_text_or_none(claim.released_at),
        brief_object(claim.metadata),
    ]


def claim_line(claim: Claim, task: Task, now: int) -> str:
    """Return a claim on one line, with its handles."""
    who = f"{claim.agent} (role {claim.role})"
    return f"- {task.code} {task.title} ({task.id}): {who} {_state(claim, now)}, claim {claim.id}"


def _state(claim: Claim, now: int) -> str:
    if claim.released_at is not None:
        return f"ended {times.to_text(claim.released_at)} by {claim.ended_by}"
    until = times.to_text(claim.expires_at)
    return f"until {until}" if claim.is_live(now) else f"over since {until}"


def claim_lines(claim: Claim, task: Task, project: Project) -> list[str]:
    """Return what a claimant needs to know."""
    head = (
        f'Claimed [{task.code}] in repo "{project.name}": agent={claim.agent}, role={claim.role}.'
    )
    until = times.to_text(claim.expires_at)
    return [
        head,
        f"Until {until}; renew with claim-manage and claim_token {claim.token}.",
        f"Task {task.id}, claim {claim.id}, status {task.status}.",
    ]
