"""Indexing without being asked: at start, and when files change."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

import anyio
import pytest

from memrpc.workers.freshness import Freshness, order_of
from memrpc.workers.indexing import IndexOrder
from tests.codebase.conftest import git, write
from tests.peer import Peer

SOON_S = 30.0


def served(database: Path, folder: Path, wish: str) -> Peer:
    words = ("serve", "--db", str(database), "--code-index", wish)
    return Peer((sys.executable, "-m", "memrpc", *words), cwd=folder)


def ask(peer: Peer, **arguments) -> dict:
    given = {"name": "codebase-read", "arguments": {"repo": "acme/widgets", **arguments}}
    return peer.ask("tools/call", given, 30)["result"]


def wait_until_found(peer: Peer, name: str) -> None:
    """Until another process's run has brought a name in; no barrier reaches that far."""
    deadline = time.monotonic() + SOON_S
    while ask(peer, name=name)["isError"]:
        assert time.monotonic() < deadline, f"{name} never came"
        time.sleep(0.1)


def add(peer: Peer, folder: Path, path: str, name: str) -> None:
    """Write a function into a watched folder, and see it come."""
    write(folder, {path: f"def {name}(): pass\n"})
    wait_until_found(peer, name)


@pytest.fixture
def checkout(repo) -> Path:
    write(repo, {"a.py": "def first(): pass\n"})
    git(repo, "init", "-q")
    git(repo, "remote", "add", "origin", "https://example.com/acme/widgets.git")
    return repo


def test_nothing_is_indexed_unasked(checkout, tmp_path):
    with served(tmp_path / "memory.db", checkout, "asked") as peer:
        peer.handshake()
        assert ask(peer, name="first")["isError"]


def test_a_server_indexes_its_folder_at_start_where_it_shall(checkout, tmp_path):
    with served(tmp_path / "memory.db", checkout, "start") as peer:
        peer.handshake()
        wait_until_found(peer, "first")


def test_changed_files_are_indexed_within_seconds_where_they_are_watched(checkout, tmp_path):
    with served(tmp_path / "memory.db", checkout, "watch") as peer:
        peer.handshake()
        wait_until_found(peer, "first")
        add(peer, checkout, "b.py", "second")
        add(peer, checkout, "a.py", "third")
        assert ask(peer, name="first")["isError"]


def test_a_folder_that_goes_is_watched_again_when_it_is_back(checkout, tmp_path):
    place = {"repoPath": str(checkout), "repo": "acme/widgets"}
    with served(tmp_path / "memory.db", tmp_path, "watch") as peer:
        peer.handshake()
        peer.ask("tools/call", {"name": "codebase-index", "arguments": place}, 30)
        shutil.rmtree(checkout)
        peer.wait_for_stderr(b"watch_ended", SOON_S)
        assert not ask(peer, name="first")["isError"]
        write(checkout, {"a.py": "def first(): pass\n"})
        peer.ask("tools/call", {"name": "codebase-index", "arguments": place}, 30)
        add(peer, checkout, "b.py", "second")


def test_a_folder_that_takes_the_place_of_another_is_watched(checkout, tmp_path):
    with served(tmp_path / "memory.db", checkout, "watch") as peer:
        peer.handshake()
        wait_until_found(peer, "first")
        add(peer, checkout, "b.py", "second")
        clone = tmp_path / "clone"
        write(clone, {"c.py": "def third(): pass\n"})
        checkout.rename(tmp_path / "moved")
        clone.rename(checkout)
        wait_until_found(peer, "third")
        add(peer, checkout, "d.py", "fourth")


@pytest.mark.parametrize("root", ["gone", "."])
def test_a_folder_that_cannot_be_watched_or_indexed_does_no_harm(tmp_path, root):
    async def run(order, progress):
        raise OSError("no more processes")

    async def go():
        told = anyio.Event()
        said = []

        def log(_, event, **more):
            said.append(event)
            told.set()

        freshness = Freshness(run, log, at_start=None, watches=True)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(freshness.serve)
            await anyio.wait_all_tasks_blocked()
            freshness.note(IndexOrder("acme", "widgets", str(tmp_path / root)))
            with anyio.fail_after(10):
                await told.wait()
            tasks.cancel_scope.cancel()
        return said

    assert anyio.run(go) == ["watch_ended" if root == "gone" else "index_refused"]


def test_a_home_is_never_indexed_unasked(tmp_path):
    made = []
    assert order_of((None, tmp_path, tmp_path / "x"), tmp_path, made.append) is None
    assert made == [tmp_path / "x"]
    assert order_of((Path("/"),), None, made.append) is None
    assert len(made) == 1
