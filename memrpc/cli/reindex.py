"""reindex: bring the full-text index and the graph up to date with what is stored.

A sound index is renewed record by record and in portions, so that others can write meanwhile: a
record is found by its old rows until it has new ones.  A damaged one is emptied and filled again in
one transaction.
"""

from __future__ import annotations

from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Final, TypeAlias

from memrpc.cli.terminal import progress, show
from memrpc.settings import Settings

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    import apsw

    from memrpc.store.database import Database

Renewal: TypeAlias = "Callable[[apsw.Connection], int]"
PORTION_S: Final = 0.1


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--from-scratch",
        action="store_true",
        help="make the vectors anew as well, and keep other writers waiting",
    )
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    from memrpc.cli.opening import let_others_write, opened
    from memrpc.cli.terminal import show_json

    with opened(settings) as application:
        database = application.database
        if parsed.from_scratch or not database.read_blocking(is_sound):
            done = database.write_blocking(rebuild)
        else:
            done = renew(database, let_others_write)
    if parsed.json:
        show_json({"documents": done})
    else:
        show(f"{done} documents are indexed")
    return 0


def is_sound(db: apsw.Connection) -> bool:
    """Say whether the file is what SQLite made it, and the index what was put into it."""
    from memrpc.recall import index

    return bool(db.pragma("quick_check") == "ok") and index.is_whole(db)


def rebuild(db: apsw.Connection) -> int:
    """Empty index and graph and fill them; say how many documents there are."""
    from memrpc.recall import index
    from memrpc.workspace import graph

    index.clear(db)
    graph.clear(db)
    return sum(renewal(db) for renewal in _shown(renewals(db)))


def renew(database: Database, pause: Callable[[], object]) -> int:
    """Index everything anew, in transactions of ``PORTION_S`` with a pause after each."""
    done, rest = 0, iter(_shown(database.read_blocking(renewals)))
    for renewal in rest:
        done += database.write_blocking(partial(_portion, first=renewal, rest=rest))
        pause()
    return done


def renewals(db: apsw.Connection) -> list[Renewal]:
    """Return what indexes everything that is stored."""
    from memrpc.archive import indexing
    from memrpc.workspace import rebuilding

    return [*indexing.renewals(db), *rebuilding.renewals(db)]


def _portion(db: apsw.Connection, first: Renewal, rest: Iterator[Renewal]) -> int:
    """Do one, and more of the rest while there is time."""
    end = monotonic() + PORTION_S
    done = first(db)
    while monotonic() < end and (renewal := next(rest, None)) is not None:
        done += renewal(db)
    return done


def _shown(found: list[Renewal]) -> Iterable[Renewal]:
    return progress(found, len(found), "reindex")
