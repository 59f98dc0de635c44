"""How fast a cancel stops SQL: from the cancel to the settled job, in milliseconds.

Three jobs on a database of 100,000 full-text rows are cancelled at random moments: a slow FTS5
query, a slow write, and a wait for another process's lock.  "next answer" is what the same lane
needs for a trivial query afterwards.  The yardstick in the same run is one round trip of a
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
SCHEMA = "CREATE VIRTUAL TABLE bench USING fts5 (text)"
ADD = "INSERT INTO bench (text) VALUES (:text)"
# Every row matches, so that each is ranked; joined to itself to last for seconds.
SLOW_READ = """
SELECT count(*) FROM (
  SELECT rowid, rank FROM bench WHERE bench MATCH 'common' ORDER BY rank LIMIT 50000
) AS a, (SELECT rowid FROM bench WHERE bench MATCH 'common' ORDER BY rank) AS b
"""
SLOW_WRITE = "INSERT INTO bench (text) SELECT text FROM bench"
QUICK = "SELECT 1"


def fill(db: apsw.Connection, rows: int) -> None:
    chance = random.Random(1)
    db.execute(SCHEMA).fetchall()
    for _ in range(rows):
        db.execute(ADD, {"text": "common " + " ".join(chance.choices(WORDS, k=20))}).fetchall()


async def cancel_once(run: Callable[[], object], after_s: float) -> float:
    """Cancel ``run`` after a while and return the milliseconds until its scope has ended."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await anyio.sleep(after_s)
        began = time.perf_counter()
        tasks.cancel_scope.cancel()
    return 1e3 * (time.perf_counter() - began)


async def measure(
    run: Callable[[], object], probe: Callable[[], object], rounds: int
) -> tuple[list[float], list[float]]:
    settled, free = [], []
    for _ in range(rounds):
        settled.append(await cancel_once(run, 0.005 + 0.03 * random.random()))
        began = time.perf_counter()
        await probe()
        free.append(1e3 * (time.perf_counter() - began))
    return settled, free


def show(name: str, values: list[float]) -> None:
    cuts = statistics.quantiles(values, n=100)
    print(f"{name:38} p50 {cuts[49]:7.3f}  p95 {cuts[94]:7.3f}  max {max(values):7.3f}")


def slow_read(db: apsw.Connection) -> int:
    return db.execute(SLOW_READ).get


def slow_write(db: apsw.Connection) -> None:
    db.execute(SLOW_WRITE).fetchall()


def quick(db: apsw.Connection) -> int:
    return db.execute(QUICK).get


async def compare(database: Database, rounds: int) -> None:
    began = time.perf_counter()
    for _ in range(1_000):
        await database.read(quick)
    print(f"{'round trip of a trivial query':38} mean {time.perf_counter() - began:6.3f}")

    settled, free = await measure(
        partial(database.read, slow_read), partial(database.read, quick), rounds
    )
    show("slow FTS5 read: settled", settled)
    show("slow FTS5 read: next answer", free)
    settled, free = await measure(
        partial(database.write, slow_write), partial(database.maintain, quick), rounds
    )
    show("slow FTS5 write: settled, rolled back", settled)
    show("slow FTS5 write: next answer", free)
    other = apsw.Connection(str(database.path))
    other.execute("BEGIN IMMEDIATE").fetchall()
    settled, _ = await measure(
        partial(database.write, quick), partial(database.maintain, quick), rounds
    )
    show("wait for a lock: settled", settled)
    other.close()


async def main(rounds: int = 200, rows: int = 100_000) -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = Database(Path(folder) / "memory.db", jitter=random.random)
        await database.write(partial(fill, rows=rows))
        await compare(database, rounds)
        database.close()


if __name__ == "__main__":
    anyio.run(main, *map(int, sys.argv[1:]))
