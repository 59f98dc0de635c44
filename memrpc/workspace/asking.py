"""What the words of a question ask for, where they are not looked for in the index.

"What did we decide last week" asks for all of a time and a kind, "which mistakes did we make" for
all of a kind, "what is blocked" for all of a status.  Such words say that something is asked for
and stand in no entry: looked for they would find nothing, or what holds them by chance.  Handoffs
and claims are few and short, and are looked through.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from memrpc.recall.query import COMMON_WORDS
from memrpc.workspace.model import EntryType, TaskStatus
from memrpc.workspace.scope import fold

T = TypeVar("T")

_EDGES: Final = ".,;:!?\"'()[]{}«»“”"
_WORD: Final = re.compile(r"\w+")
_KINDS: Final = {
    "decide": EntryType.DECISION,
    "decided": EntryType.DECISION,
    "decision": EntryType.DECISION,
    "decisions": EntryType.DECISION,
    "mistake": EntryType.MISTAKE,
    "mistakes": EntryType.MISTAKE,
    "pattern": EntryType.PATTERN,
    "patterns": EntryType.PATTERN,
}
_TASKS: Final = frozenset({"task", "tasks"})
_STANDARDS: Final = frozenset(
    {"standard", "standards", "rule", "rules", "convention", "conventions", "coding"}
)
_OF_LISTS: Final = frozenset(
    {"", "handoff", "handoffs", "claim", "claims", "claimed", "pending", "waiting", "open"}
)
_TASK_WORD: Final = re.compile(r"\btasks?\b(?![-\w])", re.IGNORECASE)
_OPEN: Final = (
    TaskStatus.IN_PROGRESS,
    TaskStatus.PENDING,
    TaskStatus.BACKLOG,
    TaskStatus.BLOCKED,
)
_STATUSES: Final = {
    **{str(status): (status,) for status in TaskStatus},
    **dict.fromkeys(("done", "finished"), (TaskStatus.COMPLETED,)),
    **dict.fromkeys(("open", "unfinished", "next", "todo"), _OPEN),
    "cancelled": (TaskStatus.CANCELED,),
    "progress": (TaskStatus.IN_PROGRESS,),
}
_WORDS: Final = """
    add added anything avoid change changed changes create created current entries everything far
    find found get give happen happened happening last latest learn learned learnt list made make
    memories memory new newest news note noted notes project recent recently record recorded
    remember repo repository show something store stored tell things work worked write written
    wrote
"""
_ASKING: Final = COMMON_WORDS | frozenset(_WORDS.split())


def kinds(text: str) -> tuple[EntryType, ...] | None:
    """Return the kinds of entries that a question asks for; None where it has a subject."""
    words = _WORD.findall(text.casefold())
    if not all(word in _KINDS or word in _ASKING for word in words):
        return None
    return tuple(dict.fromkeys(_KINDS[word] for word in words if word in _KINDS))


def is_for_all_tasks(text: str) -> bool:
    """Say whether a question about tasks has no subject."""
    return all(word in _ASKING or word in _TASKS for word in _WORD.findall(text.casefold()))


def is_for_all_standards(text: str) -> bool:
    """Say whether a question names standards and no subject of theirs."""
    words = set(_WORD.findall(text.casefold()))
    return bool(words & _STANDARDS) and words <= _ASKING | _STANDARDS


def statuses(text: str) -> tuple[TaskStatus, ...]:
    """Return the statuses that a question without another subject asks for."""
    words = _WORD.findall(text.casefold())
    named = [word for word in words if word in _STATUSES]
    if not is_for_all_tasks(" ".join(word for word in words if word not in _STATUSES)):
        return ()
    return tuple(dict.fromkeys(status for word in named for status in _STATUSES[word]))


def of_tasks(text: str) -> str:
    """Return a question without the word task, which every task's code holds."""
    rest = " ".join(_TASK_WORD.sub(" ", text).split())
    return text if is_for_all_tasks(rest) else rest


def fitting(query: str, things: Sequence[T], text_of: Callable[[T], str]) -> list[T]:
    """Return the things whose text holds half of the query's words or more, the most first."""
    words = {word.strip(_EDGES) for word in fold(query).split()} - COMMON_WORDS - _OF_LISTS
    if not words:
        return list(things)
    texts = ((thing, fold(text_of(thing))) for thing in things)
    counted = [(sum(word in text for word in words), thing) for thing, text in texts]
    found = [each for each in counted if 2 * each[0] >= len(words)]
    return [thing for _, thing in sorted(found, key=lambda each: -each[0])]
