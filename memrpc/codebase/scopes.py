"""Which meaning a bare name has at a place: nested scopes and what is bound in them.

A name that is bound in more than one way in a scope has no certain meaning there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple


class Binding(NamedTuple):
    """A name's one meaning: a symbol's ordinal or an import's position; neither: anything."""

    symbol: int | None = None
    imported: int | None = None


UNKNOWN: Final = Binding()


@dataclass(slots=True, eq=False)
class Scope:
    """A stretch of source in which names are bound.  ``owner`` is the class that it is."""

    start: int
    end: int
    parent: Scope | None
    owner: str | None
    names: dict[str, Binding] = field(default_factory=dict)

    def bind(self, name: str, binding: Binding) -> None:
        known = self.names.setdefault(name, binding)
        if known != binding:
            self.names[name] = UNKNOWN

    def find(self, name: str, *, through_classes: bool) -> Binding | None:
        """What ``name`` means here; None if nothing in the file binds it.

        ``through_classes`` tells that a method sees its class's members by their bare names.
        """
        scope: Scope | None = self
        while scope is not None:
            is_visible = scope.owner is None or scope is self or through_classes
            if is_visible and name in scope.names:
                return scope.names[name]
            scope = scope.parent
        return None

    def enclosing_class(self) -> Scope | None:
        scope: Scope | None = self
        while scope is not None and scope.owner is None:
            scope = scope.parent
        return scope


class ScopeTree:
    """All scopes of a file, found by position."""

    def __init__(self, spans: Iterable[tuple[int, int, str | None]], length: int) -> None:
        """Take each scope's start, end and class name, and the length of the file in bytes."""
        self.module = Scope(-1, length + 1, None, None)
        self._scopes = [self.module]
        innermost = self.module
        for start, end, owner in sorted(spans, key=lambda span: (span[0], -span[1])):
            while innermost.end < end and innermost.parent is not None:
                innermost = innermost.parent
            while innermost.parent is not None and innermost.end <= start:
                innermost = innermost.parent
            innermost = Scope(start, end, innermost, owner)
            self._scopes.append(innermost)
        self._starts = [scope.start for scope in self._scopes]

    def at(self, position: int) -> Scope:
        """The innermost scope that holds ``position`` strictly inside."""
        scope: Scope = self._scopes[bisect_right(self._starts, position - 1) - 1]
        while scope.end <= position and scope.parent is not None:
            scope = scope.parent
        return scope
