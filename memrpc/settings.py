"""Where settings come from: the only reader of the environment.

A value comes from the first of: command-line flag, environment variable, ``memrpc.toml`` of the
folder the program was started in, the user's ``config.toml``, the default.  Each value remembers
which.  A project's file may only set what cannot send data elsewhere or move the database: it is
part of a repository that somebody else may have written.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from memrpc.options import BY_NAME, OPTIONS, TRUTH, Option, read
from memrpc.store.errors import InvalidArguments
from memrpc.wire.messages import JSON

if TYPE_CHECKING:
    from pathlib import Path

PROJECT_FILE: Final = "memrpc.toml"
USER_FILE: Final = "config.toml"


class Setting(NamedTuple):
    """A value and where it came from."""

    value: JSON
    origin: str


@dataclass(frozen=True, slots=True)
class Settings:
    """Every option's value."""

    values: Mapping[str, Setting]

    def __getitem__(self, name: str) -> JSON:
        return self.values[name].value

    def secret(self, name: str) -> str:
        """The value of the environment variable that the setting ``name`` names, if any."""
        variable = self[name]
        return os.environ.get(variable, "") if variable else ""

    def database_path(self) -> Path:
        """The file, absolute.  A relative path starts at the folder the program was started in.

        Raises DomainError where the environment does not tell.
        """
        from memrpc.store import location

        written: str = self["db"]
        if not written:
            return location.default(os.environ, system=sys.platform)
        return location.resolve(written, base=_folder(), environment=os.environ)


def split_flags(arguments: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The options among the arguments, and the rest in its order.

    ``--name value`` and ``--name=value`` are the same; a flag of a truth value needs no value.
    Raises InvalidArguments for another that has none.
    """
    flags: dict[str, str] = {}
    rest: list[str] = []
    waiting = list(arguments)
    while waiting:
        word = waiting.pop(0)
        name, equals, value = word.removeprefix("--").partition("=")
        option = BY_NAME.get(name.replace("-", "_")) if word.startswith("--") else None
        if option is None:
            rest.append(word)
        elif equals:
            flags[option.name] = value
        elif option.kind is bool:
            is_told = waiting[:1] and waiting[0].isalpha() and waiting[0].lower() in TRUTH
            flags[option.name] = waiting.pop(0) if is_told else "true"
        elif not waiting or waiting[0].startswith("--"):
            raise InvalidArguments(f"{word} needs a value: {option.help}.", field=option.name)
        else:
            flags[option.name] = waiting.pop(0)
    return flags, rest


def load(flags: Mapping[str, str]) -> Settings:
    """Every option from its most specific source.

    Raises InvalidArguments, naming the source, for an unknown name or a value out of range.
    """
    sources = (
        ("flag", flags),
        ("environment", _environment()),
        (PROJECT_FILE, _file(PROJECT_FILE, _is_allowed_in_project)),
        (USER_FILE, _file(_user_file(), lambda _: True)),
    )
    return Settings({option.name: _setting(option, sources) for option in OPTIONS})


def _setting(option: Option, sources: tuple[tuple[str, Mapping[str, JSON]], ...]) -> Setting:
    for origin, values in sources:
        if option.name in values:
            return Setting(read(option, values[option.name], origin), origin)
    return Setting(option.default, "default")


def _environment() -> dict[str, JSON]:
    return {o.name: os.environ[o.variable] for o in OPTIONS if os.environ.get(o.variable)}


def _user_file() -> str | None:
    folder = os.environ.get("XDG_CONFIG_HOME") or os.environ.get("APPDATA")
    home = os.environ.get("HOME") or os.environ.get("USERPROFILE")
    if folder:
        return os.path.join(folder, "memrpc", USER_FILE)  # noqa: PTH118 -- pathlib costs start-up
    return os.path.join(home, ".config", "memrpc", USER_FILE) if home else None  # noqa: PTH118 -- the same


def _file(path: str | None, is_allowed: Callable[[Option], bool]) -> dict[str, JSON]:
    if path is None or not os.path.isfile(path):  # noqa: PTH113 -- pathlib costs start-up
        return {}
    import tomllib

    try:
        with open(path, "rb") as file:  # noqa: PTH123 -- pathlib costs start-up
            content = tomllib.load(file)
    except (OSError, ValueError) as error:
        raise InvalidArguments(f"{path} cannot be read: {error}", field=path) from error
    for name in content:
        _check_name(name, path, is_allowed)
    return content


def _check_name(name: str, path: str, is_allowed: Callable[[Option], bool]) -> None:
    option = BY_NAME.get(name)
    if option is None:
        import difflib

        near = difflib.get_close_matches(name, BY_NAME, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise InvalidArguments(f"{path}: there is no setting {name}{hint}", field=name)
    if not is_allowed(option):
        raise InvalidArguments(
            f"{path}: {name} cannot be set by a project; set {option.variable} or the user's "
            f"{USER_FILE}.",
            field=name,
        )


def _is_allowed_in_project(option: Option) -> bool:
    return option.in_project


def started_in() -> tuple[Path, Path | None, Path | None]:
    """The folder of the start, the project folder that the host names, and the user's home.

    A folder that has been deleted is no project, and neither is the root, which stands for it.
    """
    from pathlib import Path

    told, home = os.environ.get("CLAUDE_PROJECT_DIR"), os.environ.get("HOME")
    folder = _folder() or Path(os.sep)
    return folder, Path(told) if told else None, Path(home) if home else None


def _folder() -> Path | None:
    """The folder of the start; None once somebody has deleted it, as happens to worktrees."""
    from pathlib import Path

    try:
        return Path.cwd()
    except OSError:
        return None


def calm_numpy() -> None:
    """Keep numpy's linear algebra on one thread; must come before numpy is imported.

    A second one waits for a core that others use, and a scan takes a hundred times as long.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def unbind_git() -> None:
    """Let git look for a repository from the folder that it is given, also if a hook started us."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_PREFIX"):
        os.environ.pop(name, None)


def editor() -> list[str]:
    """The command of the user's editor.  Raises InvalidArguments for what is none."""
    import shlex

    written = os.environ.get("VISUAL") or os.environ.get("EDITOR") or EDITOR
    try:
        words = shlex.split(written)
    except ValueError as error:
        raise InvalidArguments(f"The editor {written!r} is no command: {error}.") from None
    return words or [EDITOR]


EDITOR: Final = "notepad" if sys.platform == "win32" else "vi"
