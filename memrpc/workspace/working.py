"""Working on a task: claiming it starts it, and accepting a handoff claims it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrpc.workspace import claims, handoffs, task_writing, tasks
from memrpc.workspace.model import Claim, Handoff, HandoffStatus, Task, TaskStatus

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.claims import Wish
    from memrpc.workspace.model import Act, Repo


def claim(db: apsw.Connection, repo: Repo, handle: str, wish: Wish, act: Act) -> tuple[Claim, Task]:
    """Claim the task and bring it into progress, or fail whole."""
    task = tasks.find(db, repo, handle)
    before = claims.open_claim(db, task)
    taken = claims.take(db, repo, task, wish, act)
    if task.status is not TaskStatus.IN_PROGRESS:
        task = task_writing.start(db, repo, task, act, _said(taken, before), force=wish.force)
    elif before is None or before.id != taken.id:
        task_writing.comment(db, task, _said(taken, before), act)
    return taken, task


def _said(taken: Claim, before: Claim | None) -> str:
    """Return the comment that a claim leaves on its task."""
    from_whom = (
        "" if before is None or before.id == taken.id else f", taken over from {before.agent}"
    )
    return f"Claimed by {taken.agent}{from_whom}"


def accept(
    db: apsw.Connection, repo: Repo, handoff: Handoff, wish: Wish, act: Act
) -> tuple[Handoff, Claim | None]:
    """Accept the handoff and claim its task for the act's agent, or fail whole."""
    after = handoffs.answer(db, repo, handoff, HandoffStatus.ACCEPTED, act)
    task = handoffs.task_of(db, handoff)
    if task is None:
        return after, None
    claims.hand_over(db, task, handoff.from_agent, act)
    taken, _ = claim(db, repo, task.id, wish, act)
    return after, taken
