"""audit: prove that a text is in no byte of the database's files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memrpc.cli.terminal import show, show_json
from memrpc.settings import Settings

if TYPE_CHECKING:
    import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--absent", metavar="TEXT", required=True, help="the text to look for")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    """0 if no byte of the text is left; 1 if some are, or if a purge is still owed."""
    from memrpc.app import Application
    from memrpc.archive.statistics import count
    from memrpc.recall.index import VOCABULARIES
    from memrpc.store.audit import audit
    from memrpc.surface.shapes import to_json

    application = Application(settings)
    path = application.settings.database_path()
    try:
        is_pending = application.database.read_blocking(count).pending_purges > 0
    finally:
        application.close_quickly()
    findings = audit(path, parsed.absent, vocabularies=VOCABULARIES)
    if parsed.json:
        show_json({"purge_pending": is_pending, "findings": to_json(findings)})
    else:
        show(_report(findings, is_pending=is_pending))
    return 1 if findings or is_pending else 0


def _report(findings: Sequence[object], *, is_pending: bool) -> str:
    lines = [f"found: {finding}" for finding in findings]
    if is_pending:
        lines.append("purge pending: forgotten text may still be in the files")
    return "\n".join(lines) if lines else "absent: no byte of the text is in the database's files"
