"""Section G again: what stdin, stdout and stderr may be, and the fallback that serves them all."""

from __future__ import annotations

import itertools
import os
import pty
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from tests.peer import (
    FIXTURE,
    INITIALIZED,
    ROOT,
    Peer,
    call,
    cancel,
    initialize,
    modern,
    request,
    to_line,
)

THREADS = (*FIXTURE, "threads")
SCRIPT = [
    initialize("2025-11-25", "i"),
    INITIALIZED,
    request(1, "ping"),
    call(2, "slow"),
    call(3, "big", {"chars": 300_000}),
    modern(4, "tools/list"),
]
IDS = {"i", 1, 2, 3, 4}


def judged(output: bytes) -> set[object]:
    """The ids answered in ``output``, each line held to the oracle."""
    from tests.oracle import Oracle

    oracle = Oracle()
    for message in SCRIPT:
        oracle.sent(message)
    lines = output.splitlines(keepends=True)
    return {message["id"] for line in lines for message in oracle.judge(line)}


@pytest.fixture
def script_file(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_bytes(b"".join(map(to_line, SCRIPT)))
    return path


@pytest.mark.parametrize("command", [FIXTURE, THREADS], ids=["callbacks", "threads"])
def test_g87_a_regular_file_as_stdin_is_served_to_its_end(script_file: Path, command):
    with script_file.open("rb") as source:
        done = subprocess.run(
            command, stdin=source, capture_output=True, cwd=ROOT, timeout=30, check=False
        )
    assert judged(done.stdout) == IDS
    assert done.returncode == 0


def test_g87_a_regular_file_as_stdout_gets_every_line(script_file: Path, tmp_path: Path):
    target = tmp_path / "out.jsonl"
    with script_file.open("rb") as source, target.open("wb") as out:
        done = subprocess.run(
            FIXTURE,
            stdin=source,
            stdout=out,
            stderr=subprocess.PIPE,
            cwd=ROOT,
            timeout=30,
            check=False,
        )
    assert judged(target.read_bytes()) == IDS
    assert done.returncode == 0


def test_g87_a_pipe_in_and_a_file_out(tmp_path: Path):
    target = tmp_path / "out.jsonl"
    with target.open("wb") as out, Peer(stdout=out) as peer:
        peer.send(*SCRIPT)
        code, _ = peer.end()
    assert judged(target.read_bytes()) == IDS
    assert code == 0


def test_g87_sockets_as_both_ends_leave_the_peers_end_blocking():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen(
            FIXTURE, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, cwd=ROOT
        )
        try:
            assert os.get_blocking(theirs.fileno())
            ours.sendall(b"".join(map(to_line, SCRIPT)))
            ours.shutdown(socket.SHUT_WR)
            theirs.close()
            output = b"".join(iter(lambda: ours.recv(1 << 16), b""))
            assert process.wait(10) == 0
        finally:
            process.kill()
            process.stderr.close()
    assert judged(output) == IDS


def test_g87_a_terminal_serves_both_ways():
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        FIXTURE, stdin=terminal, stdout=terminal, stderr=subprocess.PIPE, cwd=ROOT
    )
    os.close(terminal)
    try:
        lines = (initialize(), request(1, "ping"), call(2, "echo", {"text": "x"}))
        os.write(controller, b"".join(map(to_line, lines)))
        seen = b""
        deadline = time.monotonic() + 10
        while b'"id":2,"result"' not in seen:
            assert time.monotonic() < deadline
            seen += os.read(controller, 1 << 16)
        assert b'"id":1,"result":{}' in seen
        os.write(controller, b"\x04")  # End of input, as a terminal says it.
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.stderr.close()
        os.close(controller)


CLOSED = [set(c) for n in (1, 2, 3) for c in itertools.combinations((0, 1, 2), n)]


@pytest.mark.parametrize("closed", CLOSED, ids=str)
def test_g87_descriptors_that_are_not_there(closed: set[int]):
    """Started without some of the three, the server serves with the rest, or ends at once."""
    redirect = " ".join(f"{fd}{'<' if fd == 0 else '>'}&-" for fd in closed)
    script = b"".join(map(to_line, SCRIPT))
    with tempfile.TemporaryFile() as errors:
        done = subprocess.run(
            ["sh", "-c", f"exec {' '.join(FIXTURE)} {redirect}"],
            input=script if 0 not in closed else None,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=ROOT,
            timeout=30,
            check=False,
        )
        errors.seek(0)
        assert b"Traceback" not in errors.read()
    assert done.returncode == 0
    assert judged(done.stdout) == (set() if closed & {0, 1} else IDS)


@pytest.mark.parametrize("command", [FIXTURE, THREADS], ids=["callbacks", "threads"])
def test_g88_pipes_that_do_not_block_lose_nothing(command):
    read_in, write_in = os.pipe()
    read_out, write_out = os.pipe()
    os.set_blocking(read_in, False)
    os.set_blocking(write_out, False)
    process = subprocess.Popen(
        command, stdin=read_in, stdout=write_out, stderr=subprocess.PIPE, cwd=ROOT
    )
    os.close(read_in)
    os.close(write_out)
    try:
        time.sleep(0.3)  # The server finds an empty pipe that does not block.
        os.write(write_in, b"".join(map(to_line, SCRIPT)))
        time.sleep(0.3)  # And then one that is full.
        os.close(write_in)
        output = b"".join(iter(lambda: os.read(read_out, 1 << 16), b""))
        assert process.wait(10) == 0
    finally:
        process.kill()
        process.stderr.close()
        os.close(read_out)
    assert judged(output) == IDS


# The fallback on pipes


@pytest.fixture
def threaded():
    with Peer(THREADS) as peer:
        peer.handshake()
        yield peer


def test_threads_serve_both_eras_cancel_and_end(threaded: Peer):
    threaded.send(call("w", "wait", meta={"progressToken": 1}))
    assert threaded.receive()[0]["params"]["progress"] == 1
    threaded.send(cancel("w"))
    threaded.wait_for_stderr(b"wait_stopped")
    threaded.send(*(call(n, "echo", {"text": str(n)}) for n in range(500)))
    assert [threaded.answer(n)["id"] for n in range(500)] == list(range(500))
    threaded.prove_alive()
    code, seconds = threaded.end()
    assert (code, seconds < 1.0) == (0, True)


@pytest.mark.parametrize("command", [FIXTURE, THREADS], ids=["callbacks", "threads"])
def test_the_end_waits_for_the_last_byte_and_no_longer(command):
    best = float("inf")
    for _ in range(3):
        with Peer(command) as peer:
            peer.handshake()
            peer.send(*(call(n, "big", {"chars": 100_000}) for n in range(30)))
            code, seconds = peer.end()
            assert {m["id"] for m in peer.rest()} == set(range(30))
            assert code == 0
            best = min(best, seconds)
        if best < 1.0:
            break
    assert best < 1.0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_threads_end_at_a_signal_with_a_full_pipe(number):
    best = float("inf")
    for _ in range(3):
        with Peer(THREADS, reads=False) as peer:
            peer.send(initialize(), call(1, "wait"))
            peer.send(*(call(n + 2, "big", {"chars": 500_000}) for n in range(20)))
            peer.send(call("c", "chatter", {"lines": 1}))
            peer.wait_for_stderr(b"chatter")
            peer.signal(number)
            code, seconds = peer.wait()
            assert code in {0, 128 + number, -number}
            best = min(best, seconds)
        if best < 2:
            break
    assert best < 2


def test_threads_end_when_the_reader_is_gone():
    with Peer(THREADS, reads=False) as peer:
        peer.send(initialize())
        peer.process.stdout.close()
        for n in range(3):
            peer.send(call(n, "echo", {"text": "x"}))
        code, seconds = peer.wait()
        assert (code, seconds < 2) == (0, True)
        assert b"Traceback" not in peer.stderr


def test_threads_act_on_a_cancel_while_nobody_reads():
    with Peer(THREADS, reads=False) as peer:
        peer.send(initialize("2025-11-25", "i"), call("w", "wait"))
        peer.send(*(call(n, "echo", {"text": "x" * 100}) for n in range(5000)))
        peer.send(cancel("w"))
        peer.wait_for_stderr(b"wait_stopped")
        peer.start_reading()
        assert all(peer.answer(n) for n in range(5000))
