"""Recall at a hundred thousand events: is the server alive while it searches?

Three questions to one spawned ``memrpc serve``:

* ping while three slow recalls are in flight all the time;
* the first recall of a new process, from its spawn, beside I, an interpreter that imports the
  same libraries and runs an empty event loop;
* a cancel: one of three slow recalls has the searches' lane, a cheap recall waits behind them, the
  three are cancelled in one write.  From there to the answer of the cheap one is what it took to
  stop the statement, to free the lane, to serve it and to carry its answer.  The same recall on
  the idle server, a moment before, is taken off.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from .client import INITIALIZED, Server, call, initialize, notification, request
from .corpus import EVENTS, FUNCTION_WORDS, database, entries, vocabulary
from .findings import Findings, Grid, Verdict, shown
from .rounds import Table, interleave, percentile
from .venvs import ROOT

IN_FLIGHT = 3
PING_EVERY_S = 0.004
LOADED_S = 6.0
CANCELS = 120
QUESTIONS = 40
LIBRARIES = "import orjson, anyio, apsw\nasync def nothing(): pass\nanyio.run(nothing)"


def run(*, rounds: int) -> Findings:
    results = ROOT / "benchmarks" / "results"
    results.mkdir(exist_ok=True)
    path = database(results)
    table = Table()
    with Server(serve(path)) as server:
        open_session(server)
        recall(server, 0, slow_question())  # Opens the file and the lanes.
        load = measure_load(server)
        cancels = measure_cancels(server)
    measure_first_recall(table, path, rounds=rounds)
    return _findings(table, load, cancels)


def serve(path: Path, *options: str) -> tuple[str, ...]:
    return (str(Path(sys.executable).parent / "memrpc"), "serve", "--db", str(path), *options)


def open_session(server: Server) -> None:
    server.ask(initialize())
    server.write(INITIALIZED)


def recall(server: Server, id_: int, question: str) -> dict:
    """A recall's structured result; nothing else may be in flight."""
    message = json.loads(server.ask(recall_line(id_, question)))
    assert not message["result"]["isError"], message
    return message["result"]["structuredContent"]


def recall_line(id_: int | str, question: str) -> bytes:
    return call(id_, "memory_recall", {"query": question})


# What is asked


def questions() -> list[str]:
    """Questions as people ask them: words of one event, some of them in every second event."""
    chance = random.Random(7)
    texts = [entry.text for _, entry in zip(range(5_000), entries(5_000), strict=False)]
    return [_question(chance, text) for text in chance.sample(texts, QUESTIONS)]


def _question(chance: random.Random, text: str) -> str:
    words = text.lower().strip(".").split()
    content = [word for word in words if word not in FUNCTION_WORDS]
    return " ".join(["what", "about", *chance.sample(content, min(5, len(content)))])


@cache
def slow_question() -> str:
    """The thirty most common words that mean something: as slow as recall gets."""
    return " ".join(vocabulary().content_words(0, 30))


# Under load


@dataclass(slots=True)
class Load:
    """Times in milliseconds while three slow recalls were in flight, and before."""

    ping_idle: list[float] = field(default_factory=list)
    ping: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)


def measure_load(server: Server) -> Load:
    found = Load()
    for n in range(200):
        found.ping_idle.append(_timed_ping(server, f"idle-{n}"))
    sent_at = {}
    for n in range(IN_FLIGHT):
        _send_slow(server, sent_at, n)
    stop_at = time.perf_counter() + LOADED_S
    number = 0
    while time.perf_counter() < stop_at:
        number += 1
        _ping_under_load(server, f"ping-{number}", sent_at, found)
        time.sleep(PING_EVERY_S)
    while sent_at:
        sent_at.pop(json.loads(server.read_line())["id"], None)
    return found


def _timed_ping(server: Server, id_: str) -> float:
    started = time.perf_counter()
    server.ask(request(id_, "ping"))
    return (time.perf_counter() - started) * 1000


def _send_slow(server: Server, sent_at: dict[int, float], id_: int) -> None:
    sent_at[id_] = time.perf_counter()
    server.write(recall_line(id_, slow_question()))


def _ping_under_load(server: Server, id_: str, sent_at: dict[int, float], found: Load) -> None:
    """One ping; a recall that is answered meanwhile is followed by the next one at once."""
    started = time.perf_counter()
    server.write(request(id_, "ping"))
    while True:
        answered = json.loads(server.read_line())["id"]
        now = time.perf_counter()
        if answered == id_:
            found.ping.append((now - started) * 1000)
            return
        found.recall.append((now - sent_at.pop(answered)) * 1000)
        _send_slow(server, sent_at, answered + IN_FLIGHT)


# Cancelled


@dataclass(slots=True)
class Cancels:
    """Milliseconds, in pairs: a recall behind three cancelled ones, and the same before them."""

    behind: list[float] = field(default_factory=list)
    alone: list[float] = field(default_factory=list)

    def stopping(self) -> list[float]:
        """What the cancel itself took, at most."""
        return [
            max(0.0, behind - alone) for behind, alone in zip(self.behind, self.alone, strict=True)
        ]


def measure_cancels(server: Server) -> Cancels:
    """Cancels spread over the first half of a recall, where the statement is at work."""
    chance = random.Random(3)
    started = time.perf_counter()
    recall(server, 0, slow_question())
    half_s = (time.perf_counter() - started) / 2
    found = Cancels()
    for attempt in range(CANCELS):
        alone = _timed_cheap(server, f"alone-{attempt}")
        behind = _timed_cancel(server, attempt, chance.uniform(0.1, 1) * half_s)
        if behind is not None:
            found.alone.append(alone)
            found.behind.append(behind)
    return found


def _cheap_line(id_: str) -> bytes:
    return recall_line(id_, "zzqqxx")


def _timed_cheap(server: Server, id_: str) -> float:
    started = time.perf_counter()
    server.ask(_cheap_line(id_))
    return (time.perf_counter() - started) * 1000


def _timed_cancel(server: Server, attempt: int, after_s: float) -> float | None:
    """None where a recall was done before the cancel: the lane was free anyway."""
    slow, behind = [f"slow-{attempt}-{n}" for n in range(IN_FLIGHT)], f"behind-{attempt}"
    for id_ in slow:
        server.write(recall_line(id_, slow_question()))
    server.write(_cheap_line(behind))
    time.sleep(after_s)
    started = time.perf_counter()
    server.write(b"".join(map(_cancel_line, slow)))
    answered = json.loads(server.read_line())["id"]
    elapsed_ms = (time.perf_counter() - started) * 1000
    if answered == behind:
        return elapsed_ms
    while answered != behind:
        answered = json.loads(server.read_line())["id"]
    return None


def _cancel_line(id_: str) -> bytes:
    return notification("notifications/cancelled", {"requestId": id_})


# From the start


def measure_first_recall(table: Table, path: Path, *, rounds: int) -> None:
    import subprocess

    from .client import environment

    def libraries() -> dict[str, float]:
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", LIBRARIES], check=True, env=environment())
        return {"start": (time.perf_counter() - started) * 1000}

    def first_recall() -> dict[str, float]:
        with Server(serve(path)) as server:
            server.write(initialize() + INITIALIZED + recall_line(1, questions_once[0]))
            assert json.loads(server.read_line())["id"] == "init"
            assert json.loads(server.read_line())["id"] == 1
            elapsed = time.perf_counter() - server.spawned_at
            server.end()
        return {"start": elapsed * 1000}

    questions_once = questions()
    measures = {"I": libraries, "first recall": first_recall}
    interleave(table, measures, lambda key: measures[key](), rounds=rounds)


# What is said of it


def _findings(table: Table, load: Load, cancels: Cancels) -> Findings:
    rows = [
        _spread("three slow recalls in flight", load.recall),
        _spread("ping beside them", load.ping),
        _spread("ping without them", load.ping_idle),
        _spread("cancel to the answer of the recall behind", cancels.behind),
        _spread("that recall alone", cancels.alone),
        _spread("the difference, pair by pair", cancels.stopping()),
        _row("spawn to first recall answered", table.median("first recall", "start"), None),
        _row("I: its libraries and an empty loop", table.median("I", "start"), None),
    ]
    header = ("milliseconds", "p50", "p95")
    title = f"Recall at {EVENTS:,} events"
    data = {
        "rounds": table.samples,
        "ping": load.ping,
        "recall": load.recall,
        "read_behind_cancel": cancels.behind,
        "read_alone": cancels.alone,
    }
    grids = [Grid("Figures", header, rows, _note(load, cancels))]
    return Findings("recall_latency", title, grids, _verdicts(table, load, cancels), data)


def _verdicts(table: Table, load: Load, cancels: Cancels) -> list[Verdict]:
    alive = percentile(load.ping, 0.95) / statistics.median(load.recall)
    stopping = percentile(cancels.stopping(), 0.95)
    first = table.ratio("start", "first recall", "I")
    return [
        Verdict("ping p95 beside three recalls, to their p50", alive, 1 / 20, 1 / 100),
        Verdict("cancel to a free lane, p95 ms", stopping, 2.0, 1.0),
        Verdict("spawn to first recall, to I", first, None, 1.25),
    ]


def _note(load: Load, cancels: Cancels) -> str:
    return (
        f"{len(load.recall)} slow recalls and {len(load.ping)} pings under load; "
        f"{len(cancels.behind)} of {CANCELS} cancels met all lanes busy and count."
    )


def _row(title: str, p50: float | None, p95: float | None) -> list[str]:
    return [title, shown(p50), shown(p95)]


def _spread(title: str, values: list[float]) -> list[str]:
    return _row(title, statistics.median(values), percentile(values, 0.95))
