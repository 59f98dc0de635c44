"""A failing disk at every write and sync: what was acknowledged is there, and nothing is torn."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from memrpc.store.database import Database

SCRIPT = Path(__file__).with_name("faulty_disk.py")
MODES = ("exit", "half", "io once", "io always", "full once")


def fail_at(folder: Path, mode: str, call: int) -> bool:
    """Run the workload with its ``call``-th call failing; say whether there was such a call."""
    path = folder / f"{call}.db"
    command = [sys.executable, str(SCRIPT), str(path), mode, str(call)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in {0, 9}, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    added = {int(value) for word, value in lines if word == "added"}
    database = Database(path, jitter=random.random)
    database.read_blocking(lambda db: assert_whole(db, added))
    database.write_blocking(check_full_text)
    database.close()
    calls = [int(value) for word, value in lines if word == "calls"]
    return not calls or calls[0] >= call


def assert_whole(db: apsw.Connection, added: set[int]) -> None:
    assert db.pragma("integrity_check") == "ok"
    things = set(db.execute("SELECT id, word FROM things").fetchall())
    assert added <= {thing for thing, _ in things}
    assert set(db.execute("SELECT rowid, word FROM thing_words").fetchall()) == things
    jobs = {int(subject) for (subject,) in db.execute("SELECT subject FROM jobs").fetchall()}
    assert jobs == {thing for thing, _ in things}


def check_full_text(db: apsw.Connection) -> None:
    db.execute(
        "INSERT INTO thing_words (thing_words, rank) VALUES ('integrity-check', 0)"
    ).fetchall()


@pytest.mark.parametrize("mode", MODES)
def test_disk_that_fails_at_some_calls_tears_nothing(tmp_path: Path, mode: str):
    offset = MODES.index(mode)
    assert all(fail_at(tmp_path, mode, call) for call in (1, 10 + offset, 40 + 3 * offset))


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_disk_that_fails_at_any_call_tears_nothing(tmp_path: Path, mode: str):
    call = 1
    while fail_at(tmp_path, mode, call):
        call += 1
    assert call > 50
