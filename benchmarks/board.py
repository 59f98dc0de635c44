"""The calls that the workspace is measured by: each the n-th of its kind.

A write may need what the call before it answered, which it is given.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from .corpus import vocabulary

Ask = tuple[str, dict]
Make = Callable[[int, dict], Ask]

_WORDS = vocabulary()


def _words(n: int, count: int) -> str:
    return " ".join(_WORDS.draw(random.Random(n), count))


def _question(n: int) -> str:
    """Four content words, neither the most common nor the rarest."""
    return "where is " + " ".join(random.Random(n).sample(_WORDS.content_words(50, 2_000), 4))


def _entry(n: int) -> int:
    return 1 + n * 37 % 900


def _task(n: int) -> int:
    return 1 + n * 13 % 1_900


READS: Mapping[str, Make] = {
    "memory-read, detail": lambda n, _: ("memory-read", {"code": f"MEM-{_entry(n):03}"}),
    "memory-read, recap": lambda n, _: ("memory-read", {"offset": n % 50}),
    "memory-read, search": lambda n, _: ("memory-read", {"query": _question(n)}),
    "memory-read, search by tag": lambda n, _: (
        "memory-read",
        {"query": f"{_question(n)} tag:area-{n % 40}"},
    ),
    "task-read, list": lambda n, _: ("task-read", {"offset": n % 50}),
    "task-read, detail": lambda n, _: ("task-read", {"code": f"TASK-{_task(n):03}"}),
    "task-read, search": lambda n, _: ("task-read", {"query": _question(n)}),
    "handoff-read, list": lambda n, _: ("handoff-read", {"offset": n % 50}),
    "handoff-read, claims": lambda n, _: ("handoff-read", {"claim": True, "offset": n % 20}),
    "standard-read, list": lambda n, _: ("standard-read", {"offset": n % 50}),
    "standard-read, detail": lambda n, _: ("standard-read", {"code": f"STD-{1 + n % 90:03}"}),
    "standard-read, search": lambda n, _: ("standard-read", {"query": _question(n)}),
    "agent-context": lambda n, _: ("agent-context", {"query": _question(n)}),
}


def _new_entry(n: int, _: dict) -> Ask:
    given = {"title": _words(n, 6), "content": _words(n, 25), "tags": ["area-1"]}
    return "memory-write", {"type": "code_fact", "importance": 3, **given}


def _new_task(n: int, _: dict) -> Ask:
    given = {"title": _words(n, 6), "description": _words(n, 25)}
    return "task-write", {"phase": "phase-1", **given}


def _new_standard(n: int, _: dict) -> Ask:
    given = {"tags": ["area-1"], "metadata": {"by": "team"}}
    return "standard-write", {"name": _words(n, 6), "content": _words(n, 25), **given}


def _of_last(tool: str, **more) -> Make:
    """A call about what the last answer made."""
    return lambda _, last: (tool, {"code": last["code"], **more})


def _offer(n: int, _: dict) -> Ask:
    given = {"from_agent": "ann", "to_agent": "bob", "summary": _words(n, 8)}
    return "handoff-write", given


def _accept(_: int, last: dict) -> Ask:
    return "handoff-write", {"id": last["id"], "status": "accepted"}


WRITES: Mapping[str, Make] = {
    "memory-write, create": _new_entry,
    "memory-write, update": _of_last("memory-write", importance=5),
    "memory-write, acknowledge": _of_last("memory-write", acknowledge="used"),
    "memory-delete": _of_last("memory-delete"),
    "task-write, create": _new_task,
    "task-write, comment": _of_last("task-write", comment="It is nearly done."),
    "claim-manage, claim": lambda _, last: (
        "claim-manage",
        {"task_code": last["code"], "agent": "ann", "role": "coder"},
    ),
    "task-write, complete": lambda _, last: (
        "task-write",
        {"code": last["task_code"], "agent": "ann", "status": "completed", "comment": "Done."},
    ),
    "handoff-write, offer": _offer,
    "handoff-write, accept": _accept,
    "standard-write, create": _new_standard,
    "standard-write, update": lambda _, last: (
        "standard-write",
        {"id": last["standard"]["id"], "version": "2.0.0"},
    ),
    "standard-delete": lambda _, last: ("standard-delete", {"id": last["standard"]["id"]}),
    "repo-summarize": lambda n, _: ("repo-summarize", {"signals": [_words(n, 6)]}),
}

GROWING: Mapping[str, Make] = {
    "memory-read, detail": READS["memory-read, detail"],
    "memory-read, recap": READS["memory-read, recap"],
    "task-read, list": READS["task-read, list"],
    "memory-write, create": _new_entry,
}
