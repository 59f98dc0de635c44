"""The engine on the wire: starting, answering in turn and in flight, carrying a megabyte, ending.

Each start is a process of its own.  For the traffic one process of each contender lives through
all rounds, and each round asks every one of them in turn; client and servers share one core.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from .client import INITIALIZED, Server, call, check_answers, initialize, one_core, request
from .contenders import Contender, all_contenders
from .findings import Findings, Grid, shown
from .promises import judge
from .rounds import Sample, Table, interleave

IN_TURN = 200
IN_FLIGHT = 1000
LARGE = 5
SETTLE_S = 0.4  # until what a server does after its first answers is done
SMALL_ARGUMENTS = {"text": "The quick brown fox", "times": 2, "tags": ["a", "b"]}
SMALL_ANSWER = "The quick brown foxThe quick brown fox"
LARGE_ARGUMENTS = {"text": "0123456789abcdef" * 64, "times": 1024}
TITLES = {
    "initialize": "spawn to initialize answered, ms",
    "list_tools": "spawn to tools/list answered, ms",
    "cpu_to_idle": "CPU of that life, ms",
    "resident": "resident at rest, KiB",
    "exit": "end of input to exit, ms",
    "ping": "ping in turn, us",
    "pings_in_flight": "ping of 1000 in flight, us",
    "call": "small call in turn, us",
    "calls_in_flight": "small call of 1000 in flight, us",
    "large_result": "result of 1 MB, us",
}


def run(*, rounds: int) -> Findings:
    table = Table()
    with tempfile.TemporaryDirectory() as folder:
        contenders = all_contenders(Path(folder) / "bench.db")
        measure_starts(table, contenders, rounds=rounds)
        measure_traffic(table, contenders, rounds=rounds)
    grids = [_figures(table, contenders), _ratios(table, contenders)]
    verdicts = list(judge(table, TITLES))
    return Findings("wire", "The engine on the wire", grids, verdicts, table.samples)


def _figures(table: Table, contenders: Mapping[str, Contender]) -> Grid:
    header = ["median", *(f"{key}: {each.title}" for key, each in contenders.items())]
    rows = [
        [title, *(shown(table.median(key, metric)) for key in contenders)]
        for metric, title in TITLES.items()
    ]
    return Grid("Figures", header, rows, _NOTE)


def _ratios(table: Table, contenders: Mapping[str, Contender]) -> Grid:
    header = ["cost as a multiple of B's", *contenders]
    rows = [
        [title.rpartition(",")[0], *(shown(table.ratio(metric, key, "B")) for key in contenders)]
        for metric, title in TITLES.items()
    ]
    return Grid("Ratios", header, rows)


_NOTE = (
    "B and C answer without validating anything; B reads and writes a line at a time, C whatever "
    "one read brings. S runs the same tool on the official SDK's low-level server, which does not "
    "validate arguments either. memrpc validates every call against the tool's schema. The client "
    "and the servers share one core once they are started."
)


def measure_starts(table: Table, contenders: Mapping[str, Contender], *, rounds: int) -> None:
    interleave(table, contenders, lambda key: start(contenders[key]), rounds=rounds)


def start(contender: Contender) -> Sample:
    """From spawn to answers, to rest, to the end of the process; milliseconds and KiB."""
    with Server(contender.command) as server:
        check_answers(server.ask(initialize()), ["init"])
        initialized_at = time.perf_counter()
        tools = server.ask(INITIALIZED + request(1, "tools/list"))
        listed_at = time.perf_counter()
        assert json.loads(tools)["result"]["tools"]
        time.sleep(SETTLE_S)
        resident = server.resident_kib()
        exit_s, cpu_s = server.end()
        assert server.process.returncode == 0, server.process.returncode
    return {
        "initialize": (initialized_at - server.spawned_at) * 1000,
        "list_tools": (listed_at - server.spawned_at) * 1000,
        "resident": resident,
        "exit": exit_s * 1000,
        "cpu_to_idle": cpu_s * 1000,
    }


def measure_traffic(table: Table, contenders: Mapping[str, Contender], *, rounds: int) -> None:
    with one_core(), contextlib.ExitStack() as stack:
        servers = {
            key: stack.enter_context(Server(contender.command))
            for key, contender in contenders.items()
        }
        for server in servers.values():
            check_answers(server.ask(initialize()), ["init"])
            server.write(INITIALIZED)
        time.sleep(SETTLE_S)
        for metric, (measure, needs_echo) in TRAFFIC.items():
            keys = [key for key in servers if contenders[key].has_echo or not needs_echo]
            interleave(
                table,
                keys,
                lambda key, metric=metric, measure=measure: {metric: measure(servers[key])},
                rounds=rounds,
            )


def ping_in_turn(server: Server) -> float:
    """Microseconds a round trip, median."""
    return _in_turn(server, [request(n, "ping") for n in range(IN_TURN)])


def call_in_turn(server: Server) -> float:
    """Microseconds a validated call, median."""
    lines = [call(n, "echo", SMALL_ARGUMENTS) for n in range(IN_TURN)]
    return _in_turn(server, lines, SMALL_ANSWER)


def _in_turn(server: Server, lines: list[bytes], text: str | None = None) -> float:
    times, answers = [], []
    for line in lines:
        started = time.perf_counter()
        answer = server.ask(line)
        times.append(time.perf_counter() - started)
        answers.append(answer)
    _check(b"".join(answers), len(lines), text)
    return statistics.median(times) * 1e6


def pings_in_flight(server: Server) -> float:
    """Microseconds a ping, a thousand in flight."""
    return _in_flight(server, [request(n, "ping") for n in range(IN_FLIGHT)])


def calls_in_flight(server: Server) -> float:
    """Microseconds a validated call, a thousand in flight."""
    lines = [call(n, "echo", SMALL_ARGUMENTS) for n in range(IN_FLIGHT)]
    return _in_flight(server, lines, SMALL_ANSWER)


def _in_flight(server: Server, lines: list[bytes], text: str | None = None) -> float:
    block = b"".join(lines)
    started = time.perf_counter()
    answers = server.exchange(block, len(lines))
    elapsed = time.perf_counter() - started
    _check(answers, len(lines), text)
    return elapsed / len(lines) * 1e6


def _check(answers: bytes, count: int, text: str | None) -> None:
    """Every request answered; ``text`` is what each call had to return."""
    results = [message["result"] for message in check_answers(answers, range(count))]
    if text is not None:
        assert all(result["content"][0]["text"] == text for result in results), results[0]


def large_result(server: Server) -> float:
    """Microseconds for a result of one megabyte, median."""
    times = []
    for n in range(LARGE):
        line = call(n, "echo", LARGE_ARGUMENTS)
        started = time.perf_counter()
        answer = server.ask(line)
        times.append(time.perf_counter() - started)
        (message,) = check_answers(answer, [n])
        assert len(message["result"]["content"][0]["text"]) == 1024 * 1024
    return statistics.median(times) * 1e6


TRAFFIC: Mapping[str, tuple[Callable[[Server], float], bool]] = {
    "ping": (ping_in_turn, False),
    "pings_in_flight": (pings_in_flight, False),
    "call": (call_in_turn, True),
    "calls_in_flight": (calls_in_flight, True),
    "large_result": (large_result, True),
}
"""Metric -> how to measure it, and whether it needs the echo tool."""
