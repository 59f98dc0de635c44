"""Cross-links between the code index and the workspace, which do not know each other.

A symbol's or a file's page lists the entries and tasks that name it; the symbols and files that an
entry or a task names are looked up in the index of its repository.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memrpc.codebase import naming as code_naming
from memrpc.codebase import repositories
from memrpc.surface.shapes import to_json
from memrpc.workspace import entries, graph, scope, tasks
from memrpc.workspace.model import EntryStatus, Kind
from memrpc.workspace.naming import names_in

if TYPE_CHECKING:
    import apsw

    from memrpc.codebase.naming import Named
    from memrpc.surface.projects import Project
    from memrpc.wire.messages import JSON
    from memrpc.workspace.model import Repo

MAX_MENTIONS: Final = 5
MAX_LINKS: Final = 5


@dataclass(frozen=True, slots=True)
class Mention:
    """An entry or a task that names what is shown."""

    kind: str
    code: str
    title: str


@dataclass(frozen=True, slots=True)
class Mentions:
    """Where the workspace speaks of a symbol or a file."""

    entries: tuple[Mention, ...] = ()
    tasks: tuple[Mention, ...] = ()

    def json(self) -> dict[str, JSON]:
        shown: dict[str, JSON] = {}
        if self.entries:
            shown["entries"] = [{"code": each.code, "title": each.title} for each in self.entries]
        if self.tasks:
            shown["tasks"] = [{"code": each.code, "title": each.title} for each in self.tasks]
        return shown

    def lines(self) -> list[str]:
        return [
            f"Mentioned in {each.kind} {each.code}: {each.title}"
            for each in (*self.entries, *self.tasks)
        ]


def mentions_of(db: apsw.Connection, project: Project, names: Iterable[str]) -> Mentions:
    """What of the repository's workspace names one of ``names``, called or not."""
    repo = scope.find(db, project.owner, project.name)
    spellings = [spelt for name in names for spelt in (name, f"{name}()")]
    found = [
        subject
        for spelt in spellings
        for subject in graph.mentioning(db, repo.key, spelt, MAX_MENTIONS)
    ]
    by_kind = {kind: _keys(found, kind) for kind in (Kind.ENTRY, Kind.TASK)}
    known_entries = entries.by_keys(db, by_kind[Kind.ENTRY])
    known_tasks = tasks.by_keys(db, by_kind[Kind.TASK])
    return Mentions(
        tuple(
            Mention("entry", each.code, each.title)
            for each in known_entries.values()
            if each.status is EntryStatus.ACTIVE
        ),
        tuple(Mention("task", each.code, each.title) for each in known_tasks.values()),
    )


def _keys(found: Iterable[tuple[Kind, int]], kind: Kind) -> list[int]:
    keys = dict.fromkeys(key for each, key in found if each is kind)
    return list(keys)[:MAX_MENTIONS]


def code_named_in(db: apsw.Connection, repo: Repo, text: str) -> list[Named]:
    """The symbols and files of the repository that ``text`` names; none without an index."""
    repository = repositories.find(db, repo.owner, repo.name)
    if repository is None or repository.indexed_at is None:
        return []
    spoken = [each.name.removesuffix("()") for each in names_in(text)]
    return code_naming.named(db, repository.id, spoken)[:MAX_LINKS]


def code_json(named: Sequence[Named]) -> list[JSON] | None:
    """The places as an entry's page shows them; None for none."""
    return [to_json(each) for each in named] or None


def code_lines(named: Sequence[Named]) -> list[str]:
    return [f"Names {each.kind} {each.name}: {_place(each)}" for each in named]


def _place(named: Named) -> str:
    return named.file_path if named.line is None else f"{named.file_path}:{named.line}"
