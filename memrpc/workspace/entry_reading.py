"""Reading entries: by handle, and as a recap of what a repository knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from memrpc.workspace import entries, graph, scope
from memrpc.workspace.graph import Subgraph
from memrpc.workspace.handles import resolve
from memrpc.workspace.model import Entry, EntryStatus, EntryType, Kind

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.model import Repo


class EntryDetail(NamedTuple):
    """Entries in full, with what they name; ``missing`` are handles that name none."""

    entries: tuple[Entry, ...]
    missing: tuple[str, ...]
    graph: Subgraph


class Recap(NamedTuple):
    """The most important of what is known; ``besides`` counts what only a search shows."""

    by_type: dict[EntryType, int]
    entries: tuple[Entry, ...]
    total: int
    graph: Subgraph
    besides: dict[str, int]
    near: tuple[str, ...] = ()


def detail(db: apsw.Connection, repo: Repo, handles: Sequence[str]) -> EntryDetail:
    """Return the entries that these ids and codes name, in their order.

    Raises NotFound when a single handle names none.
    """
    found, missing = resolve(handles, lambda handle: entries.find(db, repo, handle))
    around = graph.around(db, Kind.ENTRY, [entry.key for entry in found])
    return EntryDetail(tuple(found), tuple(missing), around)


def recap(db: apsw.Connection, repo: Repo, *, now: int, limit: int, offset: int) -> Recap:
    """Return the active knowledge of a repository, the most important and then the newest first."""
    tallies = entries.tallies(db, repo)
    shared = entries.global_tallies(db, repo, now=now)
    over = entries.expired(db, repo, now=now)
    by_type: dict[EntryType, int] = {
        kind: count
        for kind in EntryType
        if kind is not EntryType.TASK_ARCHIVE
        and (
            count := tallies.get((EntryStatus.ACTIVE, kind), 0)
            + shared.get(kind, 0)
            - over.get(kind, 0)
        )
    }
    found = entries.recap(db, repo, now=now, limit=limit, offset=offset)
    total = sum(by_type.values())
    around = graph.around(db, Kind.ENTRY, [entry.key for entry in found])
    near = () if tallies else tuple(scope.near(db, repo))
    return Recap(by_type, tuple(found), total, around, _besides(tallies), near)


def _besides(tallies: Mapping[tuple[EntryStatus, EntryType], int]) -> dict[str, int]:
    """Count the records of finished tasks, and what was put away."""
    tasks = tallies.get((EntryStatus.ACTIVE, EntryType.TASK_ARCHIVE), 0)
    away = sum(n for (status, _), n in tallies.items() if status is EntryStatus.ARCHIVED)
    return {name: n for name, n in (("task_archive", tasks), ("archived", away)) if n}
