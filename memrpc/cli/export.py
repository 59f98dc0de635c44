"""export: write the archive as JSON Lines, ids, provenance and windows as they are."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from memrpc.cli.terminal import progress
from memrpc.settings import Settings

if TYPE_CHECKING:
    import argparse

    from memrpc.archive.model import Scope


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default="-", help="where to; default: standard output")
    parser.add_argument("--since", help="only what was recorded since (ISO 8601 with a zone)")
    parser.add_argument("--scope", metavar="PERSONA/PROJECT", help="only this scope")


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    from memrpc.app import opened
    from memrpc.archive import exporting, times
    from memrpc.archive.statistics import count

    since = times.parse(parsed.since, "since") if parsed.since else None
    scope = _scope(parsed.scope) if parsed.scope else None
    with opened(settings) as application:
        total = application.database.read_blocking(count).events
        application.database.read_blocking(
            lambda db: _write(
                parsed.file,
                progress(exporting.export_lines(db, since=since, scope=scope), total, "export"),
            )
        )
    return 0


def _scope(text: str) -> Scope:
    from memrpc.archive.model import Scope

    persona_id, _, project_id = text.partition("/")
    return Scope(persona_id, project_id or "default")


def _write(file: str, lines: Iterable[str]) -> None:
    if file == "-":
        sys.stdout.writelines(f"{line}\n" for line in lines)
        return
    import os
    from pathlib import Path

    # Only its owner may read it, from the first byte on.
    path = Path(file)
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as output:
        output.writelines(f"{line}\n" for line in lines)
