"""Which indexed repository a call is about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from memrpc.codebase import repositories
from memrpc.surface import projects
from memrpc.surface.workspace.visit import Arguments, Visit

if TYPE_CHECKING:
    import apsw

    from memrpc.codebase.model import Repository
    from memrpc.server.context import Context
    from memrpc.surface.desk import Desk


async def begin(ctx: Context, desk: Desk, tool: str, arguments: Arguments) -> Visit:
    """The visit of a call: a folder tells its own project, a bare name the only indexed one."""
    meant = {**arguments, **await _told(desk, arguments)}
    project = await projects.resolve(ctx, desk.places, desk.database, meant)
    return Visit(ctx, desk, tool, arguments, project, desk.now_us())


async def _told(desk: Desk, arguments: Arguments) -> Arguments:
    repo = arguments.get("repo")
    if repo is None and "repoPath" in arguments:
        checkout = desk.places.checkout(_absolute(desk, arguments["repoPath"]))
        return {"owner": checkout.owner, "repo": checkout.name} if checkout else {}
    if repo is None or "/" in repo or "owner" in arguments:
        return {}
    found = await desk.database.read(lambda db: repositories.named(db, repo.strip()))
    return {"owner": found[0].owner} if len(found) == 1 else {}


def _absolute(desk: Desk, path: str) -> Path:
    return desk.places.folder / Path(path).expanduser()


def repository_of(db: apsw.Connection, visit: Visit) -> Repository:
    """The visit's repository.

    Raises NotFound where it is not indexed.
    """
    return repositories.indexed(db, visit.project.owner, visit.project.name)
