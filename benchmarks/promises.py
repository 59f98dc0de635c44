"""What the engine promises on the wire, each as a ratio to a yardstick of the same run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .findings import Verdict
from .rounds import Table

WORDS = {"E": "engine", "M": "memrpc serve", "B": "B", "S": "S"}


@dataclass(frozen=True, slots=True)
class Promise:
    """``faster``: the yardstick's cost is so many times ours; else ours so many times its."""

    metric: str
    subject: str
    yardstick: str
    gate: float
    aim: float
    faster: bool = False


PROMISES = (
    Promise("initialize", "E", "B", 3, 1.5),
    Promise("initialize", "M", "B", 3, 1.5),
    Promise("initialize", "E", "S", 5, 12, faster=True),
    Promise("initialize", "M", "S", 5, 12, faster=True),
    Promise("ping", "E", "S", 10, 30, faster=True),
    Promise("pings_in_flight", "E", "S", 10, 80, faster=True),
    Promise("call", "E", "S", 6, 30, faster=True),
    Promise("call", "E", "B", 8, 2),
    Promise("calls_in_flight", "E", "S", 8, 100, faster=True),
    Promise("large_result", "E", "B", 2, 1.6),
    Promise("resident", "E", "S", 0.6, 0.5),
    Promise("resident", "M", "S", 0.6, 0.5),
    Promise("exit", "E", "B", 8, 5),
    Promise("exit", "M", "B", 8, 5),
)


def judge(table: Table, titles: dict[str, str]) -> Iterator[Verdict]:
    """A verdict for each promise whose yardstick could be measured."""
    for promise in PROMISES:
        above, below = promise.subject, promise.yardstick
        if promise.faster:
            above, below = below, above
        ratio = table.ratio(promise.metric, above, below)
        if ratio is not None:
            words = _sentence(promise, titles[promise.metric])
            yield Verdict(words, ratio, promise.gate, promise.aim, is_ceiling=not promise.faster)


def _sentence(promise: Promise, title: str) -> str:
    relation = "times faster than" if promise.faster else "to"
    return f"{title}: {WORDS[promise.subject]} {relation} {WORDS[promise.yardstick]}"
