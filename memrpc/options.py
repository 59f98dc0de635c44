"""The one table of settings, and how the text of one is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from memrpc.store.errors import InvalidArguments
from memrpc.wire.messages import JSON

MAX_DIGITS: Final = 18
TRUTH: Final[Mapping[str, bool]] = MappingProxyType(
    {"1": True, "true": True, "yes": True, "on": True}
    | {"0": False, "false": False, "no": False, "off": False}
)


class Address(str):
    """The kind of a setting that is the base URL of an endpoint; empty for none."""

    __slots__ = ()


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
        kind=Address,
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
        kind=Address,
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
BY_NAME: Final[Mapping[str, Option]] = MappingProxyType({o.name: o for o in OPTIONS})


def read(option: Option, value: JSON, origin: str) -> JSON:
    """``value`` in the option's type, within its bounds.  An address may hold a password.

    Raises InvalidArguments.
    """
    known = _READERS[option.kind](value)
    is_open = not option.choices or known in option.choices
    if known is None or not is_open or not _fits(option, known):
        told = "" if option.kind is Address else f", not {value!r}"
        raise InvalidArguments(
            f"{option.name} ({origin}) must be {_wanted(option)}{told}", field=option.name
        )
    return known


def _fits(option: Option, value: JSON) -> bool:
    if option.minimum is None or option.maximum is None:
        return True
    return bool(option.minimum <= value <= option.maximum)


def _wanted(option: Option) -> str:
    if option.choices:
        return f"one of {', '.join(option.choices)}"
    if option.minimum is not None:
        return f"a whole number from {option.minimum} to {option.maximum}"
    return _WANTED[option.kind]


_WANTED: Final[Mapping[type, str]] = MappingProxyType(
    {
        str: "text",
        bool: "true or false",
        Address: "http://HOST:PORT/PATH or https://..., without a name and a password in it",
    }
)


def _truth(value: JSON) -> JSON:
    return value if isinstance(value, bool) else TRUTH.get(str(value).lower())


def _whole_number(value: JSON) -> JSON:
    text = str(value)
    return int(text) if text.isdecimal() and len(text) <= MAX_DIGITS else None


def _text(value: JSON) -> JSON:
    return value if isinstance(value, str) else None


def _address(value: JSON) -> JSON:
    """Look at what is set only: what that needs is not imported at each start."""
    if value == "":
        return value
    from memrpc.recall.endpoint import is_address

    return value if isinstance(value, str) and is_address(value) else None


_READERS: Final[Mapping[type, Callable[[JSON], JSON]]] = MappingProxyType(
    {str: _text, bool: _truth, int: _whole_number, Address: _address}
)
