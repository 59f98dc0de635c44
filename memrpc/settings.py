"""The one table of settings, and the only reader of the environment.

A value comes from the first of: command-line flag, environment variable, ``memrpc.toml`` of the
folder the program was started in, the user's ``config.toml``, the default.  Each value remembers
which.  A project's file may only set what cannot send data elsewhere or move the database: it is
part of a repository that somebody else may have written.

The file is longer than others because the table is one table.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from memrpc.store.errors import InvalidArguments
from memrpc.wire.messages import JSON

if TYPE_CHECKING:
    from pathlib import Path

PROJECT_FILE: Final = "memrpc.toml"
USER_FILE: Final = "config.toml"
MAX_DIGITS: Final = 18
_TRUTH: Final[Mapping[str, bool]] = MappingProxyType(
    {"1": True, "true": True, "yes": True, "on": True}
    | {"0": False, "false": False, "no": False, "off": False}
)


class Option(NamedTuple):
    """One setting.  ``choices`` closes the set, ``kind`` reads the text of a flag or variable."""

    name: str
    default: JSON
    help: str
    kind: type = str
    choices: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    in_project: bool = False

    @property
    def variable(self) -> str:
        return f"MEMRPC_{self.name.upper()}"

    @property
    def flag(self) -> str:
        return f"--{self.name.replace('_', '-')}"


OPTIONS: Final = (
    Option("db", "", "the database's file; empty means the system's place for a user's data"),
    Option(
        "toolset",
        "all",
        "which tools are listed: core (the archive), work (the workspace), all",
        choices=("core", "work", "all"),
        in_project=True,
    ),
    Option(
        "project",
        "default",
        "the project_id of a call that names none: default, repo (its owner/name), or a name",
        in_project=True,
    ),
    Option(
        "extractor",
        "verbatim",
        "what makes memories out of events: verbatim (the statements as they are), llm (a model at "
        "extractor_url), client (the client's model, where it lends one), or none",
        choices=("verbatim", "llm", "client", "none"),
    ),
    Option(
        "extractor_url",
        "",
        "the base URL of an OpenAI-compatible endpoint with a chat model, for the extractor llm",
    ),
    Option("extractor_model", "", "the chat model to ask for at extractor_url"),
    Option(
        "extractor_key_variable",
        "",
        "the environment variable that holds the key for extractor_url; empty sends none",
    ),
    Option(
        "extractor_timeout_s",
        30,
        "how long extractor_url may take to answer, in seconds",
        kind=int,
        minimum=1,
        maximum=600,
    ),
    Option(
        "embedder",
        "builtin:use3",
        "what finds texts by their meaning: builtin:use3 (16 languages), builtin:minilm (English "
        "and code, needs memrpc[code]), openai:URL#MODEL (an endpoint beside builtin:use3), none",
    ),
    Option(
        "embedder_url",
        "",
        "the base URL of an OpenAI-compatible endpoint that embeds for semantic and deep recalls, "
        "such as http://127.0.0.1:11434/v1",
    ),
    Option("embedder_model", "", "the embedding model to ask for at embedder_url"),
    Option(
        "embedder_key_variable",
        "",
        "the environment variable that holds the key for embedder_url; empty sends none",
    ),
    Option("embedder_query_prefix", "", "what embedder_model wants before a question"),
    Option("embedder_document_prefix", "", "what embedder_model wants before a text"),
    Option(
        "embedder_timeout_s",
        30,
        "how long embedder_url may take to answer, in seconds",
        kind=int,
        minimum=1,
        maximum=600,
    ),
    Option(
        "recent_vectors",
        100_000,
        "how many of a scope's newest vectors fast and semantic recalls compare; deep takes all",
        kind=int,
        minimum=1,
        maximum=10_000_000,
    ),
    Option(
        "durable",
        default=False,
        help="wait for the disk at each commit (synchronous=FULL): survives a power loss too",
        kind=bool,
    ),
    Option(
        "answer_chars",
        8_000,
        "the longest memory_recall answer, in characters of compact JSON",
        kind=int,
        minimum=1_000,
        maximum=500_000,
    ),
    Option(
        "claim_minutes",
        30,
        "how long a claim of a task lasts unless it is renewed",
        kind=int,
        minimum=1,
        maximum=1_440,
    ),
    Option(
        "action_log_days",
        30,
        "how long the workspace's log of changes is kept",
        kind=int,
        minimum=1,
        maximum=3_650,
    ),
    Option(
        "code_index",
        "asked",
        "when code is indexed: asked, start (also the server's folder at start), or watch (also "
        "whenever the files of an indexed folder change)",
        choices=("asked", "start", "watch"),
    ),
    Option(
        "index_workers",
        2,
        "how many processes parse code during an index run",
        kind=int,
        minimum=1,
        maximum=16,
    ),
    Option(
        "log_level",
        "warning",
        "the least severe record on stderr; debug has each message, without what it says",
        choices=("debug", "info", "warning", "error"),
        in_project=True,
    ),
)
_BY_NAME: Final[Mapping[str, Option]] = MappingProxyType({o.name: o for o in OPTIONS})


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
        option = _BY_NAME.get(name.replace("-", "_")) if word.startswith("--") else None
        if option is None:
            rest.append(word)
        elif equals:
            flags[option.name] = value
        elif option.kind is bool:
            is_told = waiting[:1] and waiting[0].isalpha() and waiting[0].lower() in _TRUTH
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
            return Setting(_read(option, values[option.name], origin), origin)
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
    option = _BY_NAME.get(name)
    if option is None:
        import difflib

        near = difflib.get_close_matches(name, _BY_NAME, 1)
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


def _read(option: Option, value: JSON, origin: str) -> JSON:
    """``value`` in the option's type, within its bounds."""
    read = _READERS[option.kind](value)
    if read is None or (option.choices and read not in option.choices) or not _fits(option, read):
        raise InvalidArguments(
            f"{option.name} ({origin}) must be {_wanted(option)}, not {value!r}", field=option.name
        )
    return read


def _fits(option: Option, value: JSON) -> bool:
    if option.minimum is None or option.maximum is None:
        return True
    return bool(option.minimum <= value <= option.maximum)


def _wanted(option: Option) -> str:
    if option.choices:
        return f"one of {', '.join(option.choices)}"
    if option.minimum is not None:
        return f"a whole number from {option.minimum} to {option.maximum}"
    return "true or false" if option.kind is bool else "text"


def _truth(value: JSON) -> JSON:
    return value if isinstance(value, bool) else _TRUTH.get(str(value).lower())


def _whole_number(value: JSON) -> JSON:
    text = str(value)
    return int(text) if text.isdecimal() and len(text) <= MAX_DIGITS else None


_READERS: Final[Mapping[type, Callable[[JSON], JSON]]] = MappingProxyType(
    {str: lambda value: value if isinstance(value, str) else None, bool: _truth, int: _whole_number}
)


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
    """The command of the user's editor."""
    import shlex

    written = os.environ.get("VISUAL") or os.environ.get("EDITOR") or EDITOR
    return shlex.split(written)


EDITOR: Final = "notepad" if sys.platform == "win32" else "vi"
