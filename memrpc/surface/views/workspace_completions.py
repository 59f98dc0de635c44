"""What completes the arguments of the workspace's resources and prompts, from what is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import apsw

    from memrpc.surface.catalogue import Values
    from memrpc.surface.desk import Desk
    from memrpc.workspace.model import Repo

MAX_VALUES: Final = 10_000
_PAGES: Final = ("10", "25", "50", "100")
_OFFSETS: Final = ("0", "50", "100")
_PRIORITIES: Final = ("1", "2", "3", "4", "5")


async def repositories(desk: Desk, _: Values) -> Sequence[str]:
    from memrpc.workspace import scope

    found = await desk.database.read(scope.everything)
    return [scope.full_name(repo) for repo in found]


async def types(_: Desk, __: Values) -> Sequence[str]:
    from memrpc.workspace.model import EntryType

    return [str(kind) for kind in EntryType]


async def statuses(_: Desk, __: Values) -> Sequence[str]:
    from memrpc.workspace.model import TaskStatus

    return ["all", *(str(status) for status in TaskStatus)]


async def priorities(_: Desk, __: Values) -> Sequence[str]:
    return _PRIORITIES


async def limits(_: Desk, __: Values) -> Sequence[str]:
    return _PAGES


async def offsets(_: Desk, __: Values) -> Sequence[str]:
    return _OFFSETS


async def titles(desk: Desk, values: Values) -> Sequence[str]:
    from memrpc.workspace import overview

    return await _in_repos(desk, values, overview.titles)


async def tags(desk: Desk, values: Values) -> Sequence[str]:
    from memrpc.workspace import overview

    return await _in_repos(desk, values, overview.tags)


async def memory_ids(desk: Desk, values: Values) -> Sequence[str]:
    from memrpc.workspace import overview

    return await _in_repos(desk, values, overview.entry_ids)


async def task_ids(desk: Desk, values: Values) -> Sequence[str]:
    from memrpc.workspace import overview

    return await _in_repos(desk, values, overview.task_ids)


async def action_ids(desk: Desk, values: Values) -> Sequence[str]:
    from memrpc.workspace import overview

    return await _in_repos(desk, values, overview.action_ids)


async def entity_names(desk: Desk, values: Values) -> Sequence[str]:
    from memrpc.workspace import graph

    def read(db: apsw.Connection, repo: Repo) -> list[str]:
        return [name for name, _, _ in graph.names(db, repo.key, limit=MAX_VALUES)]

    return await _in_repos(desk, values, read)


async def languages(desk: Desk, values: Values) -> Sequence[str]:
    from memrpc.workspace import overview

    return await _in_repos(desk, values, overview.languages)


async def paths(desk: Desk, values: Values) -> Sequence[str]:
    from memrpc.workspace import graph

    def read(db: apsw.Connection, repo: Repo) -> list[str]:
        named = graph.names(db, repo.key, limit=MAX_VALUES)
        return [name for name, kind, _ in named if kind == "path"]

    return await _in_repos(desk, values, read)


async def agents(desk: Desk, values: Values) -> Sequence[str]:
    from memrpc.workspace import overview

    return await _in_repos(desk, values, overview.agents)


async def _in_repos(
    desk: Desk, values: Values, read: Callable[[apsw.Connection, Repo], list[str]]
) -> Sequence[str]:
    """Of the only repository that is called as was filled in; of all where nothing was."""
    from urllib.parse import unquote

    from memrpc.workspace import scope

    named = unquote(values.get("name") or values.get("repo") or "")
    owner, name = scope.split(values.get("owner"), named)

    def work(db: apsw.Connection) -> list[str]:
        repos = scope.everything(db)
        chosen = [repo for repo in repos if name is None or _is(repo, owner, name)]
        is_ambiguous = name is not None and len(chosen) > 1
        return [] if is_ambiguous else [value for repo in chosen for value in read(db, repo)]

    return await desk.database.read(work)


def _is(repo: Repo, owner: str | None, name: str) -> bool:
    from memrpc.workspace.scope import fold

    return fold(repo.name) == fold(name) and (owner is None or fold(repo.owner) == fold(owner))
