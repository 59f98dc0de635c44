"""codebase-index: index a folder, or tell how its index stands."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from memrpc.codebase import discovery, staging, status
from memrpc.codebase.roots import is_folder, root_of
from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.surface.codebase import place
from memrpc.surface.codebase.shown import camel, path_text
from memrpc.surface.desk import Desk
from memrpc.surface.workspace.visit import Arguments, Visit
from memrpc.wire.messages import JSON
from memrpc.workers.indexing import IndexOrder
from memrpc.workspace import times

if TYPE_CHECKING:
    import apsw

    from memrpc.codebase.answers import Staleness, Status
    from memrpc.codebase.staging import Known

TOOL = "codebase-index"


async def handle(ctx: Context, desk: Desk, arguments: Arguments) -> ToolResult:
    visit = await place.begin(ctx, desk, TOOL, arguments)
    return await (_index(visit) if "repoPath" in arguments else _status(visit))


async def _index(visit: Visit) -> ToolResult:
    arguments, places = visit.arguments, visit.desk.places
    root = root_of(
        arguments["repoPath"], base=places.folder, home=places.home, force=arguments["force"]
    )
    includes, excludes = (tuple(arguments.get(f"{n}Globs", ())) for n in ("include", "exclude"))
    discovery.matcher(includes, excludes)
    order = IndexOrder(
        visit.project.owner,
        visit.project.name,
        str(root),
        force=arguments["force"],
        includes=includes,
        excludes=excludes,
    )
    visit.ctx.defer()  # Whatever is wrong with the arguments has been said by now.
    report = await visit.desk.index(
        order, lambda done, total: visit.ctx.progress(done, total, "files indexed")
    )
    structured = {"mode": "index", "success": True, "root": str(root), **report}
    return visit.answer(structured, _index_lines(visit, report))


def _index_lines(visit: Visit, report: Mapping[str, JSON]) -> list[str]:
    unchanged = report["skippedByStamp"] + report["skippedByChecksum"]
    skipped = ", ".join(f"{count} {reason}" for reason, count in report["skipped"].items())
    held = f"{report['totalSymbols']} symbols across {report['totalFiles']} files"
    moved = f"renamed {report['renamedFiles']}, removed {report['removedFiles']}"
    parsed = f"Parsed {report['parsedFiles']}, unchanged {unchanged}"
    lines = [
        f"Indexed {visit.project.name}: {held} in {report['durationMs']}ms",
        f"{parsed}, {moved}, failed {report['failedFiles']}",
        f"Skipped: {skipped or 'nothing'}",
    ]
    lines += [f"- {path_text(each['filePath'])}: {each['reason']}" for each in report["examples"]]
    lines += [
        f"Failed: {path_text(each['filePath'])}: {each['error']}" for each in report["errors"]
    ]
    return lines


async def _status(visit: Visit) -> ToolResult:
    owner, name, _ = visit.project

    def read(db: apsw.Connection) -> tuple[Status, dict[str, Known]]:
        found = status.status(db, owner, name, now=visit.now)
        known = staging.known_files(db, found.key) if found.key is not None else {}
        return found, known

    found, known = await visit.desk.database.read(read)
    moved = await _staleness(found, known) if found.is_indexed else None
    return visit.answer(_status_json(found, moved), _status_lines(found, moved))


async def _staleness(found: Status, known: dict[str, Known]) -> Staleness | None:
    """How far the files have moved on; None when the folder is not there any more."""
    from anyio.to_thread import run_sync

    root, seen_at = found.root, found.seen_at
    if root is None or seen_at is None or not is_folder(root):
        return None
    compare = partial(status.staleness, root, known, seen_at=seen_at, is_outdated=found.is_outdated)
    return await run_sync(compare, abandon_on_cancel=True)


def _status_json(found: Status, moved: Staleness | None) -> dict[str, JSON]:
    shown: dict[str, JSON] = {
        "mode": "status",
        "isIndexed": found.is_indexed,
        "isIndexing": found.is_indexing,
        "totalFiles": found.total_files,
        "totalSymbols": found.total_symbols,
    }
    if found.root is not None:
        shown["root"] = found.root
    if found.last_indexed_at is not None:
        shown["lastIndexedAt"] = times.to_text(found.last_indexed_at)
    if found.progress is not None:
        shown["progress"] = {"done": found.progress[0], "total": found.progress[1]}
    if found.last_run is not None:
        shown["lastRun"] = dict(found.last_run)
    if moved is not None:
        shown |= camel(moved)
    return shown


def _status_lines(found: Status, moved: Staleness | None) -> list[str]:
    lines = []
    if found.progress is not None:
        lines.append(f"Indexing: {found.progress[0]} of {found.progress[1]} files.")
    if found.last_indexed_at is None:
        return [*lines, f"{found.repo} is not indexed; send repoPath to index it."]
    lines.append(
        f"{found.repo}: {found.total_symbols} symbols across {found.total_files} files of "
        f"{found.root}, indexed {times.to_text(found.last_indexed_at)}."
    )
    if moved is None:
        lines.append("The folder is not there any more.")
    else:
        verdict = "stale: index it again" if moved.stale else "fresh"
        if found.is_outdated:
            lines.append("Another version of memrpc has read the files.")
        lines.append(
            f"{verdict}; {moved.changed} changed, {moved.missing} missing, {moved.added} new "
            f"({moved.stale_ratio:.1%} of the files)."
        )
    return lines
