"""Recall beside the raw query: a thousand, ten thousand and a hundred thousand turns of real chats.

Q is the same question put to FTS5 on the same file, through apsw: all its content words in all
columns, the ten best by rank, with the columns that recall reads.  It is compared with

* *exact*: a ``deep`` recall without an embedder, in which every word proposes,
* *words*: a default recall without an embedder,
* *default*: a recall with the defaults, so with the vectors of the built-in embedder,
* *library*: *words* without the server,

and the last but one with the raw product of all its vectors, as floats, with the question's, and
with the embedding of the question.  These are CPU times of servers inside this process, see
``inside``; *piped* are times on the clock of spawned servers.  What a server made of a question is
forgotten before it is asked again, see ``forget``.  The chats are those of ``chats``.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from . import chat_store
from .chats import Chats, real_chats
from .client import Server, call
from .findings import Findings, Grid, Verdict, shown
from .inside import Inside
from .recall_latency import open_session, serve
from .recall_library import Library, forget, overlap
from .rounds import Table, interleave, percentile

SIZES = (1_000, 10_000, 100_000)
LARGEST = SIZES[-1]
MOST_ROUNDS = 5
ASKED = 40
WRITES = 30
LEEWAY_MS = 0.5
MIB = 1 << 20
CONTENDERS = ("Q", "exact", "words", "library", "default", "scan", "embedding")
TITLES = {
    "Q": "Q: FTS5 alone",
    "exact": "exact",
    "words": "words",
    "library": "library",
    "default": "default",
    "scan": "raw product of the vectors",
    "embedding": "embedding of the question",
    "words, piped": "words, piped",
    "default, piped": "default, piped",
}
_CHANGING = ("INSERT", "UPDATE", "DELETE", "REPLACE")


def run(*, rounds: int) -> Findings:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # As the server does, before numpy comes.
    chats = known_chats()
    files = {size: chat_store.database(folder(), chats, size) for size in SIZES}
    rounds = min(rounds, MOST_ROUNDS)
    tables = {size: measure(files[size], chats, rounds=rounds) for size in SIZES}
    kept = overlap(files[LARGEST], chats.questions)
    writes = measure_writes(files[10_000], chats, rounds=rounds)
    memory = (resident(files[LARGEST], chats), resident(files[SIZES[0]], chats))
    return _findings(chats, tables, kept, writes, memory)


def known_chats() -> Chats:
    """Those of the data set where the environment says where it is."""
    data = os.environ.get("MEMRPC_DATA_DIR")
    return real_chats(Path(data) if data else None)


def folder() -> Path:
    """Where the files are kept; the system may take them away."""
    path = Path(tempfile.gettempdir()) / "memrpc-benchmarks"
    path.mkdir(exist_ok=True)
    return path


# Reading


def measure(path: Path, chats: Chats, *, rounds: int) -> Table:
    """Milliseconds of each way to ask, over the questions, turn about."""
    asked = chats.questions[:ASKED]
    library = Library(path)
    words = Inside(path, toolset="core")
    default = Inside(path, toolset="core", embedder=chat_store.EMBEDDER)
    ways: dict[str, Callable[[str], float]] = {
        "Q": library.rank,
        "exact": lambda text: ask(words, text, search_mode="deep"),
        "words": lambda text: ask(words, text),
        "library": library.recall,
        "default": lambda text: ask(default, text),
        "scan": library.scan,
        "embedding": library.embed,
    }
    ask(default, asked[0], search_mode="semantic")  # Loads the model.
    table = Table()
    interleave(table, ways, lambda way: spread(map(ways[way], asked)), rounds=rounds)
    words.close()
    default.close()
    library.close()
    return table


def ask(server: Inside, text: str, **rest: str) -> float:
    forget()
    elapsed_ms, result = server.ask(call(1, "memory_recall", {"query": text, **rest}))
    assert not result["isError"], result
    return elapsed_ms


def spread(times_ms: Iterable[float]) -> dict[str, float]:
    values = list(times_ms)
    return {"p50": statistics.median(values), "p95": percentile(values, 0.95)}


# Writing


def measure_writes(path: Path, chats: Chats, *, rounds: int) -> Table:
    """A turn recorded, and the same rows written raw to a twin of the file, in one transaction."""
    texts = [turn.text for session in chats.sessions for turn in session]
    with tempfile.TemporaryDirectory(dir=folder()) as copies:
        served, recorded, raw = (Path(copies) / f"{name}.db" for name in ("served", "noted", "raw"))
        for copy in (served, recorded, raw):
            shutil.copyfile(path, copy)
        server, recorder = (
            Inside(served, toolset="core"),
            Inside(recorded, records=True, toolset="core"),
        )
        db = Library(raw, writes=True)
        table = Table()
        for number in range((rounds + 1) * WRITES):
            line = _record_line(number, texts[number])
            recorder.ask(line)
            changes = [
                (sql, values)
                for sql, values in recorder.statements("writer")
                if sql.startswith(_CHANGING)
            ]
            if number >= WRITES:  # The first round warms up.
                table.add("raw", {"write": db.write(changes)})
                table.add("served", {"write": server.ask(line)[0]})
        for each in (server, recorder, db):
            each.close()
    return table


def _record_line(number: int, text: str) -> bytes:
    arguments = {
        "event_id": f"written-{number}",
        "text": text,
        "role": "user",
        "source": "Ann",
        "session_id": f"written-{number // 10}",
    }
    return call(number, "memory_record", arguments)


# On the wire


def resident(path: Path, chats: Chats) -> dict[str, float]:
    """With and without vectors: KiB of a spawned server that has answered, and its p50 and p95."""
    found = {}
    for way, embedder in (("words", "none"), ("default", chat_store.EMBEDDER)):
        with Server(serve(path, "--embedder", embedder)) as server:
            open_session(server)
            server.ask(call(0, "memory_recall", {"query": "all", "search_mode": "semantic"}))
            times = spread(_piped(server, text) for text in chats.questions[:ASKED])
            found[way] = server.resident_kib()
            found |= {f"{way} {name}": value for name, value in times.items()}
            server.end()
    return found


def _piped(server: Server, text: str) -> float:
    started = time.perf_counter()
    server.ask(call(1, "memory_recall", {"query": text}))
    return (time.perf_counter() - started) * 1000


# What is said of it


def _findings(chats, tables, kept, writes, memory) -> Findings:
    grids = [_grid(size, table) for size, table in tables.items()]
    grids.append(_piped_grid(memory))
    verdicts = [
        *_exact_verdicts(tables),
        *_default_verdicts(tables[LARGEST], kept),
        Verdict("memory of 100,000 vectors, to their size", _memory(*memory), 1.3, 1.1),
        Verdict("memory_record, p95 to its rows' written raw", _written(writes), 4.0, 3.0),
    ]
    data = {str(size): table.samples for size, table in tables.items()}
    data |= {"kept": kept, "writes": writes.samples, "resident": memory}
    title = f"Recall beside the raw query ({chats.name})"
    return Findings("recall", title, grids, verdicts, data)


def _grid(size: int, table: Table) -> Grid:
    rows = [
        [TITLES[way], *(shown(table.median(way, metric)) for metric in ("p50", "p95"))]
        for way in CONTENDERS
    ]
    return Grid(f"At {size:,} turns", ("ms of CPU", "p50", "p95"), rows)


def _piped_grid(memory: tuple[dict[str, float], dict[str, float]]) -> Grid:
    rows = [
        [f"{way}, {size:,} turns", *(shown(found[f"{way} {p}"]) for p in ("p50", "p95")), kib]
        for found, size in zip(memory, (LARGEST, SIZES[0]), strict=True)
        for way in ("words", "default")
        for kib in (f"{found[way] / 1024:,.0f}",)
    ]
    return Grid("Piped", ("ms on the clock", "p50", "p95", "resident MiB"), rows)


def _exact_verdicts(tables: dict[int, Table]) -> Iterator[Verdict]:
    for size in SIZES[1:]:
        samples = tables[size].samples
        pairs = zip(samples["exact"]["p95"], samples["Q"]["p95"], strict=True)
        ratio = statistics.median((exact - LEEWAY_MS) / raw for exact, raw in pairs)
        yield Verdict(f"exact recall p95 less 0.5 ms, to Q's, at {size:,}", ratio, 1.2, 1.15)


def _default_verdicts(table: Table, kept: tuple[float, float]) -> Iterator[Verdict]:
    by_words = table.ratio("p95", "words", "Q")
    samples = table.samples
    parts = zip(*(samples[way]["p95"] for way in ("words", "scan", "embedding")), strict=True)
    pairs = zip(samples["default"]["p95"], map(sum, parts), strict=True)
    by_both = statistics.median(default / needed for default, needed in pairs)
    yield Verdict("recall by words p95 to Q's", by_words, 0.25, 0.2)
    yield Verdict("share of the exact ten best that it keeps", kept[0], 0.85, 0.9, False)
    yield Verdict("share of the exact first that it keeps", kept[1], 0.97, 0.99, False)
    yield Verdict("default recall p95 to words, raw product and embedding", by_both, 1.5, 1.2)


def _memory(large: dict[str, float], small: dict[str, float]) -> float:
    """What vectors add to a server at 100,000 turns, and do not at 1,000, to what they are."""
    added = (large["default"] - large["words"]) - (small["default"] - small["words"])
    return added * 1024 / (LARGEST * chat_store.VECTOR_BYTES)


def _written(table: Table) -> float:
    served, raw = (table.samples[way]["write"] for way in ("served", "raw"))
    return percentile(served, 0.95) / percentile(raw, 0.95)
