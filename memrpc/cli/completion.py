"""completion: print the completion script of a shell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from memrpc.cli.terminal import show
from memrpc.settings import Settings

if TYPE_CHECKING:
    import argparse

SHELLS: Final = ("bash", "zsh", "fish", "tcsh")
_FILES: Final = frozenset({"file", "db"})
"""The arguments that name a file."""


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS)


def run(_: Settings, parsed: argparse.Namespace) -> int:
    import shtab

    from memrpc.cli import parser

    verbs = parser(knows_settings=True)
    _mark_files(verbs)
    show(shtab.complete(verbs, shell=parsed.shell))
    return 0


def _mark_files(parser: argparse.ArgumentParser) -> None:
    """Let the shell go on completing the names of files: with a script, it does not by itself."""
    import shtab

    for action in parser._actions:  # noqa: SLF001 -- argparse lists its arguments nowhere else
        if action.dest in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # what shtab looks for
        elif isinstance(action.choices, Mapping):
            for verb in action.choices.values():
                _mark_files(verb)
