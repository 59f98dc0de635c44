"""Which indexed repository a call is about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memrpc.codebase import repositories
from memrpc.store.errors import InvalidArguments
from memrpc.surface import projects
from memrpc.surface.projects import Origin
from memrpc.surface.workspace.visit import Arguments, Visit
from memrpc.workspace.scope import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from memrpc.codebase.model import Repository
    from memrpc.server.context import Context
    from memrpc.surface.desk import Desk
    from memrpc.surface.projects import Project
    from memrpc.wire.messages import JSON


async def begin(ctx: Context, desk: Desk, tool: str, arguments: Arguments) -> Visit:
    """The visit of a call: a folder tells its own project, a bare name the only indexed one.

    Raises InvalidArguments for a bare name of several.
    """
    meant = {**arguments, **await _told(ctx, desk, arguments)}
    project = await projects.resolve(ctx, desk, meant)
    if _is_bare(meant):
        _check_owner(project, await _owners(desk, project.name))
    return Visit(ctx, desk, tool, arguments, project, desk.now_us())


async def _told(ctx: Context, desk: Desk, arguments: Arguments) -> Arguments:
    """The owner and the name, as far as a folder or the index tells them."""
    repo, path = arguments.get("repo"), arguments.get("repoPath")
    checkout = desk.places.checkout(_absolute(desk, path)) if path is not None else None
    if repo is None and checkout is not None:
        return {"owner": checkout.owner, "repo": checkout.name}
    if repo is None:
        return await _told_by_repos(ctx, desk, arguments)
    if not _is_bare(arguments):
        return {}
    if checkout is not None and checkout.is_git and fold(checkout.name) == fold(repo):
        return {"owner": checkout.owner}
    here = await projects.at_hand(ctx, desk.places)
    if here is not None and fold(here.name) == fold(repo) and here.resolved_by != Origin.DIRECTORY:
        return {"owner": here.owner}
    owners = await _owners(desk, repo)
    return {"owner": owners[0]} if len(owners) == 1 else {}


async def _told_by_repos(ctx: Context, desk: Desk, arguments: Arguments) -> Arguments:
    """The first of several that are named, where the server stands in no project."""
    repos = arguments.get("repos")
    if not repos or await projects.at_hand(ctx, desk.places) is not None:
        return {}
    first = {"repo": repos[0]}
    return {**first, **await _told(ctx, desk, first)}


def _is_bare(arguments: Arguments) -> bool:
    """Whether a name stands there without its owner."""
    repo = arguments.get("repo")
    return repo is not None and "/" not in repo and "owner" not in arguments


async def _owners(desk: Desk, name: str) -> list[str]:
    """Whose repositories of that name are indexed."""
    found = await desk.database.read(lambda db: repositories.named(db, name.strip()))
    return [each.owner for each in found]


def _check_owner(project: Project, owners: Sequence[str]) -> None:
    if owners and fold(project.owner) not in map(fold, owners):
        candidates: list[JSON] = [f"{each}/{project.name}" for each in owners]
        raise InvalidArguments(
            f"repo {project.name} belongs to several owners: {', '.join(map(str, candidates))}; "
            "send one of these.",
            field="owner",
            candidates=candidates,
        )


def _absolute(desk: Desk, path: str) -> Path:
    try:
        return desk.places.folder / Path(path).expanduser()
    except RuntimeError:  # There is no such user; whoever looks for the folder says so.
        return desk.places.folder / path


def repository_of(db: apsw.Connection, visit: Visit) -> Repository:
    """The visit's repository.

    Raises NotFound where it is not indexed.
    """
    return repositories.indexed(db, visit.project.owner, visit.project.name)
