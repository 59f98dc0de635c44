"""audit: prove that a text is in no byte of the database's files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from memrpc.cli.terminal import show, show_json
from memrpc.settings import Settings
from memrpc.store.errors import InvalidArguments
from memrpc.wire.messages import JSON

RECORDS: Final = frozenset(
    {
        *("events", "cues", "memories", "checkpoints", "personas", "persona_items", "scopes"),
        *("repos", "entries", "tasks", "comments", "standards", "handoffs", "claims"),
        *("summaries", "actions", "code_repositories", "code_files", "code_symbols"),
        "sqlite_schema",
    }
)
"""The tables of what was recorded, written or read, and SQLite's own; the rest is made of these."""

if TYPE_CHECKING:
    import argparse

    from memrpc.store.audit import Finding


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--absent", metavar="TEXT", required=True, help="the text to look for")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    """0 if nothing is left of the text but words that others hold, 1 else or if a purge is owed."""
    from memrpc.archive.statistics import count
    from memrpc.cli.opening import opened
    from memrpc.recall.vocabulary import VOCABULARIES
    from memrpc.store.audit import audit

    if not parsed.absent.strip():
        raise InvalidArguments("--absent needs a text that is not only spaces.", field="absent")
    with opened(settings) as application:
        is_pending = application.database.read_blocking(count).pending_purges > 0
    findings = audit(
        settings.database_path(), parsed.absent, vocabularies=VOCABULARIES, records=RECORDS
    )
    if parsed.json:
        show_json({"purge_pending": is_pending, "findings": [_as_json(f) for f in findings]})
    else:
        show(_report(findings, is_pending=is_pending))
    return 1 if is_pending or not all(each.is_kept for each in findings) else 0


def _as_json(finding: Finding) -> JSON:
    return {
        "file": str(finding.path),
        "kind": finding.kind.value,
        "sought": finding.sought,
        "offset": finding.offset,
        "is_kept": finding.is_kept,
    }


def _place(finding: Finding) -> str:
    return "in the full-text index" if finding.offset is None else f"at byte {finding.offset}"


def _report(findings: Sequence[Finding], *, is_pending: bool) -> str:
    traces = [each for each in findings if not each.is_kept]
    kept = dict.fromkeys(repr(each.sought) for each in findings if each.is_kept)
    lines = [f"found {f.kind.value} {f.sought!r} in {f.path} {_place(f)}" for f in traces]
    if is_pending:
        lines.append("purge pending: forgotten text may still be in the files")
    if not lines:
        lines.append("absent: no byte of the text is in the database's files")
    if kept:
        lines.append(f"in what is kept as well, so no trace: {', '.join(kept)}")
    return "\n".join(lines)
