"""The workspace at ten thousand entries: each call beside its own SQL, and what growth costs.

A server in this process answers calls; a second one answers the same calls on a twin of the file
while every SQL statement that it runs is written down with its values.

* A read is compared with the statements of that read, run in turn on a twin.
* A write is compared with the statements of that write that change rows, run in one transaction on
  a third twin, so the same rows are written to the same state.
* Detail, list and write are measured beside each other at 1,000 and at 100,000 entries.

All times are CPU times of one core; see ``inside``.  A call's time is its median over the rounds;
percentiles are over the calls of a kind.
"""

from __future__ import annotations

import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import apsw

from memrpc.store.database import Database

from .board import GROWING, READS, WRITES, Ask, Make
from .client import call, one_core
from .findings import Findings, Grid, Verdict, shown
from .harbor import NAME, OWNER, Size, database
from .inside import Inside, Statement
from .rounds import Table, interleave, percentile
from .venvs import ROOT

MAIN = Size(10_000, 2_000)
SMALL, LARGE = Size(1_000, 2_000), Size(100_000, 2_000)
CALLS = 30  # of each kind in a round
LEEWAY_MS = 1.0
READ_GATE, WRITE_GATE, GROWTH_GATE = 2.0, 3.0, 1.5
_FRAME = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "PRAGMA")
_CHANGING = ("INSERT", "UPDATE", "DELETE", "REPLACE")

Times = dict[str, dict[str, list[float]]]


def run(*, rounds: int) -> Findings:
    results = ROOT / "benchmarks" / "results"
    results.mkdir(exist_ok=True)
    files = {size: database(results, size) for size in (SMALL, MAIN, LARGE)}
    with one_core(), tempfile.TemporaryDirectory(dir=results) as folder:
        twins = Twins(files[MAIN], Path(folder))
        reads = measure(twins, READING, rounds=rounds)
        writes = measure(twins, WRITING, rounds=rounds)
        twins.close()
        growth = measure_growth(files, Path(folder), rounds=rounds)
    return _findings(reads, writes, growth)


# The three twins


class Twins:
    """Copies of one file: served, written down, and run raw."""

    def __init__(self, file: Path, folder: Path) -> None:
        served, recorded, raw = (folder / f"{name}.db" for name in ("served", "recorded", "raw"))
        for copy in (served, recorded, raw):
            shutil.copyfile(file, copy)
        self.server, self.recorder = Inside(served), Inside(recorded, records=True)
        self.raw = Database(raw, jitter=random.Random(0).random)
        self.last: dict[str, dict] = {"served": {}, "recorded": {}}  # what answers have told

    def close(self) -> None:
        self.server.close()
        self.recorder.close()
        self.raw.close()


def ask(server: Inside, id_: int | str, asked: Ask) -> tuple[float, dict]:
    """Milliseconds of a call, and its structured answer."""
    tool, arguments = asked
    elapsed_ms, result = server.ask(call(id_, tool, {"owner": OWNER, "repo": NAME, **arguments}))
    assert not result["isError"], (asked, result["content"][0]["text"][:400])
    return elapsed_ms, result["structuredContent"]


def _is_query(sql: str) -> bool:
    return not sql.upper().startswith(_FRAME)


def _is_change(sql: str) -> bool:
    return sql.startswith(_CHANGING)


# Beside their own SQL


def measure(twins: Twins, way: Way, *, rounds: int) -> Times:
    """Milliseconds of each kind of call, served and raw, turn about; the first round warms up."""
    times = {kind: [([], []) for _ in range(CALLS)] for kind in way.kinds}
    for number in range((rounds + 1) * CALLS):
        for kind in way.kinds:
            pair = _pair(twins, way, kind, way.nth(number))
            for kept, time_ms in zip(times[kind][number % CALLS], pair, strict=True):
                kept.append(time_ms)
    return {kind: _medians(calls) for kind, calls in times.items()}


def _medians(calls: list[tuple[list[float], list[float]]]) -> dict[str, list[float]]:
    """The median of each call over the rounds after the first, served and raw."""
    served, raw = zip(*calls, strict=True)
    medians = ([statistics.median(each[1:]) for each in way] for way in (served, raw))
    return dict(zip(("served", "raw"), medians, strict=True))


def _pair(twins: Twins, way: Way, kind: str, number: int) -> tuple[float, float]:
    """The call written down, then served and run raw: neither is always the first to warm up."""
    make, last = way.kinds[kind], twins.last
    _, answer = ask(twins.recorder, number, make(number, last["recorded"]))
    last["recorded"] |= answer
    statements = [each for each in twins.recorder.statements(way.lane) if way.keeps(each[0])]
    if number % 2:
        raw_ms = way.raw(twins.raw, statements)
        return _served(twins, make, number), raw_ms
    return _served(twins, make, number), way.raw(twins.raw, statements)


def _served(twins: Twins, make: Make, number: int) -> float:
    elapsed_ms, answer = ask(twins.server, number, make(number, twins.last["served"]))
    twins.last["served"] |= answer
    return elapsed_ms


def _read_raw(store: Database, statements: list[Statement]) -> float:
    return store.read_blocking(lambda db: _timed(db, statements))


def _write_raw(store: Database, statements: list[Statement]) -> float:
    framed = [("BEGIN IMMEDIATE", None), *statements, ("COMMIT", None)]
    return store.maintain_blocking(lambda db: _timed(db, framed))


def _timed(db: apsw.Connection, statements: list[Statement]) -> float:
    started = time.thread_time()  # Whoever waits for this thread is not counted.
    for sql, bindings in statements:
        db.execute(sql, bindings).fetchall()
    return (time.thread_time() - started) * 1000


@dataclass(frozen=True, slots=True)
class Way:
    """How a set of calls is compared: the lane they use, which statements count, how they run."""

    kinds: Mapping[str, Make]
    lane: str
    keeps: Callable[[str], bool]
    raw: Callable[[Database, list[Statement]], float]
    nth: Callable[[int], int]


READING = Way(READS, "reader", _is_query, _read_raw, lambda number: number % CALLS)
WRITING = Way(WRITES, "writer", _is_change, _write_raw, lambda number: number)


# From a thousand to a hundred thousand


def measure_growth(files: Mapping[Size, Path], folder: Path, *, rounds: int) -> Table:
    table = Table()
    servers, numbers = {}, {SMALL: 0, LARGE: 0}
    for size in numbers:
        copy = folder / f"{size.entries}.db"
        shutil.copyfile(files[size], copy)
        servers[size] = Inside(copy)

    def sample(size: Size) -> dict[str, float]:
        numbers[size] += CALLS
        return dict(_growth_sample(servers[size], numbers[size]))

    interleave(table, numbers, sample, rounds=rounds)
    for server in servers.values():
        server.close()
    return table


def _growth_sample(server: Inside, start: int) -> Iterator[tuple[str, float]]:
    for kind, make in GROWING.items():
        times = [ask(server, n, make(n, {}))[0] for n in range(start, start + CALLS)]
        yield kind, statistics.median(times)


# What is said of it


@dataclass(frozen=True, slots=True)
class Pair:
    """A kind of call and the 95th percentile of both ways."""

    kind: str
    served: float
    raw: float


def _pairs(times: Times) -> list[Pair]:
    return [
        Pair(kind, percentile(each["served"], 0.95), percentile(each["raw"], 0.95))
        for kind, each in times.items()
    ]


def _findings(reads: Times, writes: Times, growth: Table) -> Findings:
    grids = [
        _grid("Reads at 10,000 entries and 2,000 tasks", reads),
        _grid("Writes at 10,000 entries and 2,000 tasks", writes),
        _growth_grid(growth),
    ]
    by_size = {str(size.entries): growth.samples[size] for size in (SMALL, LARGE)}
    data = {"reads": reads, "writes": writes, "growth": by_size}
    verdicts = [*_read_verdicts(reads), *_write_verdicts(writes), *_growth_verdicts(growth)]
    return Findings("workspace", "The workspace beside its own SQL", grids, verdicts, data)


def _grid(title: str, times: Times) -> Grid:
    header = ("ms", "served p50", "served p95", "raw p50", "raw p95")
    rows = [
        [kind, *(shown(figure) for way in ("served", "raw") for figure in _both(each[way]))]
        for kind, each in times.items()
    ]
    return Grid(title, header, rows)


def _both(values: list[float]) -> tuple[float, float]:
    return statistics.median(values), percentile(values, 0.95)


def _growth_grid(table: Table) -> Grid:
    rows = [
        [kind, *(shown(table.median(size, kind)) for size in (SMALL, LARGE))] for kind in GROWING
    ]
    return Grid("Growth", ("median ms", "1,000 entries", "100,000 entries"), rows)


def _read_verdicts(times: Times) -> Iterator[Verdict]:
    for pair in _pairs(times):
        ratio = max(0.0, pair.served - LEEWAY_MS) / pair.raw
        yield Verdict(f"{pair.kind}: p95 less 1 ms, to its SQL's", ratio, READ_GATE, READ_GATE)


def _write_verdicts(times: Times) -> Iterator[Verdict]:
    for pair in _pairs(times):
        ratio = pair.served / pair.raw
        yield Verdict(f"{pair.kind}: p95 to its rows' written raw", ratio, WRITE_GATE, WRITE_GATE)


def _growth_verdicts(table: Table) -> Iterator[Verdict]:
    for kind in GROWING:
        ratio = table.ratio(kind, LARGE, SMALL)
        assert ratio is not None
        yield Verdict(f"{kind}: 100,000 to 1,000 entries", ratio, GROWTH_GATE, GROWTH_GATE)
