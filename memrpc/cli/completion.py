"""completion: print the completion script of a shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrpc.cli.terminal import show
from memrpc.settings import Settings

if TYPE_CHECKING:
    import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "tcsh"))


def run(_: Settings, parsed: argparse.Namespace) -> int:
    import shtab

    from memrpc.cli import parser

    show(shtab.complete(parser(knows_settings=True), shell=parsed.shell))
    return 0
