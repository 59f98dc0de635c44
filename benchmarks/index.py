"""The code index: how fast it is made, how fast it answers, and is the server alive meanwhile?

* *cold*: from the spawn of the run's process to its report, two parsing processes, on named
  packages; and *without changes* on a tree of small files;
* the database's size beside the source's;
* ping of a spawned ``memrpc serve`` while it indexes, beside its idle ping; and while it looks for
  patterns on which other engines never end;
* trace, file and search at a hundred thousand symbols, beside their own SQL statements, replayed
  with the same values on the same connection;
* grep through the tool's domain function, beside ``grep -rn`` on the same tree.

The last two are measured in ``index_reading``.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from . import index_reading, packages
from .client import INITIALIZED, Server, environment, initialize, request
from .findings import Findings, Grid, Verdict, shown
from .rounds import percentile
from .venvs import ROOT

WORK = ROOT / "benchmarks" / "results" / "index"
COLD = ("sympy", "django", "effect", "libxmljs2", "tokenizers")
SMALL_FILES = 18_000
PINGS = 400
LARGE_SYMBOLS = 100_000
RUINOUS = ("(a|aa)+$", "(a+)+$")


def run(*, rounds: int) -> Findings:
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    found = {name: folder for name in COLD if (folder := packages.fetch(packages.BY_NAME[name]))}
    cold = {name: measure_cold(name, folder, max(1, rounds // 2)) for name, folder in found.items()}
    unchanged = measure_unchanged()
    pings = measure_pings(found["sympy"])
    large = make_large(found)
    reads = index_reading.measure_reads(large.database, "large")
    index(WORK / "grep.db", found["sympy"])
    greps = index_reading.measure_greps(WORK / "grep.db", found["sympy"])
    return _findings(cold, unchanged, pings, large, reads, greps)


# Runs


def index(database: Path, root: Path, **more: Any) -> dict[str, Any]:
    """One run; its report, with ``wall_s`` from the spawn to the report."""
    words = {"database": str(database), "owner": "bench", "repo": root.name, "root": str(root)}
    started = time.perf_counter()
    child = subprocess.Popen(
        [sys.executable, "-m", "memrpc.codebase.indexer"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
        start_new_session=True,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(json.dumps({**words, **more}).encode() + b"\n")
    child.stdin.flush()
    for line in child.stdout:
        said = json.loads(line)
        if "report" in said:
            wall_s = time.perf_counter() - started
            child.stdin.close()
            child.wait()
            return {**said["report"], "wall_s": wall_s}
        assert "refusal" not in said, said
    raise AssertionError("the run ended without a report")


def measure_cold(name: str, root: Path, rounds: int) -> dict[str, float]:
    """The best of the rounds: what else runs on the machine only ever slows a run down."""
    count, size = packages.size_of(root)
    empty = _empty_size()
    best: dict[str, float] = {}
    for turn in range(rounds):
        database = WORK / f"{name}-{turn}.db"
        report = index(database, root)
        if not best or report["wall_s"] < best["wall_s"]:
            best = {"wall_s": report["wall_s"], "symbols": report["totalSymbols"]}
        best["ratio"] = (database.stat().st_size - empty) / size
        database.unlink()
    wall_s = best["wall_s"]
    return {
        **best,
        "files": count,
        "mb": size / 1e6,
        "files_s": count / wall_s,
        "mb_s": size / 1e6 / wall_s,
    }


def _empty_size() -> int:
    """The size of a database with nothing in it, which every ratio leaves out."""
    folder, database = WORK / "empty", WORK / "empty.db"
    folder.mkdir(exist_ok=True)
    index(database, folder)
    return database.stat().st_size


def measure_unchanged() -> dict[str, float]:
    """A tree of small files in git, indexed twice; the second run has nothing to do."""
    root = WORK / "small"
    for number in range(SMALL_FILES):
        file = root / f"d{number // 200}" / f"m{number}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"x = {number}\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    database = WORK / "small.db"
    index(database, root)
    time.sleep(2.5)  # Younger stamps are not relied on.
    index(database, root)
    report = min((index(database, root) for _ in range(3)), key=lambda each: each["wall_s"])
    assert report["skippedByStamp"] == SMALL_FILES
    return {
        "files": SMALL_FILES,
        "wall_s": report["wall_s"],
        "files_s": SMALL_FILES / report["wall_s"],
    }


class Large(NamedTuple):
    """An index of all packages."""

    database: Path
    symbols: int


def make_large(found: dict[str, Path]) -> Large:
    """Every package in one tree, the largest one twice."""
    root = WORK / "large"
    for name, folder in found.items():
        shutil.copytree(folder, root / name)
    shutil.copytree(found["sympy"], root / "again")
    database = WORK / "large.db"
    symbols = index(database, root)["totalSymbols"]
    assert symbols >= LARGE_SYMBOLS, symbols
    return Large(database, symbols)


# The server meanwhile


def measure_pings(root: Path) -> dict[str, list[float]]:
    """Ping round trips in seconds: idle, while it indexes, while it looks for ruinous patterns."""
    database = WORK / "pings.db"
    command = (str(Path(sys.executable).parent / "memrpc"), "serve", "--db", str(database))
    with Server(command) as server:
        server.ask(initialize())
        server.write(INITIALIZED)
        found = {"idle": _pings(server, lambda: None)}
        ordered = {"repo": "bench/sympy", "repoPath": str(root)}
        found["indexing"] = _pings(server, lambda: _call(server, "codebase-index", ordered))
        for pattern in RUINOUS:
            asked = {"repo": "bench/sympy", "content": pattern, "regex": True}
            found[pattern] = _pings(server, lambda: _call(server, "codebase-read", asked))  # noqa: B023 -- called in its own turn
    return found


def _call(server: Server, tool: str, arguments: dict[str, Any]) -> str:
    server.write(request("work", "tools/call", {"name": tool, "arguments": arguments}))
    return "work"


def _pings(server: Server, begin: Callable[[], str | None]) -> list[float]:
    """As many as fit beside the work, or a fixed number without any."""
    waited_for = begin()
    taken: list[float] = []
    is_done = False
    while not is_done and len(taken) < (PINGS if waited_for is None else 100_000):
        started = time.perf_counter()
        server.write(request(len(taken), "ping"))
        while True:
            message = json.loads(server.read_line())
            if message.get("id") == waited_for and waited_for is not None:
                assert not message["result"]["isError"], message
                is_done = True
            elif message.get("id") == len(taken):
                break
        taken.append(time.perf_counter() - started)
        time.sleep(0.002)
    while waited_for is not None and not is_done:
        is_done = json.loads(server.read_line()).get("id") == waited_for
    return taken


# What it comes to


def _findings(
    cold: dict[str, dict[str, float]],
    unchanged: dict[str, float],
    pings: dict[str, list[float]],
    large: Large,
    reads: index_reading.Reads,
    greps: index_reading.Greps,
) -> Findings:
    return Findings(
        "index",
        "The code index",
        [
            _cold_grid(cold, unchanged),
            _ping_grid(pings),
            index_reading.read_grid(reads, large.symbols),
            index_reading.grep_grid(greps),
        ],
        list(_verdicts(cold, unchanged, pings, reads, greps)),
        {
            "cold": cold,
            "unchanged": unchanged,
            "pings": pings,
            "symbols": large.symbols,
            "reads": reads,
            "greps": greps,
        },
    )


def _cold_grid(cold: dict[str, dict[str, float]], unchanged: dict[str, float]) -> Grid:
    header = ("package", "files", "MB", "symbols", "s", "files/s", "MB/s", "db / source")
    keys = ("files", "mb", "symbols", "wall_s", "files_s", "mb_s", "ratio")
    rows = [
        [packages.BY_NAME[name].wanted, *(shown(found[key]) for key in keys)]
        for name, found in cold.items()
    ]
    rows.append(
        ["small files, unchanged", shown(unchanged["files"]), "", "", shown(unchanged["wall_s"]),
         shown(unchanged["files_s"]), "", ""]
    )  # fmt: skip
    note = "The size of an empty database is left out of the ratio."
    return Grid("Runs, two parsing processes", header, rows, note)


def _ping_grid(pings: dict[str, list[float]]) -> Grid:
    rows = [
        [name, str(len(taken)), *(shown(percentile(taken, p) * 1_000) for p in (0.5, 0.95, 1))]
        for name, taken in pings.items()
    ]
    return Grid("Ping meanwhile, ms", ("while", "pings", "p50", "p95", "max"), rows)


def _verdicts(
    cold: dict[str, dict[str, float]],
    unchanged: dict[str, float],
    pings: dict[str, list[float]],
    reads: index_reading.Reads,
    greps: index_reading.Greps,
) -> Iterable[Verdict]:
    yield _least("sympy, cold: files a second", cold["sympy"]["files_s"], 250, 600)
    yield _least("sympy, cold: MB a second", cold["sympy"]["mb_s"], 4, 9)
    for name in cold.keys() & {"effect", "libxmljs2"}:
        yield _least(f"{name}, cold: MB a second", cold[name]["mb_s"], 3, 6)
    yield _least("unchanged: files a second", unchanged["files_s"], 20_000, 60_000)
    for name, found in cold.items():
        yield Verdict(f"{name}: database to source", found["ratio"], 1.5, 1.0)
    idle = percentile(pings.pop("idle"), 0.95)
    for name, taken in pings.items():
        yield Verdict(f"ping p95 to idle, {name}", percentile(taken, 0.95) / idle, 10, 5)
    for name, (whole, bare) in reads.items():
        over = percentile(whole, 0.95) / (2 * percentile(bare, 0.95) + 0.001)
        yield Verdict(f"{name} p95 to twice its SQL + 1 ms", over, 1, 0.75)
    for text, (ours, theirs) in greps.items():
        yield Verdict(f"{text}: ours to its", ours / theirs, 4, 2)


def _least(promise: str, value: float, gate: float, aim: float) -> Verdict:
    return Verdict(promise, value, gate, aim, is_ceiling=False)
