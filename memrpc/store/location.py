"""Where the database lies: a path as people write it, or the system's place for user data.

The environment is passed in; nothing here reads it.  Nothing is created either: that is the
first use's business.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from memrpc.store.errors import Unusable

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE_NAME: Final = "memory.db"
_FOLDER_NAME: Final = "memrpc"
_VARIABLE: Final = re.compile(r"\$(?:\{(\w+)\}|(\w+))")


def resolve(written: str, *, base: Path | None, environment: Mapping[str, str]) -> Path:
    """Return the absolute path that ``written`` means.

    ``~`` is the user's home, ``$NAME`` and ``${NAME}`` are variables, and a relative path starts
    at ``base``, unless there is none.  Raises Unusable if it names a variable, a home or a base
    that is not there, or what SQLite would take for something else than a file.
    """
    expanded = _VARIABLE.sub(lambda match: _value(match[1] or match[2], environment), written)
    if expanded == "~" or expanded.startswith(("~/", "~\\")):
        return home(environment) / expanded[2:]
    if not expanded.strip():
        raise Unusable("The path of the database is empty; name a file.")
    if expanded == ":memory:" or expanded.startswith("file:") or "\0" in expanded:
        raise Unusable(f"{expanded!r} is no path; the database is a file, so name one.")
    if base is None and not Path(expanded).is_absolute():
        raise Unusable(f"The folder where {expanded} would start is gone; name a whole path.")
    return (base or Path()) / expanded


def default(environment: Mapping[str, str], *, system: str) -> Path:
    """Return the place for a user's data on ``system`` (as ``sys.platform`` says it).

    Raises Unusable if the environment does not tell.
    """
    if system == "win32" and environment.get("LOCALAPPDATA"):
        return Path(environment["LOCALAPPDATA"]) / _FOLDER_NAME / FILE_NAME
    if system == "darwin":
        return home(environment) / "Library" / "Application Support" / _FOLDER_NAME / FILE_NAME
    # XDG Base Directory Specification 0.8: a relative value is invalid and must be ignored.
    data = Path(environment.get("XDG_DATA_HOME", ""))
    if not data.is_absolute():
        data = home(environment) / ".local" / "share"
    return data / _FOLDER_NAME / FILE_NAME


def home(environment: Mapping[str, str]) -> Path:
    """Return the user's home.

    Raises Unusable if it is unset, missing or the root: nothing is ever written there.
    """
    written = environment.get("HOME") or environment.get("USERPROFILE") or ""
    if written and _is_home(written):
        return Path(written)
    problem = f"is {written}, which cannot be one" if written else "is not set"
    raise Unusable(
        f"The home folder {problem}; name the database's file with --db or MEMRPC_DB.",
        path=written,
    )


def _is_home(written: str) -> bool:
    try:
        found = Path(written).resolve()
        return found.is_dir() and found != found.parent
    except (OSError, RuntimeError):  # It lies where this user may not look, or in a loop of links.
        return False


def _value(name: str, environment: Mapping[str, str]) -> str:
    if name not in environment:
        raise Unusable(f"The database's path names ${name}, which is not set; name a whole path.")
    return environment[name]
