"""Portions: an import of many lines that lets others write meanwhile, and is all or nothing.

A transaction as long as the import would keep every writer waiting until it gave up.  So what does
not fit one portion is first imported into a copy that nobody sees, where a bad line ends it, and
then portion by portion with a pause after each.  A line that was good in the copy can still be
refused when somebody has taken its id since: it is named and passed over.
"""

from __future__ import annotations

from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

import apsw

from memrpc.store import transfer
from memrpc.store.failures import Translated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from memrpc.store.database import Database
    from memrpc.store.transfer import Reader, Report

_PAGES_A_STEP: Final = 1_000
_COPY: Final = Path("a copy in the temporary folder")


def import_all(
    database: Database,
    read: Callable[[], Iterable[str]],
    readers: Sequence[Reader],
    *,
    skip_bad: bool,
    pause: Callable[[], object],
) -> Report:
    """Import what ``read`` yields, each time it is called.

    Raises InvalidArguments at the first bad line unless ``skip_bad``; then nothing is imported.
    """
    if len(list(islice(transfer.portions(read()), 2))) == 1:
        return database.write_blocking(
            lambda db: transfer.import_lines(db, read(), readers, skip_bad=skip_bad)
        )
    if not skip_bad:
        _rehearse(database, read(), readers)
    running = transfer.Import(readers, skip_bad=True)
    for portion in transfer.portions(read()):
        database.write_blocking(partial(running.take, portion=portion))
        pause()
    return database.write_blocking(running.finish)


def _rehearse(database: Database, lines: Iterable[str], readers: Sequence[Reader]) -> None:
    """Import into a copy without a name, which SQLite deletes with the connection."""
    twin = apsw.Connection("")
    try:
        database.read_blocking(partial(_copy, twin))
        with Translated(_COPY):
            twin.pragma("foreign_keys", 1)
            twin.execute("BEGIN").fetchall()
            transfer.import_lines(twin, lines, readers)
    finally:
        twin.close(True)


def _copy(twin: apsw.Connection, db: apsw.Connection) -> None:
    with Translated(_COPY), twin.backup("main", db, "main") as backup:
        while not backup.done:
            backup.step(_PAGES_A_STEP)
