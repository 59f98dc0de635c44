"""reindex: build the full-text index, the vectors and the graph anew from what is stored."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from memrpc.cli.terminal import progress, show
from memrpc.settings import Settings

if TYPE_CHECKING:
    import argparse

    import apsw


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    from memrpc.archive import indexing
    from memrpc.archive import statistics as archived
    from memrpc.cli.opening import opened
    from memrpc.cli.terminal import show_json
    from memrpc.recall import index
    from memrpc.workspace import rebuilding
    from memrpc.workspace import statistics as noted

    with opened(settings) as application:
        database = application.database

        def rebuild(db: apsw.Connection) -> int:
            held, kept = archived.count(db), noted.count(db)
            total = held.events + kept.entries + kept.tasks + kept.standards
            everything = chain(indexing.documents(db), rebuilding.documents(db))
            done = index.rebuild(db, progress(everything, total, "reindex"))
            rebuilding.rebuild_graph(db)
            return done

        done = database.write_blocking(rebuild)
    if parsed.json:
        show_json({"documents": done})
    else:
        show(f"{done} documents are indexed")
    return 0
