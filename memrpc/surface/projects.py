"""Projects: which owner and repository a call is about, and what said so.

A handshake session takes the first of: the arguments, what ``agent-context`` set for the session,
the client's roots, ``CLAUDE_PROJECT_DIR``, the git origin of the folder that the server was
started in, that folder's name.  2026-07-28 has no sessions and asking costs a round trip, so there
it is the arguments, ``CLAUDE_PROJECT_DIR``, git, the folder.  Where several answers are equally
good none is guessed: the refusal lists them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from memrpc.protocol.asks import list_roots
from memrpc.server.faults import MissingCapabilityError, RefusedError
from memrpc.store.errors import InvalidArguments
from memrpc.surface.checkouts import checkout_of, folder_of
from memrpc.workspace import scope

if TYPE_CHECKING:
    from memrpc.protocol.calls import Handshake
    from memrpc.server.context import Context
    from memrpc.store.database import Database
    from memrpc.surface.checkouts import Checkout
    from memrpc.surface.desk import Desk
    from memrpc.wire.messages import JSON

_ASK: Final = "roots"


class Origin(StrEnum):
    """What named the project."""

    ARGUMENT = "argument"
    SESSION = "session"
    ROOTS = "roots"
    PROJECT_DIR = "project_dir"
    GIT = "git"
    DIRECTORY = "directory"


class Project(NamedTuple):
    """An owner and a repository, and what named them."""

    owner: str
    name: str
    resolved_by: Origin


@dataclass(slots=True, eq=False)
class Places:
    """Where the server stands: its folder, the host's project folder, the user's home.

    ``chosen`` is what the current handshake session set, with the handshake that it belongs to.
    """

    folder: Path
    project_folder: Path | None = None
    home: Path | None = None
    chosen: tuple[Handshake, Project] | None = None
    _known: dict[Path, Checkout | None] = field(default_factory=dict)

    def checkout(self, folder: Path) -> Checkout | None:
        """Return what a folder belongs to; read once, since a server's folder keeps its origin."""
        if folder not in self._known:
            self._known[folder] = checkout_of(folder, self.home)
        return self._known[folder]


async def resolve(ctx: Context, desk: Desk, arguments: dict[str, JSON]) -> Project:
    """Return the project of a call.

    Raises InvalidArguments where none or several are possible, and for names that nothing can have.
    """
    owner, name = scope.split(arguments.get("owner"), arguments.get("repo"))
    if owner is not None and name is not None:
        project = Project(owner, name, Origin.ARGUMENT)
    elif name is not None:
        owner = await _owner_of(ctx, desk.places, desk.database, name)
        project = Project(owner, name, Origin.ARGUMENT)
    else:
        project = await _unnamed(ctx, desk, owner, arguments)
    scope.check(project.owner, project.name)
    return project


async def _unnamed(
    ctx: Context, desk: Desk, owner: str | None, arguments: dict[str, JSON]
) -> Project:
    default = await _default(ctx, desk.places, arguments)
    if default is None:
        desk.open_database()  # Where it cannot be told, that has to be mended first.
        raise InvalidArguments(
            "owner and repo are not given and the server's folder is no project; send repo as "
            "owner/name.",
            field="repo",
        )
    return default if owner is None else Project(owner, default.name, Origin.ARGUMENT)


async def inside(ctx: Context, places: Places, path: str, field: str) -> str:
    """Return a path as entries' folders are written: from the folder that the project stands in.

    Raises InvalidArguments for one outside of the client's roots.
    """
    if not Path(path).is_absolute():
        return path
    rooted = await _session_folders(ctx)
    own = [
        each for each in (places.project_folder, places.folder) if each and places.checkout(each)
    ]
    for folder in rooted or own:
        if Path(path).is_relative_to(folder):
            return Path(path).relative_to(folder).as_posix()
    if rooted:
        named = ", ".join(map(str, rooted))
        raise InvalidArguments(
            f"{field} must stay within the client's roots: {named}; send a path inside, or a "
            "relative one.",
            field=field,
        )
    return path


def choose(ctx: Context, places: Places, project: Project) -> None:
    """Let the later calls of this handshake session mean this project."""
    handshake = ctx.call.handshake
    if handshake is not None:
        places.chosen = (handshake, project._replace(resolved_by=Origin.SESSION))


async def _owner_of(ctx: Context, places: Places, database: Database, name: str) -> str:
    """Return the owner that a bare name means: the default project's, or the only known one's."""
    default = await at_hand(ctx, places)
    if default is not None and scope.fold(default.name) == scope.fold(name):
        return default.owner
    owners = await _owners_in_roots(ctx, places, name)
    if not owners:
        known = await database.read(lambda db: scope.by_name(db, name))
        owners = [repo.owner for repo in known]
    if len(owners) == 1:
        return owners[0]
    if default is not None and (not owners or _holds(owners, default.owner)):
        return default.owner
    named = ", ".join(f"{owner}/{name}" for owner in owners)
    raise InvalidArguments(
        f"repo {name} belongs to several owners: {named}; send one of these."
        if owners
        else f"repo {name} is new and nothing says who owns it; send it as owner/{name}.",
        field="owner",
        candidates=[f"{owner}/{name}" for owner in owners],
    )


async def _owners_in_roots(ctx: Context, places: Places, name: str) -> list[str]:
    """Return who owns the client's folders of this name."""
    found = [
        each
        for each in _checkouts(places, await _session_folders(ctx))
        if scope.fold(each.name) == scope.fold(name)
    ]
    return list(dict.fromkeys(each.owner for each in found))


def _holds(owners: list[str], owner: str) -> bool:
    return scope.fold(owner) in {scope.fold(each) for each in owners}


async def at_hand(ctx: Context, places: Places) -> Project | None:
    """Return the project of a call that names none, if one is clearly meant."""
    try:
        return await _default(ctx, places, {})
    except InvalidArguments:
        return None


async def _default(ctx: Context, places: Places, arguments: dict[str, JSON]) -> Project | None:
    """Return the project of a call that names none."""
    handshake = ctx.call.handshake
    if handshake is not None:
        if places.chosen is not None and places.chosen[0] is handshake:
            return places.chosen[1]
        rooted = _of_roots(places, await roots(ctx), arguments.get("current_file_path"))
        if rooted is not None:
            return rooted
    return local(places)


def local(places: Places) -> Project | None:
    """Return the project that the server stands in, asking nobody."""
    if places.project_folder is not None:
        found = places.checkout(places.project_folder)
        if found is not None:
            return Project(found.owner, found.name, Origin.PROJECT_DIR)
    found = places.checkout(places.folder)
    if found is None:
        return None
    return Project(found.owner, found.name, Origin.GIT if found.is_git else Origin.DIRECTORY)


async def roots(ctx: Context) -> list[JSON]:
    """Return the client's roots, each once; none where it has none to tell."""
    handshake = ctx.call.handshake
    if handshake is not None and handshake.roots is not None:
        return list(handshake.roots)
    ask = list_roots()
    if not ctx.can_ask(ask):
        return []
    try:
        answer = await ctx.ask(_ASK, ask)
    except MissingCapabilityError:
        return []
    except RefusedError as error:
        if not error.refusal.retryable:
            return []
        answer = {}  # It did not answer in time; the calls after this one need not wait as well.
    listed = answer.get("roots")
    given = [root for root in listed if isinstance(root, dict)] if isinstance(listed, list) else []
    found = list({str(root.get("uri")): root for root in given}.values())
    if handshake is not None:
        handshake.roots = found
    return found


def _of_roots(places: Places, given: list[JSON], path: JSON) -> Project | None:
    """Return the project of the only root, or of the one that holds the file at hand."""
    folders = _folders(given)
    if path is not None and Path(str(path)).is_absolute():
        holding = [folder for folder in folders if Path(str(path)).is_relative_to(folder)]
        folders = holding or folders
    named = {(each.owner, each.name): each for each in _checkouts(places, folders)}
    if len(named) > 1:
        candidates = [f"{owner}/{name}" for owner, name in named]
        raise InvalidArguments(
            f"the client works in several projects: {', '.join(candidates)}; send repo as one of "
            "these.",
            field="repo",
            candidates=candidates,
        )
    return next((Project(owner, name, Origin.ROOTS) for owner, name in named), None)


async def _session_folders(ctx: Context) -> list[Path]:
    """Return the folders that a session's client works in; without a session nobody is asked."""
    return _folders(await roots(ctx)) if ctx.call.handshake is not None else []


def _folders(given: list[JSON]) -> list[Path]:
    """Return the roots that are folders of this machine."""
    return [folder for root in given if (folder := folder_of(str(root.get("uri")))) is not None]


def _checkouts(places: Places, folders: list[Path]) -> list[Checkout]:
    return [checkout for folder in folders if (checkout := places.checkout(folder)) is not None]
