"""One index run, from its lease to its report.

A run discovers, compares, parses what changed into staged rows, finds out where links lead,
switches, and sweeps.  See ``staging`` for why nothing is ever half there.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from memrpc.codebase import discovery, reader, repositories, resolving, roots, staging
from memrpc.codebase.model import Repository
from memrpc.codebase.parsing import Content, Order, Outcome, Stamp, Task
from memrpc.codebase.planning import Plan, plan
from memrpc.codebase.pool import Pool
from memrpc.store import changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import apsw

    from memrpc.codebase.discovery import Discovery
    from memrpc.codebase.repositories import Lease
    from memrpc.codebase.staging import Known, Move
    from memrpc.store.database import Database
    from memrpc.store.json_column import JSON

FILE_LIMIT_S: Final = 10
BATCH_FILES: Final = 150
BATCH_BYTES: Final = 2_000_000
RACY_NS: Final = 2_000_000_000
"""A file younger than this when it is read may change again without a new stamp."""
MAX_ERRORS: Final = 20
FEW_FILES: Final = 8
"""So few are parsed by one process: a second one would start in vain."""


class Request(NamedTuple):
    """What a run is asked for."""

    database: str
    owner: str
    repo: str
    root: str
    force: bool = False
    includes: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    workers: int = 2


class Ports(NamedTuple):
    """Clocks, whom to tell of progress in files done and in all and of the lease, and who lives.

    ``holder`` is this process's name, and ``is_gone`` knows of others whether they have died.
    """

    now_us: Callable[[], int]
    monotonic: Callable[[], float]
    progress: Callable[[int, int], None]
    begun: Callable[[Lease], None]
    holder: str = ""
    is_gone: Callable[[str], bool] = lambda _holder: False


@dataclass(slots=True)
class Tally:
    """What a run has come to so far."""

    counts: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    errors: list[dict[str, JSON]] = field(default_factory=list)
    replaced: list[int] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)
    stamps: dict[int, Stamp] = field(default_factory=dict)
    waiting: list[Outcome] = field(default_factory=list)
    waiting_bytes: int = 0

    def note_error(self, path: str, problem: str) -> None:
        if len(self.errors) < MAX_ERRORS:
            self.errors.append({"filePath": path, "error": problem})


class Run:
    """One run from its lease to its report."""

    def __init__(self, database: Database, request: Request, ports: Ports) -> None:
        self._database = database
        self._request = request
        self._ports = ports
        self._tally = Tally()
        self._started = ports.monotonic()
        self._started_us = ports.now_us()
        self._reader = reader.name()
        self._done = 0
        self._total = 0

    def report(self) -> dict[str, JSON]:
        """Do it all.

        Raises DomainError.
        """
        lease = self._begin()
        try:
            return self._work(lease)
        finally:
            self._database.write_blocking(lambda db: repositories.release(db, lease))

    def _begin(self) -> Lease:
        request, ports, now = self._request, self._ports, self._ports.now_us()
        repository = Repository(0, request.owner, request.repo, request.root, None)
        lease = self._database.write_blocking(
            lambda db: repositories.take(
                db, repository, holder=ports.holder, now=now, is_gone=ports.is_gone
            )
        )
        ports.begun(lease)
        return lease

    def _work(self, lease: Lease) -> dict[str, JSON]:
        request, tally = self._request, self._tally
        is_wanted = discovery.matcher(request.includes, request.excludes)
        found = discovery.discover(
            request.root, includes=request.includes, excludes=request.excludes
        )
        known, force = self._write(lease, lambda db: self._known(db, lease))
        todo = plan(found.candidates, known, force=force, is_wanted=is_wanted)
        tally.skipped.update(found.skipped)
        self._done, self._total = todo.unchanged, len(found.candidates)
        self._tell()
        self._parse(lease, todo, known)
        self._finish(lease, todo)
        report = self._summary(lease, found, todo)
        self._write(lease, lambda db: self._note(db, lease, report))
        self._ports.progress(self._total, self._total)
        while self._write(lease, lambda db: staging.sweep(db, lease.repository)):
            pass
        return report

    def _known(self, db: apsw.Connection, lease: Lease) -> tuple[dict[str, Known], bool]:
        """What is in the index, and whether all of it has to be parsed anew."""
        staging.drop_staged(db, lease.repository)
        is_outdated = repositories.reader(db, lease.repository) != self._reader
        return staging.known_files(db, lease.repository), self._request.force or is_outdated

    def _tell(self) -> None:
        """The last file is done only when the index is switched."""
        if self._total > 0:
            self._ports.progress(min(self._done, self._total - 1), self._total)

    def _parse(self, lease: Lease, todo: Plan, known: Mapping[str, Known]) -> None:
        if not todo.tasks:
            return
        order = Order(self._request.root, FILE_LIMIT_S, frozenset(todo.renamable))
        workers = 1 if len(todo.tasks) <= FEW_FILES else self._request.workers
        pool = Pool(order, workers, self._ports.monotonic)
        self._flush(lease, known)  # Nothing but the progress, for whoever asks.
        renewed = self._ports.monotonic()
        try:
            for outcome in self._outcomes(pool, todo):
                if outcome is not None:
                    self._settle(outcome, todo, known)
                    self._tell()
                is_late = self._ports.monotonic() - renewed > 1
                if (
                    is_late
                    or self._tally.waiting_bytes >= BATCH_BYTES
                    or len(self._tally.waiting) >= BATCH_FILES
                ):
                    self._flush(lease, known)
                    renewed = self._ports.monotonic()
        finally:
            pool.close()
        self._flush(lease, known)

    def _outcomes(self, pool: Pool, todo: Plan) -> Iterator[Outcome | None]:
        """The outcome of each task; of a second copy of a renamed file, after it was parsed."""
        copies: list[Task] = []
        for outcome in pool.run(todo.tasks):
            is_renamed = outcome is not None and outcome.state == "renamed"
            if outcome is not None and is_renamed and not todo.renamable[_held(outcome)]:
                copies.append(outcome.task._replace(is_fresh=True))
            else:
                yield outcome
        yield from pool.run(copies)

    def _settle(self, outcome: Outcome, todo: Plan, known: Mapping[str, Known]) -> None:
        tally, path = self._tally, outcome.task.path
        self._done += 1
        tally.counts[outcome.state] += 1
        old = known.get(path)
        match outcome.state:
            case "parsed":
                tally.waiting.append(outcome)
                tally.waiting_bytes += outcome.stamp.size if outcome.stamp else 0
            case "unchanged" if old is not None and outcome.stamp is not None:
                tally.stamps[old.id] = self._trusted(outcome.stamp)
            case "renamed":
                self._move(outcome, todo)
            case "failed":
                tally.note_error(path, outcome.problem or "")
                tally.waiting.append(outcome._replace(stamp=todo.stamps[path]))
            case _:
                if outcome.problem:
                    tally.skipped[outcome.problem] += 1
                if old is not None:
                    tally.replaced.append(old.id)

    def _trusted(self, stamp: Stamp) -> Stamp:
        """A stamp that is too young is not relied on."""
        is_racy = max(stamp.mtime_ns, stamp.ctime_ns) >= self._racy_ns()
        return Stamp(stamp.size, 0, 0) if is_racy else stamp

    def _racy_ns(self) -> int:
        return self._ports.now_us() * 1_000 - RACY_NS

    def _move(self, outcome: Outcome, todo: Plan) -> None:
        """Give a vanished file with this content the new path."""
        assert outcome.stamp is not None  # noqa: S101 -- it was read
        old = todo.vanished.pop(todo.renamable[_held(outcome)].pop())
        stamp = self._trusted(outcome.stamp)
        self._tally.moves.append(staging.Move(old.id, outcome.task.path, stamp))

    def _flush(self, lease: Lease, known: Mapping[str, Known]) -> None:
        """Write what has been parsed, and keep the lease."""
        tally = self._tally
        batch, tally.waiting, tally.waiting_bytes = tally.waiting, [], 0
        now, racy_ns = self._ports.now_us(), self._racy_ns()
        self._write(
            lease, lambda db: staging.stage(db, lease.repository, batch, now=now, racy_ns=racy_ns)
        )
        tally.replaced += [known[o.task.path].id for o in batch if o.task.path in known]

    def _write(self, lease: Lease, function: Callable[[apsw.Connection], Any]) -> Any:  # noqa: ANN401 -- whatever it returns
        """A transaction of this run, which fails if the lease is lost."""
        now = self._ports.now_us()

        def write(db: apsw.Connection) -> Any:  # noqa: ANN401 -- as above
            repositories.renew(db, lease, now=now, done=self._done, total=self._total)
            return function(db)

        return self._database.write_blocking(write)

    def _finish(self, lease: Lease, todo: Plan) -> None:
        """Find out where links lead, and switch; not where the folder itself has gone meanwhile."""
        roots.demand_folder(self._request.root)
        tally, repository = self._tally, lease.repository
        gone = [*tally.replaced, *(old.id for old in todo.vanished.values())]
        tally.counts["removed"] = len(todo.vanished)
        moved = {move.id: move.path for move in tally.moves}
        targets: dict[int, int | None] = {}
        if gone or moved or tally.counts["parsed"]:
            targets = self._database.read_blocking(
                lambda db: resolving.changed_targets(
                    db, repository, gone=gone, moved=moved, read_text=self._read_text
                )
            )

        def switch(db: apsw.Connection) -> None:
            staging.restamp(db, tally.stamps)
            staging.switch(db, repository, replaced=gone, moves=tally.moves, targets=targets)

        self._write(lease, switch)

    def _read_text(self, path: str) -> str | None:
        try:
            return Path(self._request.root, path).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return None

    def _summary(self, lease: Lease, found: Discovery, todo: Plan) -> dict[str, JSON]:
        counts, tally = self._tally.counts, self._tally
        files, symbols = self._database.read_blocking(
            lambda db: staging.count(db, lease.repository)
        )
        return {
            "totalFiles": files,
            "totalSymbols": symbols,
            "parsedFiles": counts["parsed"],
            "renamedFiles": counts["renamed"],
            "removedFiles": counts["removed"],
            "failedFiles": counts["failed"],
            "skippedByStamp": todo.unchanged,
            "skippedByChecksum": counts["unchanged"],
            "skipped": dict(sorted(tally.skipped.items())),
            "examples": [{"filePath": path, "reason": why} for path, why in found.examples],
            "errors": tally.errors,
            "usedGit": found.is_git,
            "durationMs": round((self._ports.monotonic() - self._started) * 1_000),
        }

    def _note(self, db: apsw.Connection, lease: Lease, report: dict[str, JSON]) -> None:
        request, now = self._request, self._ports.now_us()
        is_part = request.includes or request.excludes
        whole = None if is_part else repositories.Whole(self._started_us, self._reader)
        repositories.finish(db, lease, root=request.root, report=report, now=now, whole=whole)
        changes.note(db, topic(request.owner, request.repo), now=now)


def _held(outcome: Outcome) -> Content:
    return Content(outcome.task.language, outcome.digest)


def topic(owner: str, repo: str) -> str:
    """The URI that stands for a repository's whole index."""
    name = quote(f"{owner}/{repo}", safe="")
    return f"codebase://{name}/symbols"
