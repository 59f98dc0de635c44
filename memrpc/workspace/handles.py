"""Handles: the ids and codes by which a caller names several things at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from memrpc.store.errors import NotFound
from memrpc.workspace.model import Entry, Standard, Task

T = TypeVar("T", Entry, Standard, Task)


def resolve(handles: Sequence[str], find: Callable[[str], T]) -> tuple[list[T], list[str]]:
    """Return what the handles name, each once and in their order, and those that name nothing.

    Raises NotFound for a single one that names nothing.
    """
    found: dict[int, T] = {}
    missing: list[str] = []
    for handle in dict.fromkeys(handles):
        try:
            thing = find(handle)
        except NotFound:
            if len(handles) == 1:
                raise
            missing.append(handle)
        else:
            found[thing.key] = thing
    return list(found.values()), missing
