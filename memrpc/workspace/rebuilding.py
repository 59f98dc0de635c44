"""Rebuilding: the index and the graph made anew from the rows that they came from."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from memrpc.workspace import (
    entries,
    indexing,
    scope,
    standards,
    task_archive,
    task_writing,
    tasks,
)
from memrpc.workspace.graph import Link
from memrpc.workspace.model import EntryType, Kind

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from memrpc.workspace.model import Entry


def renewals(db: apsw.Connection) -> list[Callable[[apsw.Connection], int]]:
    """Return what makes the index and the graph anew, a subject at a time.

    Each says how many it has done: none if its subject has gone by then.
    """
    kinds = {entries.keys: _entry, tasks.keys: _task, standards.keys: _standard}
    return [partial(renew, key=key) for keys, renew in kinds.items() for key in keys(db)]


def _entry(db: apsw.Connection, key: int) -> int:
    found = entries.by_keys(db, [key]).values()
    for entry in found:
        indexing.put_entry(db, entry, entry_links(db, entry))
    return len(found)


def _task(db: apsw.Connection, key: int) -> int:
    found = tasks.by_keys(db, [key]).values()
    for task in found:
        links = task_writing.decisions_of(db, scope.by_key(db, task.repo), task)
        indexing.put_task(db, task, tasks.comments(db, task), links)
    return len(found)


def _standard(db: apsw.Connection, key: int) -> int:
    found = standards.by_keys(db, [key]).values()
    for standard in found:
        indexing.put_standard(db, standard)
    return len(found)


def entry_links(db: apsw.Connection, entry: Entry) -> list[Link]:
    """Return the entry's links to what it replaced or records."""
    older = None if entry.supersedes is None else entries.anywhere(db, entry.supersedes)
    is_seen = older is not None and (older.repo == entry.repo or older.is_global)
    links = [Link("supersedes", Kind.ENTRY, older.key)] if older and is_seen else []
    task_id = entry.metadata.get("task_id")
    if entry.type is EntryType.TASK_ARCHIVE and isinstance(task_id, str):
        task = tasks.anywhere(db, task_id)
        is_own = task is not None and task.repo == entry.repo
        links += [Link(task_archive.RECORDS, Kind.TASK, task.key)] if task and is_own else []
    return links
