"""How tasks are shown: in full, as rows, as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memrpc.surface.workspace.shown import grouped, indented, object_text, present, shortened
from memrpc.wire.messages import JSON
from memrpc.workspace import times
from memrpc.workspace.model import TaskStatus
from memrpc.workspace.task_drafts import TaskDraft

if TYPE_CHECKING:
    from memrpc.surface.projects import Project
    from memrpc.surface.workspace.visit import Arguments
    from memrpc.workspace.model import Comment, Task
    from memrpc.workspace.task_reading import TaskDetail, TaskRow

LIST_COLUMNS = (
    "id",
    "task_code",
    "title",
    "status",
    "priority",
    "updated_at",
    "comments_count",
    "phase",
)
SEARCH_COLUMNS = (
    "id",
    "task_code",
    "title",
    "status",
    "priority",
    "score",
    "confidence",
    "updated_at",
    "phase",
    "issue_refs",
    "match_reason",
)
LEGEND = "> CODE [Pn = priority 1 low to 5 critical] [phase] title, grouped by status."
_LISTS = ("tags", "suggested_skills", "decision_refs", "changed_files")
_PLAIN = (
    "phase",
    "title",
    "description",
    "priority",
    "role",
    "model",
    "comment",
    "doc_path",
    "metadata",
    "parent_id",
    "depends_on",
    "est_tokens",
    "commit_id",
    "claim_token",
)


def draft_of(arguments: Arguments) -> TaskDraft:
    """Return what the arguments say of a task."""
    plain = {name: arguments[name] for name in _PLAIN if name in arguments}
    lists: dict[str, JSON] = {name: tuple(arguments[name]) for name in _LISTS if name in arguments}
    status = arguments.get("status")
    return TaskDraft(
        status=None if status is None else TaskStatus(status),
        force=bool(arguments.get("force")),
        **plain,
        **lists,
    )


def task_json(detail: TaskDetail, project: Project) -> dict[str, JSON]:
    """Return the task in full with everything around it."""
    task, parent, dependency = detail.task, detail.parent, detail.dependency
    return present(
        {
            "id": task.id,
            "owner": project.owner,
            "repo": project.name,
            "task_code": task.code,
            "phase": task.phase,
            "title": task.title,
            "description": task.description,
            "status": str(task.status),
            "priority": task.priority,
            "agent": task.agent,
            "role": task.role,
            "model": task.model,
            "doc_path": task.doc_path,
            **_times(task),
            "est_tokens": task.est_tokens,
            "commit_id": task.commit_id,
            "changed_files": list(task.changed_files),
            "tags": list(task.tags),
            "suggested_skills": list(task.suggested_skills),
            "metadata": dict(task.metadata),
            "parent_id": None if parent is None else parent.id,
            "parent_code": None if parent is None else parent.code,
            "depends_on": None if dependency is None else dependency.id,
            "depends_on_code": None if dependency is None else dependency.code,
            "coordination": _coordination(detail),
            "comments_count": detail.comment_count,
            "comments": [_comment(each) for each in detail.comments],
            "children": [brief(each) for each in detail.children],
            "depended_by": [brief(each) for each in detail.depended_by],
            "truncated": detail.is_cut or None,
        }
    )


def _times(task: Task) -> dict[str, JSON]:
    names = ("created_at", "updated_at", "in_progress_at", "finished_at", "canceled_at")
    return {name: times.to_text_or_none(getattr(task, name)) for name in names}


def _coordination(detail: TaskDetail) -> dict[str, JSON]:
    claim, waiting = detail.claim, detail.waiting
    held: dict[str, JSON] = {"active_claim_count": int(claim is not None)}
    if claim is not None:
        held |= {
            "active_claim_agent": claim.agent,
            "active_claim_role": claim.role,
            "active_claim_claimed_at": times.to_text(claim.claimed_at),
            "active_claim_expires_at": times.to_text(claim.expires_at),
        }
    held["pending_handoff_count"] = 0 if waiting is None else waiting.total
    if waiting is not None:
        held |= {
            "pending_handoff_id": waiting.id,
            "pending_handoff_summary": shortened(waiting.summary),
            "pending_handoff_to_agent": waiting.to_agent,
            "pending_handoff_created_at": times.to_text(waiting.created_at),
        }
    return present(held)


def _comment(comment: Comment) -> dict[str, JSON]:
    before, after = comment.previous_status, comment.next_status
    return present(
        {
            "id": comment.id,
            "comment": comment.text,
            "agent": comment.agent,
            "role": comment.role,
            "model": comment.model,
            "previous_status": None if before is None else str(before),
            "next_status": None if after is None else str(after),
            "created_at": times.to_text(comment.created_at),
        }
    )


def brief(task: Task) -> dict[str, JSON]:
    """Return a task as another one lists it."""
    return {"task_code": task.code, "title": task.title, "status": str(task.status)}


def task_lines(detail: TaskDetail, project: Project) -> list[str]:
    """Return the task in full as text."""
    task = detail.task
    labelled = {
        "Task": f"{task.code} {task.title}",
        "ID": task.id,
        "Status": str(task.status),
        "Priority": str(task.priority),
        "Phase": task.phase,
        "Repo": f"{project.owner}/{project.name}",
        "Author": task.agent,
        "Tags": ", ".join(task.tags),
        "Skills": ", ".join(task.suggested_skills),
        "Document": task.doc_path,
        "Commit": task.commit_id,
        "Changed files": ", ".join(task.changed_files),
        "Metadata": object_text(task.metadata),
        "Created": times.to_text(task.created_at),
        "Updated": times.to_text(task.updated_at),
        "Started": times.to_text_or_none(task.in_progress_at),
        "Completed": times.to_text_or_none(task.finished_at),
        "Canceled": times.to_text_or_none(task.canceled_at),
    }
    lines = [f"{name}: {value}" for name, value in labelled.items() if value]
    around = [*_around(detail), *_coordination_lines(detail)]
    history = [line for each in detail.comments for line in _history(each)]
    cut = f"Shown in part ({detail.comment_count} comments in all); whole: task://{task.id}"
    rest = [cut] if detail.is_cut else []
    return [*lines, *around, "--- description ---", task.description, *history, *rest]


def _around(detail: TaskDetail) -> list[str]:
    named = (
        ("Parent", [detail.parent] if detail.parent else []),
        ("Depends on", [detail.dependency] if detail.dependency else []),
        ("Children", detail.children),
        ("Waiting for it", detail.depended_by),
    )
    lines = [f"{label}: {_briefly(tasks)}" for label, tasks in named if tasks]
    ids = [each.id for each in (detail.parent, detail.dependency) if each is not None]
    return [*lines, *([f"Their ids: {', '.join(ids)}"] if ids else [])]


def _briefly(tasks: Iterable[Task]) -> str:
    return "; ".join(f"{task.code} {task.title} ({task.status})" for task in tasks)


def _coordination_lines(detail: TaskDetail) -> list[str]:
    claim, waiting = detail.claim, detail.waiting
    lines: list[str] = []
    if claim is not None:
        until = times.to_text(claim.expires_at)
        lines.append(f"Claimed by {claim.agent} (role {claim.role}) until {until}")
    if waiting is not None:
        lines.append(
            f"Handoff {waiting.id} waits for {waiting.to_agent or 'anyone'}: "
            f"{indented(shortened(waiting.summary))}"
        )
    return lines


def _history(comment: Comment) -> list[str]:
    before, after = comment.previous_status, comment.next_status
    moved = "" if before is None else f" {before} → {after}"
    when = times.to_text(comment.created_at)
    said = indented(comment.text)
    return [f"- {when} {comment.agent}{moved}: {said} (comment {comment.id})"]


def list_row(row: TaskRow) -> list[JSON]:
    """Return a task as the list's table has it."""
    task = row.task
    head: list[JSON] = [task.id, task.code, task.title, str(task.status), task.priority]
    return [*head, times.to_text(task.updated_at), row.comments, task.phase]


def search_row(row: TaskRow) -> list[JSON]:
    """Return a task as the search's table has it."""
    task, mark = row.task, row.mark
    return [
        task.id,
        task.code,
        task.title,
        str(task.status),
        task.priority,
        None if mark is None else mark.score,
        None if mark is None else str(mark.confidence),
        times.to_text(task.updated_at),
        task.phase,
        [f"#{issue}" for issue in row.issues],
        row.matched,
    ]


def row_lines(rows: Sequence[TaskRow]) -> list[str]:
    """Return tasks as text, grouped by status; a list's and a ranking's order stays."""
    return grouped(rows, lambda row: str(row.task.status), _row_line)


def _row_line(row: TaskRow) -> str:
    task, mark = row.task, row.mark
    line = f"- {task.code} [P{task.priority}] [{task.phase}] {task.title} ({task.id})"
    sure = "" if mark is None else f" {mark.confidence} {mark.score:.2f}"
    issues = "".join(f" #{issue}" for issue in row.issues)
    return f"{line}{sure}{issues}"
