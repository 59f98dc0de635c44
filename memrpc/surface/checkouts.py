"""Checkouts: which repository a folder belongs to, read from git's own files.

A folder inside a checkout belongs to the owner and name of its ``origin``; without one, and without
git, its own name and its parent's speak for it.  The root of the file system and a user's home are
no project.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

MAX_CONFIG_BYTES: Final = 1 << 20
NO_OWNER: Final = "local"
_SECTION: Final = re.compile(r'^\s*\[\s*(?P<name>[\w.-]+)(?:\s+"(?P<sub>[^"]*)")?\s*\]')
_URL: Final = re.compile(r"^\s*url\s*=\s*(?P<url>.+?)\s*$", re.IGNORECASE)
_SCP: Final = re.compile(r"^(?:[^/@:]+@)?[^/:]+:(?!//)(?P<path>.+)$")


class Checkout(NamedTuple):
    """An owner and a repository, and whether git said so."""

    owner: str
    name: str
    is_git: bool


def checkout_of(folder: Path, home: Path | None) -> Checkout | None:
    """Return what the folder belongs to; None where its name says nothing."""
    top = _top(folder)
    if top is not None:
        origin = _origin(top)
        named = None if origin is None else parse_url(origin)
        if named is not None:
            return Checkout(*named, is_git=True)
    place = top or folder
    if place == Path(place.anchor) or place == home:
        return None
    return Checkout(place.parent.name or NO_OWNER, place.name, is_git=False)


def folder_of(uri: str) -> Path | None:
    """Return the folder that a file URI names; None for any other URI."""
    try:
        parts = urlsplit(uri)
    except ValueError:
        return None
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        return None
    path = unquote(parts.path)
    if re.match(r"^/[A-Za-z]:", path):
        path = path[1:]
    return Path(path)


def parse_url(url: str) -> tuple[str, str] | None:
    """Return owner and name from a remote's URL: ssh, scp-like, https, git, or a path."""
    scp = _SCP.match(url) if "://" not in url else None
    try:
        path = scp["path"] if scp else unquote(urlsplit(url).path)
    except ValueError:  # Brackets that hold no address.
        return None
    parts = [part for part in path.replace("\\", "/").split("/") if part]
    if not parts:
        return None
    name = parts[-1].removesuffix(".git")
    owner = parts[-2] if len(parts) > 1 else NO_OWNER
    return (owner, name) if name else None


def _top(folder: Path) -> Path | None:
    """Return the nearest folder upwards that holds a ``.git``."""
    for place in (folder, *folder.parents):
        if os.path.exists(place / ".git"):  # noqa: PTH110 -- False for what can be no path, too
            return place
    return None


def _origin(top: Path) -> str | None:
    """Return the URL of the remote ``origin``, or of the first remote."""
    text = _read(_git_folder(top) / "config")
    remotes: dict[str, str] = {}
    remote: str | None = None
    for line in text.splitlines():
        section = _SECTION.match(line)
        if section:
            remote = section["sub"] if section["name"].casefold() == "remote" else None
        url = _URL.match(line)
        if url and remote is not None:
            remotes.setdefault(remote, url["url"].strip('"'))
    return remotes.get("origin") or next(iter(remotes.values()), None)


def _git_folder(top: Path) -> Path:
    """Return the folder of the repository that a checkout or a worktree shares."""
    git = top / ".git"
    if git.is_dir():
        return git
    own = (top / _read(git).strip().removeprefix("gitdir:").strip()).resolve()
    common = _read(own / "commondir").strip()
    return (own / common).resolve() if common else own


def _read(path: Path) -> str:
    """Return a small text file's content; empty when it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_CONFIG_BYTES).decode(errors="replace")
    except OSError:
        return ""
