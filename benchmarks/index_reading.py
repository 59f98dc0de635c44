"""Answers from the code index beside their own SQL, and its grep beside ``grep -rn``.

``grep`` writes to the null device, where it leaves a file at its first matching line; ours counts
them all.
"""

from __future__ import annotations

import shlex
import subprocess
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import apsw

from memrpc.codebase import files, grepping, repositories, searching, tracing
from memrpc.codebase.candidates import TraceRequest

from .findings import Grid, shown
from .rounds import percentile

QUESTIONS = 60
TURNS = 5
TEXTS = ("return", "isinstance(", "zzqqxx")
"""Common, middling, and not there."""
PATTERNS = (r"^ +return", r"is(instance|subclass)\(", r"\bNotImplemented", r"def _?eval_[a-z]+\(")
_NAMES = "SELECT DISTINCT name FROM code_symbols WHERE exported AND length(name) > 3"
_PATHS = "SELECT path FROM code_files"
_REMARKS = (
    "SELECT DISTINCT substr(doc, 1, 60) FROM code_symbols WHERE exported AND length(doc) > 60"
)

Reads = dict[str, tuple[list[float], list[float]]]
"""Seconds of each question and of its statements alone."""
Greps = dict[str, tuple[float, float]]
"""By the command's name, seconds of ours and of its."""


def measure_reads(database: Path, repo: str) -> Reads:
    db = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    db.pragma("cache_size", -16_384)
    repository = repositories.indexed(db, "bench", repo).id
    names = _sample(db, _NAMES)

    def trace(name: str) -> object:
        return tracing.trace(db, repository, TraceRequest(name))

    def search(name: str) -> object:
        return searching.search(db, searching.SearchRequest(name[:6], (repository,)))

    def question(remark: str) -> object:
        words = remark.rpartition(" ")[0]  # The last one is cut off.
        return searching.search(db, searching.SearchRequest(words, (repository,)))

    def file(path: str) -> object:
        return files.describe(db, repository, files.FileRequest(path))

    return {
        "trace": _beside_sql(db, trace, names),
        "search": _beside_sql(db, search, names),
        "search, in words": _beside_sql(db, question, _sample(db, _REMARKS)),
        "file": _beside_sql(db, file, _sample(db, _PATHS)),
    }


def _sample(db: apsw.Connection, sql: str) -> list[str]:
    rows = sorted(value for (value,) in db.execute(sql).fetchall())
    return rows[:: max(1, len(rows) // QUESTIONS)][:QUESTIONS]


def _beside_sql(
    db: apsw.Connection, ask: Callable[[str], object], questions: Iterable[str]
) -> tuple[list[float], list[float]]:
    whole, bare = [], []
    for question in questions:
        statements: list[tuple[str, Any]] = []
        db.exec_trace = lambda _, sql, values: statements.append((sql, values)) or True  # noqa: B023 -- used in its own turn
        ask(question)
        db.exec_trace = None

        def replay(statements: list[tuple[str, Any]] = statements) -> None:
            for sql, values in statements:
                db.execute(sql, values).fetchall()

        both = _best(lambda: ask(question), replay)  # noqa: B023 -- used in its own turn
        whole.append(both[0])
        bare.append(both[1])
    return whole, bare


def measure_greps(database: Path, root: Path) -> Greps:
    db = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    repository = repositories.indexed(db, "bench", root.name).id
    found = {}
    for text in (*TEXTS, *PATTERNS):
        is_pattern = text in PATTERNS
        command = ["grep", "-rnE" if is_pattern else "-rn", text]
        asked = grepping.GrepRequest(text, is_pattern)

        def ours(asked: grepping.GrepRequest = asked) -> None:
            listed = files.sources(db, repository, language=None, path=None)
            grepping.grep(str(root), listed, asked, checkpoint=lambda: None)

        def theirs(command: list[str] = command) -> None:
            subprocess.run([*command, str(root)], stdout=subprocess.DEVNULL, check=False)

        found[shlex.join(command)] = _best(ours, theirs)
    return found


def _best(first: Callable[[], object], second: Callable[[], object]) -> tuple[float, float]:
    """Seconds of each when they take turns: what else runs only ever slows a turn down."""
    taken = [(_seconds(first), _seconds(second)) for _ in range(TURNS)]
    return min(each[0] for each in taken), min(each[1] for each in taken)


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


# What it comes to


def read_grid(reads: Reads, symbols: int) -> Grid:
    rows = [
        [name, *(shown(percentile(taken, p) * 1_000) for taken in both for p in (0.5, 0.95))]
        for name, both in reads.items()
    ]
    header = ("question", "p50", "p95", "its SQL p50", "its SQL p95")
    return Grid(f"Reading at {symbols:,} symbols, ms", header, rows)


def grep_grid(greps: Greps) -> Grid:
    rows = [[text, *(shown(each * 1_000) for each in both)] for text, both in greps.items()]
    note = "Ours counts every line that matches; `grep` leaves a file at its first one here."
    return Grid("Looking through sympy's files, ms", ("command", "ours", "its"), rows, note)
