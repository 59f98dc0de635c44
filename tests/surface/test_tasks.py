"""Tasks of memrpc itself: an index that runs behind its answer, on a file that processes share."""

from __future__ import annotations

import time

import pytest

from tests.peer import Peer, envelope
from tests.surface.conftest import command

ABLE = envelope({"extensions": {"io.modelcontextprotocol/tasks": {}}})
DEADLINE_S = 60.0


@pytest.fixture
def repo(tmp_path):
    root = tmp_path / "widgets"
    root.mkdir()
    for number in range(12):
        (root / f"m{number}.py").write_text(f"def f{number}():\n    return {number}\n")
    return root


@pytest.fixture
def large(repo):
    """Enough that an index of it does not end before it is stopped."""
    body = "".join(f"def g{n}(a):\n    return g{n - 1}(a)\n" for n in range(400))
    for number in range(300):
        (repo / f"large{number}.py").write_text(f"# {number}\n{body}")
    return repo


@pytest.fixture
def serve(database):
    peers = []

    def start() -> Peer:
        peers.append(Peer(command(database, "--toolset", "work")))
        return peers[-1]

    yield start
    for peer in peers:
        peer.__exit__()


def index(peer: Peer, root, meta=ABLE) -> dict:
    arguments = {"repo": "acme/widgets", "repoPath": str(root)}
    params = {"name": "codebase-index", "arguments": arguments}
    return peer.ask_modern("tools/call", params, meta, timeout_s=30)["result"]


def task(peer: Peer, task_id: str) -> dict:
    return peer.ask_modern("tasks/get", {"taskId": task_id}, ABLE)["result"]


def ended(peer: Peer, task_id: str) -> dict:
    """The task once it has ended; clients poll as well, so there is no barrier."""
    deadline = time.monotonic() + DEADLINE_S
    while (found := task(peer, task_id))["status"] == "working":
        assert time.monotonic() < deadline, found
        time.sleep(0.05)
    return found


def is_indexing(peer: Peer) -> bool:
    params = {"name": "codebase-index", "arguments": {"repo": "acme/widgets"}}
    return peer.ask_modern("tools/call", params)["result"]["structuredContent"]["isIndexing"]


def test_an_index_is_a_task_for_who_knows_tasks(serve, repo):
    peer = serve()
    found = index(peer, repo)
    assert (found["resultType"], found["status"]) == ("task", "working")
    done = ended(peer, found["taskId"])
    assert done["result"]["structuredContent"]["parsedFiles"] == 12
    assert not is_indexing(peer)
    assert index(peer, repo, envelope())["structuredContent"]["totalFiles"] == 12
    assert peer.end()[0] == 0


def test_wrong_arguments_are_refused_at_once_and_make_no_task(serve, tmp_path):
    found = index(serve(), tmp_path / "no-such-folder")
    assert found["resultType"] == "complete"
    assert found["isError"]


def test_a_result_outlives_its_process_and_is_told_by_another(serve, repo):
    first, second = serve(), serve()
    task_id = index(first, repo)["taskId"]
    done = ended(second, task_id)
    first.kill()
    assert task(second, task_id) == done
    assert task(serve(), task_id)["result"] == done["result"]


def test_a_cancelled_index_stops(serve, large):
    peer = serve()
    task_id = index(peer, large)["taskId"]
    ask = {"taskId": task_id}
    assert peer.ask_modern("tasks/cancel", ask, ABLE)["result"]["resultType"] == "complete"
    assert task(peer, task_id)["status"] == "cancelled"
    deadline = time.monotonic() + 10
    while is_indexing(peer):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_an_index_ends_with_its_server_and_its_task_says_so(serve, large):
    first, second = serve(), serve()
    task_id = index(first, large)["taskId"]
    code, seconds = first.end()
    assert (code, seconds < 2.0) == (0, True)
    failed = task(second, task_id)
    assert (failed["status"], failed["error"]["code"]) == ("failed", -32603)
    assert not is_indexing(second)
