"""Section G of the catalogue of stdio failures: pipes, process, shutdown."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
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

LIMIT_S = 2.0


def best_of(tries: int, run) -> float:
    """The shortest of several runs: a busy machine may delay one."""
    best = float("inf")
    for _ in range(tries):
        best = min(best, run())
        if best < LIMIT_S:
            break
    return best


def test_g76_a_stderr_that_nobody_reads_blocks_nothing():
    with Peer(drains_stderr=False) as peer:
        peer.handshake()
        peer.send(call(1, "chatter", {"lines": 2000}))  # 2 MB
        assert peer.answer(1)["result"]["isError"] is False
        peer.prove_alive()
        code, seconds = peer.end()
        assert (code, seconds < LIMIT_S) == (0, True)


def test_g77_an_answer_is_visible_while_stdin_stays_open(peer: Peer):
    peer.send(initialize("2025-11-25", 1))
    assert peer.receive()[0]["id"] == 1
    for n in range(20):
        peer.send(request(n + 2, "ping"))
        assert peer.receive()[0]["id"] == n + 2


def test_g78_many_writers_tear_no_frame(session: Peer):
    calls = [
        call(f"f{n}", "flood", {"count": 300}, meta={"progressToken": f"t{n}"}) for n in range(10)
    ]
    big = [call(f"b{n}", "big", {"chars": 300_000}) for n in range(5)]
    session.send(*calls, *big, *(call(f"s{n}", "slow") for n in range(10)))
    for n in range(10):
        assert session.answer(f"s{n}", 30)
        assert session.answer(f"f{n}", 30)
    assert all(
        len(session.answer(f"b{n}")["result"]["content"][0]["text"]) == 300_000 for n in range(5)
    )


def test_g79_requests_in_flight_at_the_end_are_finished_and_flushed(peer: Peer):
    peer.handshake()
    peer.send(*(call(n, "echo", {"text": "x" * 1000}) for n in range(2000)))
    peer.send(*(call(f"s{n}", "slow", {"steps": 10, "delay_s": 0.02}) for n in range(20)))
    code, seconds = peer.end()
    ids = {m["id"] for m in peer.rest()}
    assert ids == {*range(2000), *(f"s{n}" for n in range(20))}
    assert code == 0
    assert seconds < 5


def test_g79_what_waits_for_a_reader_at_the_end_still_arrives():
    with Peer(reads=False) as peer:
        peer.send(initialize("2025-11-25", "i"), INITIALIZED)
        peer.send(*(call(n, "echo", {"text": "x" * 100}) for n in range(3000)))
        peer.wait_for_stderr(b"")
        peer.process.stdin.close()
        time.sleep(0.7)  # A reader that is late, but within the grace.
        peer.start_reading()
        assert len(peer.rest()) == 3001
        assert peer.wait()[0] == 0


@pytest.mark.parametrize("tool", ["stuck", "wait", "stubborn"])
def test_g79_a_call_that_never_ends_does_not_hold_the_process(tool: str):
    def run() -> float:
        with Peer() as peer:
            peer.handshake()
            peer.send(call(1, tool, {"seconds": 60}), call(2, "echo", {"text": "x"}))
            peer.answer(2)
            code, seconds = peer.end()
            assert code == 0
            assert b"Traceback" not in peer.stderr
            return seconds

    assert best_of(3, run) < LIMIT_S


def begin_nothing(peer: Peer) -> None:
    """Close at once."""


def begin_a_ping(peer: Peer) -> None:
    peer.ask("ping")


def begin_a_session(peer: Peer) -> None:
    peer.handshake()
    peer.ask("tools/call", {"name": "echo", "arguments": {"text": "x"}})


def begin_a_call(peer: Peer) -> None:
    peer.handshake()
    peer.send(call(1, "wait", meta={"progressToken": 1}))
    peer.receive()


def begin_a_full_pipe(peer: Peer) -> None:
    peer.send(initialize("2025-11-25", "i"), INITIALIZED, call(1, "wait"))
    peer.send(*(call(n + 2, "big", {"chars": 500_000}) for n in range(20)))
    peer.send(call("c", "chatter", {"lines": 1}))
    peer.wait_for_stderr(b"chatter")


STATES = [begin_nothing, begin_a_ping, begin_a_session, begin_a_call]


@pytest.mark.parametrize("begin", STATES[:3])
def test_g80_the_end_of_input_ends_an_idle_process_quietly(begin):
    def run() -> float:
        with Peer() as peer:
            begin(peer)
            code, seconds = peer.end()
            assert (code, peer.rest()) == (0, [])
            assert b"Traceback" not in peer.stderr
            return seconds

    assert best_of(3, run) < LIMIT_S


def test_b67_dev_null_as_stdin_ends_at_once():
    started = time.monotonic()
    done = subprocess.run(
        FIXTURE, stdin=subprocess.DEVNULL, capture_output=True, cwd=ROOT, timeout=20, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert time.monotonic() - started < 5


def test_b67_a_dead_parent_is_the_end_of_input():
    """The parent dies by SIGKILL; nobody else holds the pipe."""
    code = (
        "import subprocess, sys, time\n"
        f"p = subprocess.Popen({list(FIXTURE)!r}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        f"p.stdin.write({to_line(initialize('2025-11-25', 1))!r}); p.stdin.flush()\n"
        "p.stdout.readline(); print(p.pid, flush=True); time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, cwd=ROOT)
    pid = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 10
    while is_running(pid):
        assert time.monotonic() < deadline
        time.sleep(0.02)  # Not our child: only polling tells.


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


@pytest.mark.parametrize("number", SIGNALS, ids=lambda n: n.name)
@pytest.mark.parametrize("begin", [begin_a_ping, begin_a_session, begin_a_call, begin_a_full_pipe])
def test_g81_a_signal_ends_the_process_in_time(begin, number):
    def run() -> float:
        with Peer(reads=begin is not begin_a_full_pipe) as peer:
            begin(peer)
            peer.signal(number)
            code, seconds = peer.wait()
            assert code in {0, 128 + number, -number}
            # An interrupt among the first imports is told by Python, on stderr.
            assert b"Traceback" not in peer.stderr or b"KeyboardInterrupt" in peer.stderr
            return seconds

    assert best_of(3, run) < LIMIT_S


@pytest.mark.parametrize("number", SIGNALS, ids=lambda n: n.name)
def test_g81_signals_again_and_again_end_it_too(number):
    with Peer() as peer:
        begin_a_call(peer)
        peer.send(call(2, "stuck", {"seconds": 60}))
        for _ in range(20):
            if peer.process.poll() is None:
                peer.signal(number)
            time.sleep(0.005)  # Signals that arrive while one is pending are merged.
        code, seconds = peer.wait()
        assert code in {0, 128 + number, -number}
        assert seconds < LIMIT_S * 2
        assert b"Fatal Python error" not in peer.stderr


def test_g81_a_stuck_thread_does_not_outlive_a_signal():
    def run() -> float:
        with Peer() as peer:
            peer.handshake()
            meta = {"progressToken": "t"}
            peer.send(*(call(n, "stuck", {"seconds": 60}, meta=meta) for n in range(50)))
            peer.receive()
            peer.signal(signal.SIGTERM)
            code, seconds = peer.wait(20)
            assert code in {0, 143, -15}
            return seconds

    assert best_of(3, run) < LIMIT_S


def test_g82_a_broken_pipe_ends_the_process_without_a_traceback():
    def run() -> float:
        with Peer(reads=False) as peer:
            peer.send(initialize("2025-11-25", 1), call(1, "wait"))
            peer.process.stdout.close()
            with contextlib.suppress(BrokenPipeError):
                for n in range(200_000):
                    peer.send(request(n + 2, "ping"))
            code, seconds = peer.wait()
            assert code == 0
            assert b"Traceback" not in peer.stderr
            return seconds

    assert best_of(3, run) < LIMIT_S


def test_g82_a_full_disk_behind_stdout_ends_the_process():
    with Path("/dev/full").open("wb") as full, Peer(stdout=full) as peer:
        peer.send(initialize("2025-11-25", 1))
        code, _ = peer.wait()
        assert code == 0
        assert b"Traceback" not in peer.stderr


def test_g84_stray_output_lands_on_stderr(session: Peer):
    session.send(call(1, "print"))
    assert session.answer(1)["result"]["isError"] is False
    for text in (b"stray print", b"stray write", b"stray warning", b"stray child"):
        session.wait_for_stderr(text)
    session.prove_alive()


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_stray_output_that_the_host_does_not_read_costs_lines_and_no_time(stream):
    with Peer(drains_stderr=False) as peer:
        peer.handshake()
        peer.send(call(1, "print_much", {"stream": stream}))
        assert peer.answer(1)["result"]["isError"] is False
        peer.prove_alive()
        assert os.read(peer.process.stderr.fileno(), 12) == b"stray stray "


test_b61_prints_of_libraries_stay_off_the_wire = test_g84_stray_output_lands_on_stderr


def test_g85_a_child_reads_nothing_of_the_wire(session: Peer):
    session.send(call(1, "child"), request(2, "ping"))
    assert session.answer(1)["result"]["content"][0]["text"] == ""
    assert session.answer(2)["result"] == {}


def test_g86_reading_stdin_in_a_tool_is_an_error_and_steals_nothing(session: Peer):
    session.send(call(1, "ask_stdin"), request(2, "ping"))
    assert session.answer(1)["result"]["isError"] is True
    assert session.answer(2)["result"] == {}


def test_g89_a_peer_that_dribbles_is_served(session: Peer):
    before = cpu_ticks(session)
    for byte in to_line(call(1, "echo", {"text": "x"})):
        session.write_unseen(bytes([byte]))
        time.sleep(0.003)  # The dribble is what is tested.
    session.oracle.sent(call(1, "echo"))
    assert session.answer(1)["result"]["structuredContent"] == {"text": "x"}
    assert cpu_ticks(session) - before < 50


def cpu_ticks(peer: Peer) -> int:
    fields = Path(f"/proc/{peer.process.pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def test_g89_an_idle_process_burns_nothing(session: Peer):
    session.ask("tools/call", {"name": "echo", "arguments": {"text": "x"}})
    before = cpu_ticks(session)
    time.sleep(0.5)  # Idleness is what is tested.
    assert cpu_ticks(session) - before <= 2


def test_g90_nothing_follows_the_last_answer(session: Peer):
    session.send(request("last", "ping"), modern("m", "tools/list"), cancel("none"))
    session.answer("last")
    session.answer("m")
    code, _ = session.end()
    assert (code, session.rest(), bytes(session.stderr)) == (0, [], b"")


def test_the_server_opens_no_socket(session: Peer):
    session.ask("tools/call", {"name": "echo", "arguments": {"text": "x"}})
    files = Path(f"/proc/{session.process.pid}")
    links = [str(link.readlink()) for link in (files / "fd").iterdir()]
    sockets = [link[8:-1] for link in links if link.startswith("socket:")]
    listed = (files / "net/tcp").read_text() + (files / "net/udp").read_text()
    assert not [inode for inode in sockets if f" {inode} " in listed]
