"""What the words of a question ask for, where they are not looked for in the index.

"What did we decide last week" asks for all of a time and a kind, "which mistakes did we make" for
all of a kind.  Such words say that something is asked for and stand in no entry: looked for they
would find nothing, or what holds them by chance.
Handoffs and claims are few and short, and are looked through.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from memrpc.recall.query import COMMON_WORDS
from memrpc.workspace.model import EntryType
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


def fitting(query: str, things: Sequence[T], text_of: Callable[[T], str]) -> list[T]:
    """Return the things whose text holds half of the query's words or more, the most first."""
    words = {word.strip(_EDGES) for word in fold(query).split()} - COMMON_WORDS - {""}
    if not words:
        return list(things)
    texts = ((thing, fold(text_of(thing))) for thing in things)
    counted = [(sum(word in text for word in words), thing) for thing, text in texts]
    found = [each for each in counted if 2 * each[0] >= len(words)]
    return [thing for _, thing in sorted(found, key=lambda each: -each[0])]
