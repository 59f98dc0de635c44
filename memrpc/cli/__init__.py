"""The command line: one module a verb, each a parser and a call; no logic of its own.

Exit codes: 0 ok, 1 a refusal or a finding, 2 usage, 3 the database cannot be used.
"""

from __future__ import annotations

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
    from memrpc.cli.terminal import discard_output, show_error
    from memrpc.settings import load, split_flags
    from memrpc.store.errors import DomainError, InvalidArguments

    verbs = parser()
    try:
        flags, rest = split_flags(arguments)
        parsed = verbs.parse_args(rest)
        if parsed.verb is None:
            verbs.print_help()
            return 0
        code: int = _module(parsed.verb).run(load(flags), parsed)
        sys.stdout.flush()
    except DomainError as error:
        show_error(error.message)
        return 2 if isinstance(error, InvalidArguments) else _CODES.get(error.code, 1)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        discard_output()
        return 1
    except OSError as error:
        place = "" if error.filename is None else f"{error.filename}: "
        show_error(f"{place}{error.strerror or error}")
        return 1
    return code


def _module(verb: str) -> ModuleType:
    """A verb's module; a verb that is a word of Python's has an underscore there."""
    return import_module(f"memrpc.cli.{verb}{'_' if iskeyword(verb) else ''}")


INTERRUPTED: Final = 130
_EPILOG: Final = "Settings such as --db are flags of every verb: see memrpc --help."
_CODES: Final = {"unavailable": 3}


def parser() -> argparse.ArgumentParser:
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
    return root


def _version() -> str:
    from memrpc import __version__

    return f"memrpc {__version__}"


def _settings_help() -> str:
    from memrpc.settings import OPTIONS

    flags = max(len(o.flag) for o in OPTIONS)
    variables = max(len(o.variable) for o in OPTIONS)
    lines = [f"  {o.flag:{flags}} {o.variable:{variables}} {o.help}" for o in OPTIONS]
    return "\n".join(["settings, as flags of every verb or as variables:", *lines])
