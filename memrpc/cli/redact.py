"""redact: erase an entry or a task of the workspace, to the last byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrpc.cli.terminal import show, show_json
from memrpc.settings import Settings

if TYPE_CHECKING:
    import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", help="the full id of an entry or a task, deleted ones included")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    from memrpc.app import new_id, now_us
    from memrpc.cli.opening import opened
    from memrpc.store.purge import Erasure
    from memrpc.workers.purging import purge_ahead
    from memrpc.workspace import redacting
    from memrpc.workspace.model import Act

    act = Act("redact", "command line", "", now_us(), new_id)
    with opened(settings) as application:
        database = application.database
        done = database.write_blocking(lambda db: redacting.redact(db, parsed.id, act))
        outcome = database.maintain_blocking(lambda db: purge_ahead(db, application.owner, now_us))
    is_done = outcome is Erasure.COMPLETE
    if parsed.json:
        show_json({"ids": list(done.ids), "erasure": "complete" if is_done else "pending"})
    else:
        rest = "no trace is left" if is_done else "the bytes go when no other process reads"
        show(f"redacted {', '.join(done.ids)}; {rest}")
    return 0
