"""redact: erase an entry or a task of the workspace, to the last byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrpc.cli.terminal import show, show_json
from memrpc.settings import Settings
from memrpc.store.errors import DomainError

if TYPE_CHECKING:
    import argparse

    from memrpc.store.database import Database


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="the full id of an entry or a task, deleted ones included")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    from memrpc.app import new_id, now_us
    from memrpc.cli.opening import opened
    from memrpc.workspace import redacting
    from memrpc.workspace.model import Act

    act = Act("redact", "command line", "", now_us(), new_id)
    with opened(settings) as application:
        database = application.database
        done = database.write_blocking(lambda db: redacting.redact(db, parsed.id, act))
        obstacle = _purge(database, application.owner)
    if parsed.json:
        show_json({"ids": list(done.ids), "erasure": "pending" if obstacle else "complete"})
    else:
        show(f"redacted {', '.join(done.ids)}; {obstacle or 'no trace is left'}")
    return 0


def _purge(database: Database, owner: str) -> str:
    """What keeps the bytes in the file; empty once they are gone.  What was redacted stays so."""
    from memrpc.app import now_us
    from memrpc.store.purge import Erasure
    from memrpc.workers.purging import purge_ahead

    try:
        outcome = database.maintain_blocking(lambda db: purge_ahead(db, owner, now_us))
    except DomainError as error:
        return f"the bytes are still to go: {error.message}"
    return "" if outcome is Erasure.COMPLETE else "the bytes go when no other process reads"
