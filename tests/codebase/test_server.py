"""Index runs of a real server: progress, cancel, kill, two servers, and an answer meanwhile."""

from __future__ import annotations

import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memrpc.app import now_us
from memrpc.codebase import status
from tests.codebase.conftest import git, write
from tests.memory_file import open_beside
from tests.peer import Peer, call, cancel, modern

FUNCTIONS = 60
CODE = "".join(
    f"def f{n}(a, b):\n    '''Word {n}.'''\n    return f{n - 1}(a) + g(b)\n"
    for n in range(FUNCTIONS)
)


@pytest.fixture
def database(tmp_path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def large(repo) -> Path:
    """Enough to keep two processes busy for a second or more."""
    return write(repo, {f"p{n // 40}/m{n}.py": f"# {n}\n{CODE}" for n in range(240)})


def served(database: Path, **environment: str) -> Peer:
    command = (sys.executable, "-m", "memrpc", "serve", "--db", str(database))
    return Peer(command, env=environment)


def order(root: Path, **more) -> dict:
    return {"repo": "acme/widgets", "repoPath": str(root), **more}


def structured(answer: dict) -> dict:
    result = answer["result"]
    assert not result["isError"], result
    return result["structuredContent"]


def children(process: subprocess.Popen) -> list[int]:
    """Every descendant of a process."""
    found, waiting = [], [process.pid]
    while waiting:
        parent = waiting.pop()
        for task in Path(f"/proc/{parent}/task").glob("*/children"):
            waiting += map(int, task.read_text().split())
        found.append(parent)
    return found[1:]


def is_running(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2][:3]
    except OSError:
        return False


def wait_for_progress(peer: Peer) -> None:
    """Until a run has told some progress."""
    while not any(each.get("method") == "notifications/progress" for each in peer.notices):
        peer.notices += peer.receive(30)


def symbols(database: Path) -> int:
    """What a reader sees, once every table was checked."""
    db = open_beside(database)
    try:
        assert db.execute("PRAGMA integrity_check").get == "ok"
        for table in ("code_words", "code_grams"):
            db.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 0)")
        return db.execute(
            "SELECT count(*) FROM code_symbols AS s JOIN code_files AS f ON f.id = s.id >> 18 "
            "WHERE f.state = 'live'"
        ).get
    finally:
        db.close()


def test_h25_progress_rises_in_files_and_ends_at_its_total(database, large):
    with served(database) as peer:
        peer.handshake()
        peer.send(call("i", "codebase-index", order(large), meta={"progressToken": "t"}))
        report = structured(peer.answer("i", 60))
        told = [n["params"] for n in peer.notices if n.get("method") == "notifications/progress"]
    done = [each["progress"] for each in told]
    assert done == sorted(set(done))
    assert done[-1] == told[-1]["total"] == report["totalFiles"] == 240
    assert len(done) > 2


@pytest.mark.parametrize("era", ["handshake", "envelope"])
def test_h29_a_cancelled_run_stops_at_once_and_leaves_the_index_whole(database, large, era):
    with served(database) as peer:
        peer.handshake()
        small = write(large.parent / "small", {"a.py": "def kept(): pass\n"})
        peer.send(call("first", "codebase-index", order(small)))
        structured(peer.answer("first", 30))
        if era == "handshake":
            peer.send(call("i", "codebase-index", order(large), meta={"progressToken": "t"}))
        else:
            key = "io.modelcontextprotocol/"
            meta = {f"{key}protocolVersion": "2026-07-28", f"{key}clientCapabilities": {},
                    "progressToken": "t"}  # fmt: skip
            given = {"name": "codebase-index", "arguments": order(large)}
            peer.send(modern("i", "tools/call", given, meta))
        wait_for_progress(peer)
        running = children(peer.process)
        assert running
        started = time.monotonic()
        peer.send(cancel("i"))
        while any(map(is_running, running)):
            assert time.monotonic() - started < 2, "the run went on after its cancel"
        took = time.monotonic() - started
        assert took < 0.2 * max(1.0, os.getloadavg()[0] / 2), took
        kept = {"name": "codebase-read", "arguments": {"repo": "acme/widgets", "name": "kept"}}
        answer = structured(peer.ask("tools/call", kept))
        assert answer["definition"]["file"] == "a.py"
        again = peer.ask("tools/call", {"name": "codebase-index", "arguments": order(large)}, 90)
        assert structured(again)["totalFiles"] == 240


def test_a_server_that_a_git_hook_started_lists_the_folder_that_it_is_asked_for(database, repo):
    other = write(repo.parent / "other", {"x.py": "x = 1\n", "y.py": "y = 1\n"})
    write(repo, {"asked.py": "def asked(): pass\n"})
    for folder in (other, repo):
        git(folder, "init", "-q")
    with served(database, GIT_DIR=str(other / ".git"), GIT_WORK_TREE=str(other)) as peer:
        peer.handshake()
        peer.send(call("i", "codebase-index", order(repo)))
        answer = structured(peer.answer("i", 60))
    assert [answer["totalFiles"], answer["totalSymbols"]] == [1, 1]


def test_two_servers_never_index_one_repository_at_once(database, large):
    with served(database) as one, served(database) as two:
        one.handshake()
        two.handshake()
        one.send(call("i", "codebase-index", order(large), meta={"progressToken": "t"}))
        wait_for_progress(one)
        refused = two.ask("tools/call", {"name": "codebase-index", "arguments": order(large)}, 30)
        error = json.loads(refused["result"]["content"][0]["text"])["error"]
        assert (error["code"], error["details"]["reason"]) == ("unavailable", "INDEX_IN_PROGRESS")
        status = structured(two.ask("tools/call", {
            "name": "codebase-index", "arguments": {"repo": "acme/widgets"}}))  # fmt: skip
        assert status["isIndexing"] is True
        assert status["progress"]["total"] == 240
        structured(one.answer("i", 90))


def test_a_server_that_is_killed_takes_its_run_with_it(database, large):
    with served(database) as peer:
        peer.handshake()
        peer.send(call("i", "codebase-index", order(large), meta={"progressToken": "t"}))
        wait_for_progress(peer)
        running = children(peer.process)
        os.kill(peer.process.pid, signal.SIGKILL)
        started = time.monotonic()
        while any(map(is_running, running)):
            assert time.monotonic() - started < 10, "the run outlived its server"
            time.sleep(0.01)  # Other processes' ends; no barrier exists.


def test_the_server_answers_while_it_indexes(database, large):
    with served(database) as peer:
        peer.handshake()
        peer.send(call("i", "codebase-index", order(large), meta={"progressToken": "t"}))
        wait_for_progress(peer)
        taken = []
        for _ in range(100):
            started = time.monotonic()
            assert "result" in peer.ask("ping")
            taken.append(time.monotonic() - started)
        structured(peer.answer("i", 90))
    assert statistics.median(taken) < 0.05


def start(database: Path, root: Path, *, force: bool) -> subprocess.Popen:
    words = {"database": str(database), "owner": "acme", "repo": "widgets", "root": str(root)}
    child = subprocess.Popen(
        [sys.executable, "-m", "memrpc.codebase.indexer"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    child.stdin.write(json.dumps({**words, "force": force}).encode() + b"\n")
    child.stdin.flush()
    return child


def finish(child: subprocess.Popen) -> dict:
    said = [json.loads(line) for line in child.stdout]
    child.stdin.close()
    child.stdout.close()
    child.wait(20)
    return said[-1] if said else {}


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the lease runs out by itself")
def test_the_run_after_one_that_was_killed_need_not_wait_for_its_lease(database, large):
    child = start(database, large, force=False)
    assert b"lease" in child.stdout.readline()
    refused = finish(start(database, large, force=False))
    assert refused["refusal"][3]["reason"] == "INDEX_IN_PROGRESS"
    os.killpg(child.pid, signal.SIGKILL)
    finish(child)
    db = open_beside(database)
    assert not status.status(db, "acme", "widgets", now=now_us()).is_indexing
    db.close()
    assert "report" in finish(start(database, large, force=False))


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_twenty_kills_at_random_moments_leave_the_index_whole(database, repo):
    write(repo, {f"m{n}.py": f"# {n}\n{CODE}" for n in range(80)})
    finish(start(database, repo, force=False))
    whole = symbols(database)
    assert whole == 80 * FUNCTIONS
    started = time.monotonic()
    finish(start(database, repo, force=True))
    length = time.monotonic() - started
    chance = random.Random(6)
    for _ in range(20):
        child = start(database, repo, force=True)
        time.sleep(chance.random() * length)  # A random moment is the point.
        os.killpg(child.pid, signal.SIGKILL)
        finish(child)
        assert symbols(database) == whole
    assert "report" in finish(start(database, repo, force=True))
    assert symbols(database) == whole
    db = open_beside(database)
    assert db.execute("SELECT count(*) FROM code_files").get == 80
    assert db.execute("SELECT count(*) FROM code_symbols").get == whole
    db.close()


def test_a_run_ends_when_whoever_asked_is_gone(database, large):
    child = start(database, large, force=False)
    assert child.stdout.readline()
    child.stdin.close()
    assert child.wait(20) != 0
    child.stdout.close()
