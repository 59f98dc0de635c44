"""How an index stands: what it holds, whether a run is under way, how far the files have moved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memrpc.codebase import discovery, holders, reader, repositories, staging
from memrpc.codebase.answers import Staleness, Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

    from memrpc.codebase.parsing import Stamp
    from memrpc.codebase.staging import Known

STALE_FROM: Final = 0.05
"""The share of files that may have changed before an index counts as stale."""


def status(db: apsw.Connection, owner: str, repo: str, *, now: int) -> Status:
    """What the database knows; see ``staleness`` for what only the files can tell."""
    repository = repositories.find(db, owner, repo)
    if repository is None:
        return Status(owner, repo, False, False, None, None, 0, 0)
    running = repositories.running(db, repository.id, now=now, is_gone=holders.is_gone)
    files, symbols = staging.count(db, repository.id)
    return Status(
        owner,
        repo,
        is_indexed=repository.indexed_at is not None,
        is_indexing=running.is_running,
        root=repository.root,
        last_indexed_at=repository.indexed_at,
        total_files=files,
        total_symbols=symbols,
        seen_at=running.seen_at,
        key=repository.id,
        progress=(running.done, running.total) if running.is_running else None,
        last_run=running.report if repository.indexed_at is not None else None,
        is_outdated=repositories.reader(db, repository.id) != reader.name(),
    )


def staleness(
    root: str, known: Mapping[str, Known], *, seen_at: int, is_outdated: bool = False
) -> Staleness:
    """Compare the index, made of files that were all seen at ``seen_at``, with them as they are.

    A file whose content is as it was but whose stamps are not counts as changed: only a run reads
    it.  One that is not known counts as new if it is younger than that; the others were left
    out on purpose.  What another version has read is stale as a whole.
    """
    found = discovery.discover(root)
    present = {candidate.path: candidate.stamp for candidate in found.candidates}
    last_ns = seen_at * 1_000
    changed = sum(
        path in present and _differs(old, present[path], last_ns) for path, old in known.items()
    )
    missing = sum(path not in present for path in known)
    added = sum(stamp.ctime_ns > last_ns for path, stamp in present.items() if path not in known)
    ratio = (changed + missing + added) / max(1, len(known))
    stale = is_outdated or ratio >= STALE_FROM
    return Staleness(stale, changed, missing, added, round(ratio, 4))


def _differs(old: Known, stamp: Stamp, last_ns: int) -> bool:
    """Stamps that were too young to be relied on are compared with the time of the run."""
    if old.mtime_ns == 0:
        return old.size != stamp.size or stamp.ctime_ns > last_ns
    return (old.size, old.mtime_ns, old.ctime_ns) != stamp
