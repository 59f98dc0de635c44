"""import: add what an export holds and this file does not; safe to repeat."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from memrpc.cli.terminal import progress, show, show_error, show_json
from memrpc.settings import Settings

if TYPE_CHECKING:
    import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="what export wrote; - for standard input")
    parser.add_argument("--skip-bad", action="store_true", help="go on after a bad line")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    """1 if bad lines were skipped."""
    from memrpc.app import new_id, now_us
    from memrpc.archive import importing
    from memrpc.cli.opening import opened
    from memrpc.store import transfer
    from memrpc.surface.shapes import to_json
    from memrpc.workspace import importing as workspace
    from memrpc.workspace.model import Act

    readers = (
        importing.READER,
        workspace.reader(Act("import", "command line", "", now_us(), new_id)),
    )
    with opened(settings, makes=True) as application:
        report = application.database.write_blocking(
            lambda db: transfer.import_lines(
                db, progress(_lines(parsed.file), None, "import"), readers, skip_bad=parsed.skip_bad
            )
        )
    summary = {
        "imported": report.imported,
        "known": report.known,
        "forgotten": report.forgotten,
        "bad": to_json(report.bad),
    }
    if parsed.json:
        show_json(summary)
    else:
        show(f"{report.imported} imported, {report.known} known, {report.forgotten} forgotten here")
        for bad in report.bad:
            show_error(f"line {bad.number}: {bad.message}")
    return 1 if report.bad else 0


def _lines(file: str) -> Iterator[str]:
    if file == "-":
        yield from _decoded(sys.stdin.buffer)
        return
    from pathlib import Path

    with Path(file).open("rb") as source:
        yield from _decoded(source)


def _decoded(lines: Iterable[bytes]) -> Iterator[str]:
    """A line that is not UTF-8 is a bad line, not the end of the import."""
    for line in lines:
        yield line.decode("utf-8", "surrogateescape")
