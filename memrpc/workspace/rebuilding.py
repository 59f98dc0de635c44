"""Rebuilding: the index and the graph made anew from the rows that they came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrpc.workspace import (
    entries,
    graph,
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
    from collections.abc import Iterator

    import apsw

    from memrpc.recall.model import Document
    from memrpc.workspace.model import Entry


def documents(db: apsw.Connection) -> Iterator[Document]:
    """Yield everything that the workspace has in the index."""
    for key in entries.keys(db):
        yield from map(indexing.entry_document, entries.by_keys(db, [key]).values())
    for key in tasks.keys(db):
        for task in tasks.by_keys(db, [key]).values():
            yield indexing.task_document(task, tasks.comments(db, task))
    for key in standards.keys(db):
        yield from map(indexing.standard_document, standards.by_keys(db, [key]).values())


def rebuild_graph(db: apsw.Connection) -> None:
    """Empty the graph and fill it again."""
    graph.clear(db)
    for key in entries.keys(db):
        for entry in entries.by_keys(db, [key]).values():
            indexing.link_entry(db, entry, entry_links(db, entry))
    for key in tasks.keys(db):
        for task in tasks.by_keys(db, [key]).values():
            repo = scope.by_key(db, task.repo)
            indexing.link_task(db, task, task_writing.decisions_of(db, repo, task))
    for key in standards.keys(db):
        for standard in standards.by_keys(db, [key]).values():
            indexing.link_standard(db, standard)


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
