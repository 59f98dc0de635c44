"""Redaction: an entry or a task goes with every copy of its words, for the user's command line.

A tool's delete hides or removes the row and keeps the log; this takes the index, the graph, the
comments, the archive of a task and what the action log knows of them too, and owes the purge that
removes the bytes.  That something was redacted, and when, stays, so that no import brings it back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.store import purge
from memrpc.store.errors import NotFound
from memrpc.workspace import actions, entries, indexing, scope, tasks, topics
from memrpc.workspace.actions import Change
from memrpc.workspace.model import Entry, Kind, Task

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.model import Act

_ARCHIVES: Final = """
SELECT entry FROM entries
WHERE type = 'task_archive' AND json_extract(metadata, '$.task_id') = :task_id
"""
_HANDOFFS: Final = "SELECT id FROM handoffs WHERE task = :task"
_DELETE_HANDOFFS: Final = "DELETE FROM handoffs WHERE task = :task"
_CLAIMS: Final = "SELECT id FROM claims WHERE task = :task"
_BURY: Final = "INSERT INTO redactions VALUES (:id, :now) ON CONFLICT DO NOTHING"
_BURIED: Final = "SELECT 1 FROM redactions WHERE id = :id"
_LOGGED: Final = "SELECT kind, repo FROM actions WHERE subject_id = :id LIMIT 1"


class Redaction(NamedTuple):
    """What went; the purge of the bytes is owed."""

    ids: tuple[str, ...]


def redact(db: apsw.Connection, subject_id: str, act: Act) -> Redaction:
    """Erase the entry or task of this id, deleted ones in the log included.  Raises NotFound."""
    entry, task = entries.anywhere(db, subject_id), tasks.anywhere(db, subject_id)
    if entry is not None:
        gone = _redact_entry(db, entry, act)
    elif task is not None:
        gone = _redact_task(db, task, act)
    else:
        gone = _redact_logged(db, subject_id, act)
    for each in gone:
        actions.erase(db, each)
        db.execute(_BURY, {"id": each, "now": act.now}).fetchall()
    purge.request(db, now=act.now)
    return Redaction(tuple(gone))


def is_redacted(db: apsw.Connection, subject_id: str) -> bool:
    """Say whether this id was redacted here."""
    return db.execute(_BURIED, {"id": subject_id}).get is not None


def _redact_entry(db: apsw.Connection, entry: Entry, act: Act) -> list[str]:
    indexing.remove(db, Kind.ENTRY, entry.key)
    entries.delete(db, entry)
    repo = scope.by_key(db, entry.repo)
    actions.log(db, repo, act, Change("redact", Kind.ENTRY, entry.id))
    topics.note(db, repo, (topics.MEMORIES,), f"memory://{entry.id}", now=act.now)
    return [entry.id]


def _redact_task(db: apsw.Connection, task: Task, act: Act) -> list[str]:
    gone = [task.id, *_redact_archives(db, task.id, act)]
    for statement in (_HANDOFFS, _CLAIMS):
        rows: list[Any] = db.execute(statement, {"task": task.key}).fetchall()
        gone += [row_id for (row_id,) in rows]
    db.execute(_DELETE_HANDOFFS, {"task": task.key}).fetchall()
    indexing.remove(db, Kind.TASK, task.key)
    near = tasks.around(db, task)
    tasks.delete(db, task)
    repo = scope.by_key(db, task.repo)
    actions.log(db, repo, act, Change("redact", Kind.TASK, task.id))
    topics.note_tasks(db, repo, task, *near, now=act.now)
    return gone


def _redact_archives(db: apsw.Connection, task_id: str, act: Act) -> list[str]:
    """Take the records of a task that was completed."""
    rows: list[Any] = db.execute(_ARCHIVES, {"task_id": task_id}).fetchall()
    found = entries.by_keys(db, [key for (key,) in rows]).values()
    return [gone for entry in found for gone in _redact_entry(db, entry, act)]


def _redact_logged(db: apsw.Connection, subject_id: str, act: Act) -> list[str]:
    """A task that a tool deleted lives on in the log, and in its record if it was completed."""
    kind, repo = db.execute(_LOGGED, {"id": subject_id}).get or (None, 0)
    if kind not in (Kind.ENTRY, Kind.TASK):
        raise NotFound(f"There is no entry or task {subject_id}; send its full id.", id=subject_id)
    change = Change("redact", Kind(kind), subject_id)
    actions.log(db, scope.by_key(db, repo), act, change)
    return [subject_id, *_redact_archives(db, subject_id, act)]
