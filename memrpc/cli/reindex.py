"""reindex: build the full-text index and the graph anew from what is stored."""

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
    from memrpc.app import opened
    from memrpc.archive import indexing
    from memrpc.archive.statistics import count
    from memrpc.cli.terminal import show_json
    from memrpc.recall import index
    from memrpc.workspace import rebuilding

    with opened(settings) as application:
        database = application.database
        total = database.read_blocking(count).events

        def rebuild(db: apsw.Connection) -> int:
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
