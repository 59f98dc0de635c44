"""import: add what an export holds and this file does not; safe to repeat."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

from memrpc.cli.terminal import is_database, progress, show, show_error, show_json
from memrpc.settings import Settings
from memrpc.store.errors import DomainError, InvalidArguments

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
    from memrpc.cli.opening import let_others_write, opened
    from memrpc.store import portions
    from memrpc.surface.shapes import to_json
    from memrpc.workspace import importing as workspace
    from memrpc.workspace.model import Act

    readers = (
        importing.READER,
        workspace.reader(Act("import", "command line", "", now_us(), new_id)),
    )
    with (
        opened(settings, makes=True) as application,
        _source(parsed.file) as source,
        _counted(let_others_write) as pause,
    ):
        report = portions.import_all(
            application.database,
            lambda: progress(_lines(source), None, "import"),
            readers,
            skip_bad=parsed.skip_bad,
            pause=pause,
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


@contextmanager
def _counted(pause: Callable[[], object]) -> Iterator[Callable[[], object]]:
    """``pause``, which comes after each part; one that fails says so of those before it."""
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        pause()

    try:
        yield count
    except DomainError as error:
        if done:
            error.message = f"{error.message} What came in before stays; import again to go on."
        raise


@contextmanager
def _source(file: str) -> Iterator[BinaryIO]:
    """The file, or a copy without a name of what can be read only once."""
    import shutil
    from pathlib import Path
    from tempfile import TemporaryFile

    if file != "-" and is_database(Path(file)):
        raise InvalidArguments(
            f"{file} is a database and no export: use it as it is with --db, or take it in with "
            f"`memrpc export --db {file} | memrpc import -`.",
            field="file",
        )
    with sys.stdin.buffer if file == "-" else Path(file).open("rb") as source:
        if source.seekable():
            yield source
            return
        with TemporaryFile() as kept:
            shutil.copyfileobj(source, kept)
            yield kept


def _lines(source: BinaryIO) -> Iterator[str]:
    """All lines from the start; one that is not UTF-8 is a bad line, not the end of the import."""
    source.seek(0)
    for line in source:
        yield line.decode("utf-8", "surrogateescape")
