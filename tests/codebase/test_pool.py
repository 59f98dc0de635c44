"""Parsing processes: one that spins or dies costs one file."""

from __future__ import annotations

import signal
import sys
import time

import pytest

from memrpc.codebase import pool as pools
from memrpc.codebase.parsing import Order, Task
from tests.codebase.conftest import write

STAND_IN = """
import os, signal, sys
from memrpc.codebase import parsing, parsing_process

def look_at(order, task):
    if task.path.startswith("spin"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        while True:
            pass
    if task.path.startswith("die"):
        os.kill(os.getpid(), signal.SIGSEGV)
    if task.path.startswith("print"):
        os.write(1, b"noise")
    return parsing.look_at(order, task)

parsing_process.look_at = look_at
parsing_process.GRACE_S = 1_000
parsing_process.main()
"""


@pytest.fixture
def stand_in(monkeypatch, tmp_path):
    """Parsing processes in which some files spin and some kill."""
    program = tmp_path / "stand_in.py"
    program.write_text(STAND_IN)
    monkeypatch.setattr(pools, "PROGRAM", (sys.executable, str(program)))


def outcomes(root, names, *, limit_s=1, count=2):
    pool = pools.Pool(Order(str(root), limit_s, frozenset()), count, time.monotonic)
    try:
        found = pool.run([Task(name, "python", b"") for name in names])
        return {each.task.path: (each.state, each.problem) for each in found if each is not None}
    finally:
        pool.close()


def test_a_file_that_never_ends_is_given_up_and_the_others_are_parsed(repo, stand_in):
    names = ["spin.py", *(f"m{n}.py" for n in range(30))]
    write(repo, dict.fromkeys(names, "x = 1\n"))
    found = outcomes(repo, names)
    assert found.pop("spin.py") == ("failed", "timeout")
    assert set(found.values()) == {("parsed", None)}
    assert len(found) == 30


def test_a_file_that_kills_its_process_is_given_up_and_the_others_are_parsed(repo, stand_in):
    names = ["m0.py", "die.py", *(f"m{n}.py" for n in range(1, 30))]
    write(repo, dict.fromkeys(names, "x = 1\n"))
    found = outcomes(repo, names, limit_s=20, count=1)
    assert found.pop("die.py") == ("failed", f"crash ({-signal.SIGSEGV})")
    assert set(found.values()) == {("parsed", None)}


def test_what_a_grammar_prints_does_not_get_between_the_answers(repo, stand_in):
    write(repo, {"print.py": "x = 1\n"})
    assert outcomes(repo, ["print.py"]) == {"print.py": ("parsed", None)}


def test_processes_that_cannot_even_start_fail_their_files_and_end(repo, monkeypatch):
    monkeypatch.setattr(pools, "PROGRAM", (sys.executable, "-c", "raise SystemExit(3)"))
    names = [f"m{n}.py" for n in range(3)]
    write(repo, dict.fromkeys(names, "x = 1\n"))
    assert set(outcomes(repo, names, limit_s=20).values()) == {("failed", "crash (3)")}


def test_no_process_outlives_its_pool(repo, stand_in):
    write(repo, {"a.py": "", "spin.py": ""})
    pool = pools.Pool(Order(str(repo), 60, frozenset()), 2, time.monotonic)
    children = [each.child for each in pool._processes]
    next(pool.run([Task("a.py", "python", b""), Task("spin.py", "python", b"")]))
    pool.close()
    assert [each.poll() for each in children] == [-signal.SIGKILL] * 2


def test_a_process_whose_parent_was_killed_does_not_spin_for_ever(repo, tmp_path):
    """Nobody is left to kill it, so it has set itself an alarm."""
    program = tmp_path / "stand_in.py"
    program.write_text(STAND_IN.replace("GRACE_S = 1_000", "GRACE_S = 0"))
    write(repo, {"spin.py": ""})
    child = pools.subprocess.Popen(
        [sys.executable, str(program)], stdin=pools.subprocess.PIPE, stdout=pools.subprocess.PIPE
    )
    pools.write_frame(child.stdin, Order(str(repo), 1, frozenset()))
    pools.write_frame(child.stdin, [Task("spin.py", "python", b"")])
    assert child.wait(20) == -signal.SIGALRM
    child.stdin.close()
    child.stdout.close()


def test_files_that_vanish_or_cannot_be_read_are_told_apart(repo):
    (repo / "folder.py").mkdir()
    found = outcomes(repo, ["none.py", "folder.py"])
    assert found == {"none.py": ("vanished", None), "folder.py": ("skipped", "unreadable")}


def test_files_that_could_not_be_parsed_are_reported_and_stay_in_the_index(
    index, repo, stand_in, monkeypatch
):
    monkeypatch.setattr("memrpc.codebase.run.FILE_LIMIT_S", 1)
    write(repo, {"spin.py": "def lost(): pass\n", "good.py": "def good(): pass\n"})
    report = index.run(repo)
    assert report["failedFiles"] == 1
    assert report["errors"] == [{"filePath": "spin.py", "error": "timeout"}]
    assert index.names() == {"good"}
    rows = index.ask("SELECT path, problem FROM code_files ORDER BY path")
    assert rows == [("good.py", None), ("spin.py", "timeout")]


def test_a_file_that_could_not_be_parsed_is_tried_again_when_it_changes(
    index, repo, stand_in, monkeypatch
):
    monkeypatch.setattr("memrpc.codebase.run.FILE_LIMIT_S", 1)
    monkeypatch.setattr("memrpc.codebase.run.RACY_NS", -(10**12))
    write(repo, {"spin.py": "def lost(): pass\n"})
    assert index.run(repo)["failedFiles"] == 1
    again = index.run(repo)
    assert (again["failedFiles"], again["skippedByStamp"]) == (0, 1)
    write(repo, {"spin.py": "def lost_again(): pass\n"})
    assert index.run(repo)["failedFiles"] == 1
    assert index.run(repo, force=True)["failedFiles"] == 1
