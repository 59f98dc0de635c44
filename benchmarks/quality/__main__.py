"""``python -m benchmarks.quality DATA [--out FILE]``: every system on every file, one table each.

DATA is a folder of ``*.jsonl`` files or one of them (default: the environment's MEMRPC_DATA_DIR).
The sets of our own, which a generator makes, follow; with ``--own`` nothing else is run.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memrpc.settings import calm_numpy

from . import own
from .datasets import Haystack, Question, load
from .metrics import NAMES, SESSION_NAMES, Marks, mark, mean, session_mark
from .product import Entries, Product, Symbols
from .systems import Library, System, VectorsAlone, baselines

DEEPEST = 20
DEEPEST_FOR_SESSIONS = 60
"""Items that are asked for where sessions are marked too: ten sessions are among so many."""


@dataclass(frozen=True, slots=True)
class Answer:
    """One question's outcome."""

    scope: str
    question: Question
    found: tuple[str, ...]
    marks: Marks
    session_marks: Marks | None
    """None where there are no sessions to tell apart."""
    seconds: float


def main() -> int:
    calm_numpy()
    options = _options()
    if not options.own:
        run_files(options)
    return 0 if options.ours or own.report() else 1


def run_files(options: argparse.Namespace) -> None:
    files = sorted(options.data.glob("*.jsonl")) if options.data.is_dir() else [options.data]
    written = []
    for path in files:
        haystacks = load(path)
        print(f"\n## {path.name}: {sum(len(each.items) for each in haystacks)} items")
        for make in systems(options):
            system = make()
            answers = run(system, haystacks)
            report(system.name, answers)
            written += [_row(path.name, system.name, each) for each in answers]
            getattr(system, "close", lambda: None)()
    if options.out:
        options.out.write_text("".join(json.dumps(row) + "\n" for row in written))
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\npeak memory of the run: {peak_mb:.0f} MB")


def systems(options: argparse.Namespace) -> list[Callable[[], System]]:
    """What makes each system, ours first."""
    embedder = options.embedder
    ours: list[Callable[[], System]] = [
        lambda: Product("fast", embedder),
        lambda: Product("semantic", embedder),
        lambda: Product("fast", "none"),
    ]
    if options.through == "library":
        ours = [lambda: Library(embedder), Library]
    if options.through == "entries":
        ours = [lambda: Entries(embedder), lambda: Entries("none")]
    if options.through == "symbols":
        ours = [Symbols]
    if options.ours:
        return ours
    return [*ours, lambda: VectorsAlone(embedder), *((lambda s=s: s) for s in baselines())]


def run(system: System, haystacks: list[Haystack]) -> list[Answer]:
    answers = []
    for haystack in haystacks:
        system.remember(haystack)
        answers += [_asked(system, haystack, question) for question in haystack.questions]
    return answers


def _asked(system: System, haystack: Haystack, question: Question) -> Answer:
    sessions = haystack.sessions
    started = time.perf_counter()
    found = tuple(system.ask(question.text, DEEPEST_FOR_SESSIONS if sessions else DEEPEST))
    seconds = time.perf_counter() - started
    by_session = session_mark(found, question.relevant, sessions) if sessions else None
    marks = mark(found, question.relevant)
    return Answer(haystack.scope, question, found, marks, by_session, seconds)


def report(name: str, answers: list[Answer]) -> None:
    groups: dict[str, list[Answer]] = defaultdict(list)
    groups["all"] = answers
    for each in answers:
        groups["held out" if each.question.is_held_out else "tuned on"].append(each)
        if each.question.category:
            groups[f"category {each.question.category}"].append(each)
    times = sorted(each.seconds * 1000 for each in answers)
    p50, p95 = times[len(times) // 2], times[int(len(times) * 0.95)]
    print(f"\n{name}  (p50 {p50:.1f} ms, p95 {p95:.1f} ms)")
    print(f"  {'':16}{'n':>6}" + "".join(f"{label:>9}" for label in NAMES))
    for group in sorted(groups, key=lambda key: (key.startswith("category"), key)):
        values = mean(each.marks for each in groups[group]).values
        print(f"  {group:16}{len(groups[group]):>6}" + "".join(f"{v:9.3f}" for v in values))
    _report_sessions(groups)


def _report_sessions(groups: dict[str, list[Answer]]) -> None:
    for group in ("all", "held out", "tuned on"):
        marks = [each.session_marks for each in groups[group] if each.session_marks]
        if marks:
            named = zip(SESSION_NAMES, mean(marks).values, strict=True)
            shown = ", ".join(f"{name} {value:.3f}" for name, value in named)
            print(f"  sessions, {group}: {shown}")


def _row(file: str, system: str, answer: Answer) -> dict:
    return {
        "file": file,
        "system": system,
        "scope": answer.scope,
        "question": answer.question.text,
        "category": answer.question.category,
        "held_out": answer.question.is_held_out,
        "relevant": sorted(answer.question.relevant),
        "found": answer.found,
        **dict(zip(NAMES, answer.marks.values, strict=True)),
        "ms": round(answer.seconds * 1000, 3),
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    default = os.environ.get("MEMRPC_DATA_DIR")
    parser.add_argument("data", type=Path, nargs="?", default=default, help="folder or .jsonl file")
    parser.add_argument(
        "--through",
        choices=("product", "entries", "symbols", "library"),
        default="product",
        help="a spawned server's tools for events, entries or code, or memrpc.recall alone",
    )
    parser.add_argument("--embedder", default="builtin:use3", help="the setting of that name")
    parser.add_argument("--own", action="store_true", help="only the generated sets")
    parser.add_argument(
        "--ours", action="store_true", help="leave the baselines and the own sets out"
    )
    parser.add_argument("--out", type=Path, help="write one JSON object a question to this file")
    options = parser.parse_args()
    if options.data is None and not options.own:
        parser.error("give DATA, set MEMRPC_DATA_DIR or say --own")
    options.data = Path(options.data or ".")
    return options


if __name__ == "__main__":
    sys.exit(main())
