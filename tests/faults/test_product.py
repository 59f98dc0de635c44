"""The failures that a fixture cannot stand in for: the program itself, with its database."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

from tests.peer import ROOT, Peer, call, cancel, initialize, modern, request, to_line

LIMIT_S = 2.0


def command(folder) -> tuple[str, ...]:
    database = str(folder / "memory.db")
    return (sys.executable, "-m", "memrpc", "serve", "--toolset", "core", "--db", database)


@pytest.fixture
def product(tmp_path):
    with Peer(command(tmp_path)) as peer:
        peer.handshake()
        yield peer


def event(n: int, text: str = "Ann moved to Lyon") -> dict:
    return {"event_id": f"e{n}", "role": "user", "source": "ann", "text": f"{text} {n}"}


def test_a01_b19_c25_garbage_of_every_kind_leaves_the_product_alive(product: Peer):
    for text in (
        b"garbage",
        b"[]",
        b"42",
        b'{"a":NaN}',
        b"\xff\xfe",
        b'{"jsonrpc":"2.0","id":null}',
    ):
        product.write_unseen(text + b"\n")
        assert "error" in product.receive()[0]
    product.prove_alive()


def test_b40_a_burst_of_writes_is_all_there(product: Peer):
    product.send(*(call(n, "memory_record", event(n)) for n in range(50)))
    assert all(not product.answer(n, 30)["result"]["isError"] for n in range(50))
    product.send(*(call(n, "memory_record", event(n)) for n in range(50)))  # Retried.
    assert all(not product.answer(n, 30)["result"]["isError"] for n in range(50))


def test_f58_a_cancelled_call_of_the_product_is_not_heard_of_again(product: Peer):
    for n in range(20):
        product.send(call(n, "memory_record", event(n)), cancel(n))
        product.send(call(f"r{n}", "memory_recall", {"query": "Lyon"}), cancel(f"r{n}"))
    product.prove_alive()


def test_f63_thousands_of_calls_are_answered_and_pings_between_them(product: Peer):
    product.send(call("seed", "memory_record", event(0)))
    product.answer("seed")
    product.send(*(call(n, "memory_recall", {"query": "Lyon"}) for n in range(1000)))
    started = time.monotonic()
    assert product.ask("ping")["result"] == {}
    assert time.monotonic() - started < 3
    assert all("result" in product.answer(n, 60) for n in range(1000))


STATES = {
    "nothing": [],
    "a session": [initialize()],
    "writes": [initialize(), *(call(n, "memory_record", event(n)) for n in range(30))],
    "modern reads": [
        modern(n, "tools/call", {"name": "memory_recall", "arguments": {"query": "x"}})
        for n in range(30)
    ],
}


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("how", ["eof", "SIGTERM", "SIGINT", "SIGHUP"])
def test_g80_g81_the_product_ends_in_time(tmp_path, name: str, how: str):
    best = float("inf")
    for _ in range(3):
        with Peer(command(tmp_path)) as peer:
            assert "result" in peer.ask("ping")
            peer.send(*STATES[name])
            if how == "eof":
                code, seconds = peer.end()
            else:
                peer.signal(getattr(signal, how))
                code, seconds = peer.wait()
            number = 0 if how == "eof" else getattr(signal, how)
            assert code in {0, 128 + number, -number}
            assert b"Traceback" not in peer.stderr or b"KeyboardInterrupt" in peer.stderr
            if how == "eof":
                assert len(peer.rest()) == len(STATES[name])
            best = min(best, seconds)
        if best < LIMIT_S:
            break
    assert best < LIMIT_S


def test_b67_dev_null_as_stdin_ends_the_product_at_once(tmp_path):
    done = subprocess.run(
        command(tmp_path),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        cwd=ROOT,
        timeout=20,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"Traceback" not in done.stderr


def test_b52_a_record_in_many_small_writes(product: Peer):
    line = to_line(call(1, "memory_record", event(1, "x" * 70_000)))
    for start in range(0, len(line), 1000):
        product.write_unseen(line[start : start + 1000])
    product.oracle.sent(call(1, "memory_record"))
    assert product.answer(1)["result"]["isError"] is False


def test_c32_null_arguments_are_an_error_result_that_names_what_is_missing(product: Peer):
    product.send(request(1, "tools/call", {"name": "memory_record", "arguments": None}))
    result = product.answer(1)["result"]
    assert result["isError"] is True
    assert "text" in result["content"][0]["text"]


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be deleted there")
@pytest.mark.parametrize("database", ["memory.db", "whole"])
def test_a_server_whose_folder_was_deleted_refuses_nothing_that_names_what_it_means(
    tmp_path, database: str
):
    worktree = tmp_path / "worktree"
    worktree.mkdir()
    path = str(tmp_path / "memory.db") if database == "whole" else database
    script = f'rmdir "{worktree}" && exec "$@"'
    serve = (sys.executable, "-m", "memrpc", "serve", "--db", path)
    environment = {"PYTHONPATH": str(ROOT)}
    with Peer(("sh", "-c", script, "sh", *serve), cwd=worktree, env=environment) as peer:
        peer.handshake()
        peer.send(call(1, "memory-read", {"query": "x", "repo": "acme/harbor"}))
        peer.send(call(2, "memory-read", {"query": "x"}))
        named, unnamed = (peer.answer(each)["result"] for each in (1, 2))
        assert named["isError"] == (database != "whole")
        assert "internal" not in named["content"][0]["text"]
        wanted = "send repo as owner/name" if database == "whole" else "name a whole path"
        assert wanted in unnamed["content"][0]["text"]


def test_the_lowest_level_logs_who_came_and_each_message_without_what_it_says(tmp_path):
    with Peer((*command(tmp_path), "--log-level", "debug")) as peer:
        peer.handshake("2025-06-18")
        peer.send(call("a", "memory_record", event(1, "The secret is platypus")))
        assert not peer.answer("a")["result"]["isError"]
        peer.send(call("b", "x" * 500))
        assert "error" in peer.answer("b")
        peer.write_unseen(b"platypus\n")
        assert "error" in peer.receive()[0]
        assert peer.end()[0] == 0
        peer.wait_for_stderr(b'"ended"')
    records = [json.loads(line) for line in peer.stderr.splitlines()]
    assert [each["event"] for each in (records[0], records[-1])] == ["started", "ended"]
    assert records[0]["database"] == str(tmp_path / "memory.db")
    told = [{**each, "ts": 0, "bytes": 0} for each in records[1:-1]]
    plain = {"ts": 0, "level": "debug", "bytes": 0}
    came, went = {**plain, "event": "received"}, {**plain, "event": "sent"}
    opened = {"method": "initialize", "id": "init-1", "version": "2025-06-18", "client": "peer"}
    assert {**came, **opened} in told
    assert {**came, "method": "tools/call", "id": "a", "tool": "memory_record"} in told
    assert {**went, "id": "a"} in told
    assert {**came, "method": "tools/call", "id": "b", "tool": "x" * 80} in told
    assert {**went, "id": "b", "code": -32602} in told
    assert any("malformed" in each for each in told)
    assert b"platypus" not in peer.stderr
