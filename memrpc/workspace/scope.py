"""Scopes: the owner and repository under which everything of the workspace is kept.

Names are compared without regard to case, width and surrounding spaces, and shown as they were
first written.  ``owner/name`` as a repository names both.
"""

from __future__ import annotations

import json
import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from memrpc.store import changes
from memrpc.store.errors import InvalidArguments, NotFound
from memrpc.workspace.model import Repo

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.model import Entry, Standard

MAX_NAME_CHARS: Final = 200
NEAR_LIMIT: Final = 5
LISTED: Final = "resources/list"
"""The topic of the list of resources, to which each new repository adds."""
_NEAR_MINIMUM_CHARS: Final = 3
_NEAR_RATIO: Final = 0.8
_LOGIN: Final = re.compile(r"^[^@:]*@[^:]*:")  # git@example.com:
_SEPARATORS: Final = re.compile(r"[\W_]+")

_FIND: Final = """
SELECT repo, owner, name FROM repos WHERE folded_name = :name AND folded_owner = :owner
"""
_BY_NAME: Final = "SELECT repo, owner, name FROM repos WHERE folded_name = :name ORDER BY repo"
_BY_KEY: Final = "SELECT repo, owner, name FROM repos WHERE repo = :repo"
_ALL: Final = "SELECT repo, owner, name FROM repos ORDER BY folded_owner, folded_name"
_ACTIVITY: Final = """
SELECT repo, owner, name, active_at FROM repos ORDER BY folded_owner, folded_name
"""
_ADD: Final = """
INSERT INTO repos (owner, name, folded_owner, folded_name, active_at)
VALUES (:owner, :name, :folded_owner, :folded_name, :now)
RETURNING repo
"""
_TOUCH: Final = "UPDATE repos SET active_at = :now WHERE repo = :repo"
_ENTER: Final = """
UPDATE repos SET active_at = :now WHERE folded_name = :name AND folded_owner = :owner
RETURNING repo, owner, name
"""


@lru_cache(maxsize=256)
def split(owner: str | None, repo: str | None) -> tuple[str | None, str | None]:
    """Return owner and name without surrounding spaces; the owner inside ``owner/name`` wins.

    A remote's address has them at its end.  Some models send the object ``{"owner": ..., "repo":
    ...}`` as the repository's text.
    """
    if (repo or "").lstrip().startswith("{"):
        owner, repo = _unpacked(owner, str(repo))
    owner = (owner or "").strip() or None
    path = [part.strip() for part in (repo or "").strip().strip("/").split("/")]
    name = path[-1].removesuffix(".git") or None
    inner = _LOGIN.sub("", path[-2]) if len(path) > 1 else ""
    return inner or owner, name


def _unpacked(owner: str | None, text: str) -> tuple[str | None, str]:
    try:
        members = json.loads(text)
    except (ValueError, RecursionError):
        return owner, text
    named = [members.get(name) for name in ("owner", "repo")]
    inner, repo = (name if isinstance(name, str) else None for name in named)
    return inner or owner, repo or text


@lru_cache(maxsize=256)
def check(owner: str, name: str) -> None:
    """Refuse names that cannot be kept."""
    for field, value in (("owner", owner), ("repo", name)):
        if not value.strip() or len(value) > MAX_NAME_CHARS or not value.isprintable():
            raise InvalidArguments(
                f"{field} must have 1 to {MAX_NAME_CHARS} visible characters.", field=field
            )


def find(db: apsw.Connection, owner: str, name: str) -> Repo:
    """Return the repository; its key is 0 when nothing was ever written to it."""
    row: Any = db.execute(_FIND, {"owner": fold(owner), "name": fold(name)}).get
    return Repo(0, owner, name) if row is None else Repo(*row)


def ensure(db: apsw.Connection, owner: str, name: str, *, now: int) -> Repo:
    """Return the repository, giving it a number if it is new."""
    found = find(db, owner, name)
    if found.key:
        return found
    check(owner, name)
    values = {
        "owner": owner,
        "name": name,
        "folded_owner": fold(owner),
        "folded_name": fold(name),
        "now": now,
    }
    changes.note(db, LISTED, now=now)
    return Repo(db.execute(_ADD, values).get, owner, name)


def enter(db: apsw.Connection, owner: str, name: str, *, now: int) -> Repo:
    """Return the repository for whoever is going to write to it."""
    values = {"owner": fold(owner), "name": fold(name), "now": now}
    row: Any = db.execute(_ENTER, values).get
    return ensure(db, owner, name, now=now) if row is None else Repo(*row)


def touch(db: apsw.Connection, repo: Repo, *, now: int) -> None:
    """Note that something was written."""
    db.execute(_TOUCH, {"repo": repo.key, "now": now}).fetchall()


def by_name(db: apsw.Connection, name: str) -> list[Repo]:
    """List the repositories of this name, whoever owns them."""
    rows: list[Any] = db.execute(_BY_NAME, {"name": fold(name)}).fetchall()
    return [Repo(*row) for row in rows]


def by_key(db: apsw.Connection, key: int) -> Repo:
    """Return the repository that has this number."""
    return Repo(*db.execute(_BY_KEY, {"repo": key}).get)


def everything(db: apsw.Connection) -> list[Repo]:
    """List every repository by owner and name."""
    rows: list[Any] = db.execute(_ALL).fetchall()
    return [Repo(*row) for row in rows]


def activity(db: apsw.Connection) -> list[tuple[Repo, int]]:
    """List every repository by owner and name, with the instant of its latest write."""
    rows: list[Any] = db.execute(_ACTIVITY).fetchall()
    return [(Repo(*row), active_at) for *row, active_at in rows]


def near(db: apsw.Connection, repo: Repo) -> list[str]:
    """List up to five repositories whose names look like this one's, as ``owner/name``."""
    others = [each for each in everything(db) if each.key != repo.key]
    wanted = _squeezed(repo.name)
    same = [each for each in others if _squeezed(each.name) == wanted]
    alike = [each for each in others if each not in same and _is_near(wanted, _squeezed(each.name))]
    return [full_name(each) for each in (*same, *alike)][:NEAR_LIMIT]


def check_named(db: apsw.Connection, repo: Repo, found: Entry | Standard, handle: str) -> None:
    """Refuse to delete by its code what another repository shares: the code is meant as one's own.

    Raises NotFound.
    """
    if found.repo != repo.key and handle.strip() != found.id:
        home = full_name(by_key(db, found.repo))
        raise NotFound(
            f"{found.code} is none of {full_name(repo)}; {home} shares it with all. To delete it "
            f"there, send its id {found.id}.",
            id=found.id,
            repo=home,
        )


def full_name(repo: Repo) -> str:
    """Return ``owner/name``."""
    return f"{repo.owner}/{repo.name}"


@lru_cache(maxsize=256)
def fold(text: str) -> str:
    """Return ``text`` as names are compared."""
    return unicodedata.normalize("NFKC", text).strip().casefold()


def _squeezed(text: str) -> str:
    return _SEPARATORS.sub("", fold(text))


def _is_near(wanted: str, other: str) -> bool:
    """Say whether one name contains the other or is written nearly like it.

    A short one is contained in too many.
    """
    shorter, longer = sorted((wanted, other), key=len)
    if len(shorter) < _NEAR_MINIMUM_CHARS:
        return False
    from difflib import SequenceMatcher

    return shorter in longer or SequenceMatcher(None, shorter, longer).ratio() >= _NEAR_RATIO
