"""How fast a cancel stops SQL: from the cancel to the settled job, in milliseconds.

Three jobs on a database of 100,000 full-text rows are cancelled at random moments: a slow FTS5
query, a slow write, and a wait for another process's lock.  "Aborted" is the
statement's end, "settled" the scope's, with the rollback; "next answer" is what the same lane needs
for a trivial query afterwards.  The yardstick in the same run is one round trip of a
trivial query.

    python benchmarks/cancel.py [rounds] [rows]
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio
import apsw

from memrpc.store.database import Database

WORDS = [f"word{i}" for i in range(2_000)]
ended_at: list[float] = []
SCHEMA = "CREATE VIRTUAL TABLE bench USING fts5 (text)"
ADD = "INSERT INTO bench (text) VALUES (:text)"
# Every row matches "common" and is ranked by ten words.  Before the first row, bm25() counts the
# rows of each word in a loop that FTS5 lets nobody interrupt: about 2 ms for a word in all 100,000.
SLOW_READ = "SELECT rowid FROM bench WHERE bench MATCH :words ORDER BY +rank LIMIT 100"
MANY_WORDS = " OR ".join(["common", *WORDS[:9]])
SLOW_WRITE = "INSERT INTO bench (text) SELECT text FROM bench"
QUICK = "SELECT 1"


def fill(db: apsw.Connection, rows: int) -> None:
    chance = random.Random(1)
    db.execute(SCHEMA).fetchall()
    for _ in range(rows):
        db.execute(ADD, {"text": "common " + " ".join(chance.choices(WORDS, k=20))}).fetchall()


async def cancel_once(run: Callable[[], object], after_s: float) -> tuple[float, float]:
    """Cancel ``run`` after a while and return when that was and when its scope has ended."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await anyio.sleep(after_s)
        cancelled_at = time.perf_counter()
        tasks.cancel_scope.cancel()
    return cancelled_at, time.perf_counter()


async def measure(
    name: str, run: Callable[[], object], probe: Callable[[], object], rounds: int
) -> None:
    aborted, settled, free = [], [], []
    for _ in range(rounds):
        ended_at.clear()
        cancelled_at, settled_at = await cancel_once(run, 0.005 + 0.03 * random.random())
        aborted += [ended - cancelled_at for ended in ended_at]
        settled.append(settled_at - cancelled_at)
        await probe()
        free.append(time.perf_counter() - settled_at)
    for what, values in (("aborted", aborted), ("settled", settled), ("next answer", free)):
        show(f"{name}: {what}", values)


def show(name: str, values_s: list[float]) -> None:
    if values_s:
        cuts = [1e3 * cut for cut in statistics.quantiles(values_s, n=100)]
        longest = 1e3 * max(values_s)
        print(f"{name:34} p50 {cuts[49]:7.3f}  p95 {cuts[94]:7.3f}  max {longest:7.3f}")


def slow_read(db: apsw.Connection) -> None:
    """Search as a recall does; the moment when the statement ends is noted."""
    try:
        db.execute(SLOW_READ, {"words": MANY_WORDS}).fetchall()
    finally:
        ended_at.append(time.perf_counter())


def slow_write(db: apsw.Connection) -> None:
    try:
        db.execute(SLOW_WRITE).fetchall()
    finally:
        ended_at.append(time.perf_counter())


def quick(db: apsw.Connection) -> int:
    return db.execute(QUICK).get


async def compare(database: Database, rounds: int) -> None:
    began = time.perf_counter()
    await database.read(slow_read)
    print(f"{'the whole slow read':34} {1e3 * (time.perf_counter() - began):11.3f}")
    began = time.perf_counter()
    for _ in range(1_000):
        await database.read(quick)
    print(f"{'round trip of a trivial query':34} {time.perf_counter() - began:11.3f}")

    read, write = partial(database.read, quick), partial(database.maintain, quick)
    await measure("FTS5 read", partial(database.read, slow_read), read, rounds)
    await measure("FTS5 write", partial(database.write, slow_write), write, rounds)
    other = apsw.Connection(str(database.path))
    other.execute("BEGIN IMMEDIATE").fetchall()
    await measure("wait for a lock", partial(database.write, quick), write, rounds)
    other.close()


async def main(rounds: int = 200, rows: int = 100_000) -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder) / "memory.db", jitter=random.random)
        await database.write(partial(fill, rows=rows))
        await compare(database, rounds)
        database.close()


if __name__ == "__main__":
    anyio.run(main, *map(int, sys.argv[1:]))
