"""Tasks: their rows, their comments, and how a caller's handle finds one."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final

from memrpc.store import json_column
from memrpc.store.errors import NotFound
from memrpc.workspace import fields, scope
from memrpc.workspace.model import Comment, Task, TaskStatus

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import apsw

    from memrpc.workspace.model import Repo

_ISSUE: Final = re.compile(r"(?<![\w#&])#(\d{1,9})\b")

_COLUMNS: Final = """
SELECT task, id, repo, code, phase, title, description, status, priority, agent, role, model,
  doc_path, created_at, updated_at, in_progress_at, finished_at, canceled_at, est_tokens, commit_id,
  changed_files, tags, suggested_skills, metadata, parent, depends_on
FROM tasks
"""
_BY_ID: Final = _COLUMNS + "WHERE repo = :repo AND id = :handle"
_BY_CODE: Final = _COLUMNS + "WHERE repo = :repo AND code = :handle"
_BY_KEYS: Final = _COLUMNS + "WHERE task IN (SELECT value FROM json_each(:keys))"
_BIRTHS: Final = """
SELECT task, created_at FROM tasks WHERE task IN (SELECT value FROM json_each(:keys))
"""
_ANYWHERE: Final = _COLUMNS + "WHERE id = :id"
_KEYS: Final = "SELECT task FROM tasks ORDER BY task"
_CHILDREN: Final = _COLUMNS + "WHERE parent = :task ORDER BY task"
_DEPENDING: Final = _COLUMNS + "WHERE depends_on = :task ORDER BY task"
_HELD: Final = "SELECT 1 FROM tasks WHERE repo = :repo AND code = :code"
_PENDING: Final = """
SELECT count FROM tallies WHERE repo = :repo AND kind = 'task' AND label = 'pending'
"""
_TALLIES: Final = (
    "SELECT label, count FROM tallies WHERE repo = :repo AND kind = 'task' AND count > 0"
)
_WAITS_FOR: Final = """
WITH RECURSIVE waits (task) AS (
  SELECT :start
  UNION
  SELECT tasks.depends_on FROM waits JOIN tasks ON tasks.task = waits.task
  WHERE tasks.depends_on IS NOT NULL
  UNION
  SELECT tasks.task FROM waits JOIN tasks ON tasks.parent = waits.task
)
SELECT 1 FROM waits WHERE task = :sought
"""
_ADD: Final = """
INSERT INTO tasks (id, repo, code, phase, title, description, status, priority, agent, role, model,
  doc_path, created_at, updated_at, in_progress_at, finished_at, canceled_at, est_tokens, commit_id,
  changed_files, tags, suggested_skills, metadata, parent, depends_on)
VALUES (:id, :repo, :code, :phase, :title, :description, :status, :priority, :agent, :role, :model,
  :doc_path, :created_at, :updated_at, :in_progress_at, :finished_at, :canceled_at, :est_tokens,
  :commit_id, :changed_files, :tags, :suggested_skills, :metadata, :parent, :depends_on)
RETURNING task
"""
_SAVE: Final = """
UPDATE tasks SET phase = :phase, title = :title, description = :description, status = :status,
  priority = :priority, role = :role, model = :model, doc_path = :doc_path,
  updated_at = :updated_at, in_progress_at = :in_progress_at, finished_at = :finished_at,
  canceled_at = :canceled_at, est_tokens = :est_tokens, commit_id = :commit_id,
  changed_files = :changed_files, tags = :tags, suggested_skills = :suggested_skills,
  metadata = :metadata, parent = :parent, depends_on = :depends_on
WHERE task = :task
"""
_KEY: Final = frozenset({"key"})
_DELETE: Final = "DELETE FROM tasks WHERE task = :task"
_COMMENT: Final = """
INSERT INTO comments (id, task, text, agent, role, model, previous_status, next_status, created_at)
VALUES (:id, :task, :text, :agent, :role, :model, :previous_status, :next_status, :created_at)
"""
_COMMENTS: Final = """
SELECT id, text, agent, role, model, previous_status, next_status, created_at
FROM comments WHERE task = :task ORDER BY comment DESC LIMIT :limit
"""
_COMMENT_COUNTS: Final = """
SELECT task, count(*) FROM comments
WHERE task IN (SELECT value FROM json_each(:keys)) GROUP BY task
"""
_ISSUE_ADD: Final = """
INSERT INTO task_issues (task, issue) VALUES (:task, :issue) ON CONFLICT DO NOTHING
"""
_ISSUES_DROP: Final = "DELETE FROM task_issues WHERE task = :task"
_ISSUES: Final = """
SELECT task, issue FROM task_issues
WHERE task IN (SELECT value FROM json_each(:keys)) ORDER BY task, issue
"""


def find(db: apsw.Connection, repo: Repo, handle: str) -> Task:
    """Return the task that an id or a code names in this repository.

    Raises NotFound, the same for what stands in another repository and for what does not exist.
    """
    values = {"repo": repo.key, "handle": handle.strip()}
    for statement in (_BY_CODE, _BY_ID):
        row = db.execute(statement, values).fetchone()
        if row is not None:
            return _task(row)
    raise NotFound(
        f"Task not found: {handle} in {scope.full_name(repo)}; look it up with task-read query.",
        id=handle,
    )


def by_keys(db: apsw.Connection, keys: Iterable[int]) -> dict[int, Task]:
    """Return those of the keys that exist."""
    rows: list[Any] = db.execute(_BY_KEYS, {"keys": json.dumps(list(keys))}).fetchall()
    return {row[0]: _task(row) for row in rows}


def births(db: apsw.Connection, keys: Iterable[int]) -> dict[int, int]:
    """Return when those of the keys that exist were created."""
    rows: list[Any] = db.execute(_BIRTHS, {"keys": json.dumps(list(keys))}).fetchall()
    return dict(rows)


def anywhere(db: apsw.Connection, task_id: str) -> Task | None:
    """Return the task of this id, whatever its repository: for the user's own command line."""
    row = db.execute(_ANYWHERE, {"id": task_id}).fetchone()
    return None if row is None else _task(row)


def keys(db: apsw.Connection) -> list[int]:
    """List the keys of every task of the file."""
    rows: list[Any] = db.execute(_KEYS).fetchall()
    return [key for (key,) in rows]


def children(db: apsw.Connection, task: Task) -> list[Task]:
    """List the tasks that are part of this one."""
    return [_task(row) for row in db.execute(_CHILDREN, {"task": task.key}).fetchall()]


def depending(db: apsw.Connection, task: Task) -> list[Task]:
    """List the tasks that wait for this one."""
    return [_task(row) for row in db.execute(_DEPENDING, {"task": task.key}).fetchall()]


def above(db: apsw.Connection, *states: Task) -> list[Task]:
    """List the tasks that these are part of or wait for."""
    keys = {key for task in states for key in (task.parent, task.depends_on) if key is not None}
    return list(by_keys(db, keys).values()) if keys else []


def around(db: apsw.Connection, task: Task) -> list[Task]:
    """List the tasks that show this one."""
    return [*above(db, task), *children(db, task), *depending(db, task)]


def holds_code(db: apsw.Connection, repo: Repo, code: str) -> bool:
    """Say whether the repository has a task of this code."""
    return db.execute(_HELD, {"repo": repo.key, "code": code}).get is not None


def is_known(db: apsw.Connection, repo: Repo, code: str) -> bool:
    """Say whether a caller's code names a task of the repository."""
    return holds_code(db, repo, code.strip())


def pending(db: apsw.Connection, repo: Repo) -> int:
    """Count the repository's pending tasks."""
    return db.execute(_PENDING, {"repo": repo.key}).get or 0


def tallies(db: apsw.Connection, repo: Repo) -> dict[TaskStatus, int]:
    """Count the repository's tasks by status."""
    rows: list[Any] = db.execute(_TALLIES, {"repo": repo.key}).fetchall()
    return {TaskStatus(label): count for label, count in rows}


def waits_for(db: apsw.Connection, start: int, sought: int) -> bool:
    """Say whether a task can only end after another, by dependencies and children."""
    return db.execute(_WAITS_FOR, {"start": start, "sought": sought}).get is not None


def add(db: apsw.Connection, task: Task) -> int:
    """Write a new task, whose own key is ignored, and return its key."""
    key: int = db.execute(_ADD, _values(task)).get
    note_issues(db, key, f"{task.title}\n{task.description}")
    return key


def save(db: apsw.Connection, task: Task) -> None:
    """Write a task in place of what it was."""
    db.execute(_SAVE, _values(task) | {"task": task.key}).fetchall()
    note_issues(db, task.key, f"{task.title}\n{task.description}")


def delete(db: apsw.Connection, task: Task) -> None:
    """Take the row away, with its comments and claims; children and dependents are let go."""
    db.execute(_DELETE, {"task": task.key}).fetchall()


def add_comment(db: apsw.Connection, task: Task, comment: Comment) -> None:
    """Write a comment under the task."""
    db.execute(_COMMENT, fields.of(comment) | {"task": task.key}).fetchall()
    note_issues(db, task.key, comment.text)


def comments(db: apsw.Connection, task: Task, *, limit: int = 1_000) -> list[Comment]:
    """List what was remarked, newest first."""
    rows: list[Any] = db.execute(_COMMENTS, {"task": task.key, "limit": limit}).fetchall()
    return [_comment(row) for row in rows]


def comment_counts(db: apsw.Connection, keys: Collection[int]) -> dict[int, int]:
    """Count the comments of each task that has any."""
    rows: list[Any] = db.execute(_COMMENT_COUNTS, {"keys": json.dumps(list(keys))}).fetchall()
    return dict(rows)


def issues_in(text: str) -> list[int]:
    """Return the issues of a tracker that a text names, as in ``#123``."""
    return [int(number) for number in _ISSUE.findall(text)]


def note_issues(db: apsw.Connection, key: int, text: str) -> None:
    """Remember the issues that a text of the task names."""
    for issue in issues_in(text):
        db.execute(_ISSUE_ADD, {"task": key, "issue": issue}).fetchall()


def recount_issues(db: apsw.Connection, task: Task) -> None:
    """Remember the issues that the task and its comments name, and no others."""
    db.execute(_ISSUES_DROP, {"task": task.key}).fetchall()
    texts = [task.title, task.description, *(each.text for each in comments(db, task))]
    note_issues(db, task.key, "\n".join(texts))


def issues(db: apsw.Connection, keys: Collection[int]) -> dict[int, list[int]]:
    """Return the issues that each task names."""
    rows: list[Any] = db.execute(_ISSUES, {"keys": json.dumps(list(keys))}).fetchall()
    found: dict[int, list[int]] = {}
    for key, issue in rows:
        found.setdefault(key, []).append(issue)
    return found


def _values(task: Task) -> dict[str, Any]:
    columns = fields.of(task, _KEY)
    lists = ("changed_files", "tags", "suggested_skills", "metadata")
    return columns | {name: json_column.encode(columns[name]) for name in lists}


def _task(row: Any) -> Task:  # noqa: ANN401 -- a row as apsw returns it
    values: list[Any] = list(row)
    values[7] = TaskStatus(row[7])
    values[20:23] = [json_column.decode_list(column) for column in row[20:23]]
    values[23] = json_column.decode_object(row[23])
    return Task(*values)


def _comment(row: Any) -> Comment:  # noqa: ANN401 -- a row as apsw returns it
    comment_id, text, agent, role, model, before, after, created_at = row
    return Comment(
        id=comment_id,
        text=text,
        agent=agent,
        role=role,
        model=model,
        previous_status=None if before is None else TaskStatus(before),
        next_status=None if after is None else TaskStatus(after),
        created_at=created_at,
    )
