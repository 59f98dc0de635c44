"""The archive of tasks: a completed one leaves an entry that says what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memrpc.workspace import entries, entry_writing, rules, tasks
from memrpc.workspace.composing import EntryDraft
from memrpc.workspace.graph import Link
from memrpc.workspace.model import EntryType, Kind, Task

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.model import Act, Comment, Entry, Repo

TITLE: Final = "Completed Task: "
TAG: Final = "task-archive"
RECORDS: Final = "records"
_TITLE_CHARS: Final = 100
_LAST: Final = """
SELECT subject FROM links
WHERE to_kind = 'task' AND to_subject = :task AND kind = 'entry' AND type = 'records'
ORDER BY subject DESC LIMIT 1
"""


def record(db: apsw.Connection, repo: Repo, task: Task, act: Act) -> Entry:
    """Keep what the task was; a task completed again replaces its older record."""
    older = of_task(db, task)
    draft = EntryDraft(
        type=EntryType.TASK_ARCHIVE,
        title=f"{TITLE}{task.title}"[:_TITLE_CHARS],
        content=_content(task, tasks.comments(db, task))[: rules.CONTENT_CHARS[1]],
        importance=min(5, task.priority + 1),
        tags=tuple(dict.fromkeys([TAG, *task.tags])),
        metadata={
            "task_id": task.id,
            "task_code": task.code,
            "original_metadata": dict(task.metadata),
        },
        supersedes=None if older is None else older.id,
    )
    links = (Link(RECORDS, Kind.TASK, task.key),)
    return entry_writing.create(db, repo, draft, act, links)


def of_task(db: apsw.Connection, task: Task) -> Entry | None:
    """Return the newest record of a task."""
    key: int | None = db.execute(_LAST, {"task": task.key}).get
    return None if key is None else entries.by_keys(db, [key]).get(key)


def _content(task: Task, comments: list[Comment]) -> str:
    lines = [f"{task.code} ({task.phase}): {task.title}", "", task.description]
    if task.commit_id:
        lines += ["", f"Commit: {task.commit_id}"]
    if task.changed_files:
        lines += ["", "Changed files:", *(f"- {path}" for path in task.changed_files)]
    if comments:
        lines += ["", "History:", *(f"- {_remark(each)}" for each in reversed(comments))]
    return "\n".join(lines)


def _remark(comment: Comment) -> str:
    moved = "" if comment.next_status is None else f" → {comment.next_status}"
    return f"{comment.agent}{moved}: {comment.text}"
