"""Reading entries: by handle, and as a recap of what a repository knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memrpc.store.errors import NotFound
from memrpc.workspace import entries, graph
from memrpc.workspace.graph import Subgraph
from memrpc.workspace.model import Entry, EntryStatus, EntryType, Kind

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.model import Repo


@dataclass(frozen=True, slots=True)
class EntryDetail:
    """Entries in full, with what they name; ``missing`` are handles that name none."""

    entries: tuple[Entry, ...]
    missing: tuple[str, ...]
    graph: Subgraph


@dataclass(frozen=True, slots=True)
class Recap:
    """The most important of what is known."""

    by_type: dict[EntryType, int]
    entries: tuple[Entry, ...]
    total: int
    graph: Subgraph


def detail(db: apsw.Connection, repo: Repo, handles: Sequence[str]) -> EntryDetail:
    """Return the entries that these ids and codes name, in their order.

    Raises NotFound when a single handle names none.
    """
    found: dict[int, Entry] = {}
    missing: list[str] = []
    for handle in dict.fromkeys(handles):
        try:
            entry = entries.find(db, repo, handle)
        except NotFound:
            if len(handles) == 1:
                raise
            missing.append(handle)
        else:
            found[entry.key] = entry
    around = graph.around(db, Kind.ENTRY, list(found))
    return EntryDetail(tuple(found.values()), tuple(missing), around)


def recap(db: apsw.Connection, repo: Repo, *, now: int, limit: int, offset: int) -> Recap:
    """Return the active knowledge of a repository, the most important and then the newest first."""
    tallies = entries.tallies(db, repo)
    by_type: dict[EntryType, int] = {
        kind: count
        for kind in EntryType
        if kind is not EntryType.TASK_ARCHIVE
        and (count := tallies.get((EntryStatus.ACTIVE, kind), 0))
    }
    found = entries.recap(db, repo, now=now, limit=limit, offset=offset)
    total = sum(by_type.values()) - entries.expired(db, repo, now=now)
    around = graph.around(db, Kind.ENTRY, [entry.key for entry in found])
    return Recap(by_type, tuple(found), total, around)
