"""The command line: one module a verb, each a parser and a call; no logic of its own.

Exit codes: 0 ok, 1 a refusal or a finding, 2 usage, 3 the database cannot be used.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from keyword import iskeyword
from types import ModuleType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import argparse

VERBS: Final = (
    "serve",
    "doctor",
    "stats",
    "config",
    "schema",
    "persona",
    "jobs",
    "reindex",
    "export",
    "import",
    "backup",
    "audit",
    "redact",
    "prompt",
    "completion",
)


def run(arguments: Sequence[str]) -> int:
    """Parse and run one verb.  Returns the exit code."""
    from memrpc.store.errors import DomainError

    try:
        code = _run(arguments)
        sys.stdout.flush()
    except (DomainError, OSError, UnicodeError, KeyboardInterrupt) as error:
        return _told(error)
    return code


def _run(arguments: Sequence[str]) -> int:
    from memrpc.settings import load, split_flags

    verbs = parser()
    flags, rest = split_flags(arguments)
    parsed = verbs.parse_args(rest)
    if parsed.verb is None:
        verbs.print_help()
        return 0
    # From here on there is something to undo.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    code: int = _module(parsed.verb).run(load(flags), parsed)
    return code


def _told(error: BaseException) -> int:
    """Say in one line what stands in the way.  Returns the exit code."""
    from memrpc.cli.terminal import discard_output, show_error
    from memrpc.store.errors import DomainError, InvalidArguments

    match error:
        case InvalidArguments():
            show_error(error.message)
            return 2
        case DomainError():
            show_error(error.message)
            return _CODES.get(error.code, 1)
        case BrokenPipeError():
            discard_output()
        case OSError():
            place = "" if error.filename is None else f"{error.filename}: "
            show_error(f"{place}{error.strerror or error}")
        case UnicodeError():
            show_error("What was given is not text in UTF-8.")
            return 2
        case _:
            return INTERRUPTED
    return 1


def _module(verb: str) -> ModuleType:
    """A verb's module; a verb that is a word of Python's has an underscore there."""
    return import_module(f"memrpc.cli.{verb}{'_' if iskeyword(verb) else ''}")


INTERRUPTED: Final = 130
_EPILOG: Final = "Settings such as --db are flags of every verb: see memrpc --help."
_CODES: Final = {"unavailable": 3}


def parser(*, knows_settings: bool = False) -> argparse.ArgumentParser:
    """The verbs with their arguments; settings are told apart before, and only completed here."""
    import argparse

    root = argparse.ArgumentParser(
        prog="memrpc",
        description="Long-term memory for AI agents, served over stdio to any MCP host.",
        epilog=_settings_help(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument("--version", action="version", version=_version())
    verbs = root.add_subparsers(dest="verb", metavar="VERB")
    for verb in VERBS:
        module = _module(verb)
        summary = str(module.__doc__).splitlines()[0].partition(": ")[2].rstrip(".")
        verbs.add_parser(verb, help=summary, description=summary, epilog=_EPILOG)
        module.arguments(verbs.choices[verb])
        if knows_settings:
            _add_settings(verbs.choices[verb])
    return root


def _add_settings(verb: argparse.ArgumentParser) -> None:
    from memrpc.options import OPTIONS

    for option in OPTIONS:
        verb.add_argument(option.flag, choices=option.choices or None, help=option.help)


def _version() -> str:
    from memrpc import __version__

    return f"memrpc {__version__}"


def _settings_help() -> str:
    from memrpc.options import OPTIONS

    flags = max(len(o.flag) for o in OPTIONS)
    variables = max(len(o.variable) for o in OPTIONS)
    lines = [f"  {o.flag:{flags}} {o.variable:{variables}} {o.help}" for o in OPTIONS]
    title = "settings, as flags of every verb or as variables; `memrpc config` shows their values:"
    return "\n".join([title, *lines])
