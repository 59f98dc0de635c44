"""audit: prove that a text is in no byte of the database's files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memrpc.cli.terminal import show, show_json
from memrpc.settings import Settings
from memrpc.store.errors import InvalidArguments
from memrpc.wire.messages import JSON

if TYPE_CHECKING:
    import argparse

    from memrpc.store.audit import Finding


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--absent", metavar="TEXT", required=True, help="the text to look for")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    """0 if no byte of the text is left; 1 if some are, or if a purge is still owed."""
    from memrpc.archive.statistics import count
    from memrpc.cli.opening import opened
    from memrpc.recall.vocabulary import VOCABULARIES
    from memrpc.store.audit import audit

    if not parsed.absent.strip():
        raise InvalidArguments("--absent needs a text that is not only spaces.", field="absent")
    with opened(settings) as application:
        is_pending = application.database.read_blocking(count).pending_purges > 0
    findings = audit(settings.database_path(), parsed.absent, vocabularies=VOCABULARIES)
    if parsed.json:
        show_json({"purge_pending": is_pending, "findings": [_as_json(f) for f in findings]})
    else:
        show(_report(findings, is_pending=is_pending))
    return 1 if findings or is_pending else 0


def _as_json(finding: Finding) -> JSON:
    return {
        "file": str(finding.path),
        "kind": finding.kind.value,
        "sought": finding.sought,
        "offset": finding.offset,
    }


def _place(finding: Finding) -> str:
    return "in the full-text index" if finding.offset is None else f"at byte {finding.offset}"


def _report(findings: Sequence[Finding], *, is_pending: bool) -> str:
    lines = [f"found {f.kind.value} {f.sought!r} in {f.path} {_place(f)}" for f in findings]
    if is_pending:
        lines.append("purge pending: forgotten text may still be in the files")
    return "\n".join(lines) if lines else "absent: no byte of the text is in the database's files"
