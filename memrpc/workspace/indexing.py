"""What the workspace gives to recall and to the graph for an entry, a task or a standard.

A collection of recall is one kind in one scope.  Each repository has two scopes of a kind, its
current subjects and its archived ones, and what is global stands in the scopes of repository 0;
so a search reads only what it may show and its statistics are of that alone.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Final

from memrpc.recall import index
from memrpc.recall.model import Document
from memrpc.workspace import graph
from memrpc.workspace.graph import Link
from memrpc.workspace.model import EntryStatus, EntryType, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from memrpc.workspace.model import Comment, Entry, Standard, Task

GLOBAL: Final = 0
MAX_REMARKS_CHARS: Final = 4_000
read_of_entry: Final = attrgetter(
    "title", "code", "content", "tags", "is_global", "status", "supersedes"
)
read_of_standard: Final = attrgetter(
    "title", "code", "content", "context", "language", "stack", "tags", "is_global", "parent"
)
"""What may change of what the index and the graph say; while it is the same, neither is written."""


def scope_of(repo: int, *, archived: bool = False) -> int:
    """Return recall's scope for a repository; ``GLOBAL`` is the repository of what all share."""
    return 2 * repo + archived


def entry_scope(entry: Entry) -> int:
    """Return the scope in which the entry is indexed."""
    repo = GLOBAL if entry.is_global else entry.repo
    return scope_of(repo, archived=entry.status is EntryStatus.ARCHIVED)


def entry_document(entry: Entry) -> Document:
    """Return the entry as recall indexes it."""
    return Document(
        kind=Kind.ENTRY,
        subject=entry.key,
        scope=entry_scope(entry),
        text=entry.content,
        occurred_at=entry.created_at,
        head=" ".join((entry.title, entry.code, *entry.tags)),
    )


def task_document(task: Task, comments: Iterable[Comment]) -> Document:
    """Return the task with what was remarked on it, newest remarks first."""
    remarks = "\n".join(comment.text for comment in comments)[:MAX_REMARKS_CHARS]
    return Document(
        kind=Kind.TASK,
        subject=task.key,
        scope=scope_of(task.repo),
        text="\n".join(filter(None, (task.description, remarks))) or task.title,
        occurred_at=task.created_at,
        head=" ".join((task.title, task.code, task.phase, *task.tags)),
    )


def standard_document(standard: Standard) -> Document:
    """Return the standard as recall indexes it."""
    words = (standard.title, standard.code, standard.context, standard.language or "")
    return Document(
        kind=Kind.STANDARD,
        subject=standard.key,
        scope=scope_of(GLOBAL if standard.is_global else standard.repo),
        text=standard.content,
        occurred_at=standard.created_at,
        head=" ".join((*words, *standard.stack, *standard.tags)),
    )


def put_entry(
    db: apsw.Connection, entry: Entry, links: Iterable[Link], *, is_new: bool = False
) -> None:
    """Index the entry and make its part of the graph."""
    index.put(db, entry_document(entry), is_new=is_new)
    link_entry(db, entry, links)


def put_task(
    db: apsw.Connection,
    task: Task,
    comments: Iterable[Comment],
    links: Iterable[Link],
    *,
    is_new: bool = False,
) -> None:
    """Index the task and make its part of the graph."""
    index.put(db, task_document(task, comments), is_new=is_new)
    link_task(db, task, links)


def put_standard(db: apsw.Connection, standard: Standard, *, is_new: bool = False) -> None:
    """Index the standard and make its part of the graph."""
    index.put(db, standard_document(standard), is_new=is_new)
    link_standard(db, standard)


def link_entry(db: apsw.Connection, entry: Entry, links: Iterable[Link]) -> None:
    """Make the entry's part of the graph."""
    text = f"{entry.title}\n{entry.content}"
    graph.put(db, (Kind.ENTRY, entry.key), entry.repo, text, links)


def link_task(db: apsw.Connection, task: Task, links: Iterable[Link]) -> None:
    """Make the task's part of the graph."""
    text = f"{task.title}\n{task.description}"
    graph.put(db, (Kind.TASK, task.key), task.repo, text, [*links, *_task_links(task)])


def link_standard(db: apsw.Connection, standard: Standard) -> None:
    """Make the standard's part of the graph."""
    parent = standard.parent
    links = [] if parent is None else [Link("extends", Kind.STANDARD, parent)]
    text = f"{standard.title}\n{standard.content}"
    graph.put(db, (Kind.STANDARD, standard.key), standard.repo, text, links)


def remove(db: apsw.Connection, kind: Kind, key: int) -> None:
    """Take a subject out of the index and the graph."""
    index.remove(db, kind, key)
    graph.remove(db, kind, key)


def is_knowledge(entry: Entry) -> bool:
    """Say whether the entry states something, and is not the record of a finished task."""
    return entry.type is not EntryType.TASK_ARCHIVE


def _task_links(task: Task) -> list[Link]:
    named = (("depends_on", task.depends_on), ("part_of", task.parent))
    return [Link(type_, Kind.TASK, key) for type_, key in named if key is not None]
