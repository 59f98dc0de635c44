"""stats: count what the database holds and what it still owes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrpc.cli.terminal import show, show_json
from memrpc.settings import Settings

if TYPE_CHECKING:
    import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    from memrpc.archive import statistics as archive
    from memrpc.cli.opening import opened
    from memrpc.recall.vectors import summaries
    from memrpc.surface.shapes import to_json
    from memrpc.workspace import statistics as workspace

    with opened(settings) as application:
        database = application.database
        facts = {
            "database": str(database.path),
            "size_bytes": database.size_bytes(),
            **to_json(database.read_blocking(archive.count)),
            **to_json(database.read_blocking(workspace.count)),
        }
        sets = database.read_blocking(summaries)
    if parsed.json:
        show_json({**facts, "vector_sets": to_json(sets)})
    else:
        show("\n".join(f"{name.replace('_', ' '):24} {value}" for name, value in facts.items()))
        for each in sets:
            told = f"{each.vectors} of {each.embedder}, {each.pending} texts wait"
            show(f"{each.purpose + ' vectors':24} {told}")
    return 0
