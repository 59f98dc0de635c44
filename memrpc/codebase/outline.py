"""The declarations of a file in their order, each with its kind, its name and what it stands in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from memrpc.codebase.captures import Declared, Findings, text_of
from memrpc.codebase.model import CALLABLE, CONTAINERS, MAX_ORDINAL, TITLES, Kind

if TYPE_CHECKING:
    from tree_sitter import Node

    from memrpc.codebase.languages import Language

MAX_NAME_CHARS: Final = 200
_CLOSING: Final = re.compile(r"[ \t]+#+$")
_SEPARATOR: Final = re.compile(r"\s*(?:::|\\|\.)\s*")
_DECORATION: Final = re.compile(r"^[:'\"]|['\"]$|<.*>$", re.DOTALL)
_DATA: Final = frozenset({Kind.VARIABLE, Kind.PROPERTY, Kind.CONSTANT})
_NAMED_SPACES: Final = CONTAINERS | {Kind.MODULE}


@dataclass(slots=True)
class Entry:
    """A declaration in its place.  ``owner`` is the qualified name of what it stands in."""

    declared: Declared
    kind: str
    name: str
    owner: str | None
    parent: int | None
    start: int
    end: int
    is_inner: bool
    """It stands inside a function, where nobody else reaches it."""

    @property
    def qualified(self) -> str:
        return f"{self.owner}.{self.name}" if self.owner else self.name


class _Open(NamedTuple):
    """What the place that has been reached stands in."""

    end: int
    qualified: str
    kind: str | None
    ordinal: int | None
    is_inner: bool


class Outline:
    """``entries`` are the declarations of ``found``, ordered as in the file."""

    def __init__(self, found: Findings, language: Language) -> None:
        self.entries: list[Entry] = []
        self._language = language
        self._open: list[_Open] = []
        self._named: dict[str, int] = {}
        self._data: set[tuple[str | None, str]] = set()
        items: list[tuple[int, int, Declared | str]] = [
            (each.node.start_byte, -_end(each), each) for each in found.declared.values()
        ]
        items += [(start, -end, owner) for start, end, owner in found.containers]
        for start, minus_end, item in sorted(items, key=lambda each: each[:2]):
            self._leave(start)
            if isinstance(item, str):
                name = _plain(item)
                self._open.append(_Open(-minus_end, name, Kind.CLASS, None, is_inner=False))
            elif len(self.entries) < MAX_ORDINAL:
                self._enter(item, start, -minus_end)
        self._adopt()

    def _leave(self, position: int) -> None:
        while self._open and self._open[-1].end <= position:
            self._open.pop()

    def _enter(self, declared: Declared, start: int, end: int) -> None:
        inside = self._open[-1] if self._open else None
        owner, name = _split_name(declared)
        if owner is None and inside is not None:
            owner = inside.qualified
        elif owner is not None and inside is not None and inside.kind == Kind.MODULE:
            owner = f"{inside.qualified}.{owner}"
        kind = self._kind(declared, name, owner, inside)
        if not name or name in self._language.keywords or self._is_repeated(kind, owner, name):
            return
        is_inner = inside is not None and (inside.is_inner or inside.kind in CALLABLE)
        parent = inside.ordinal if inside and declared.owner is None else None
        entry = Entry(declared, kind, name, owner, parent, start, end, is_inner)
        ordinal = len(self.entries)
        self.entries.append(entry)
        if kind in _NAMED_SPACES:
            self._named.setdefault(entry.qualified, ordinal)
        self._open.append(_Open(end, entry.qualified, kind, ordinal, is_inner))

    def _kind(self, declared: Declared, name: str, owner: str | None, inside: _Open | None) -> str:
        if declared.kind == Kind.FUNCTION and self._is_member(declared, owner, inside):
            return Kind.METHOD.value
        if declared.kind in _DATA and name.isupper() and len(name) > 1:
            return Kind.CONSTANT.value
        return declared.kind

    def _is_member(self, declared: Declared, owner: str | None, inside: _Open | None) -> bool:
        if owner is not None and (inside is None or inside.qualified != owner):
            known = self._named.get(owner)  # Its type is named and not around it.
            return known is None or self.entries[known].kind != Kind.MODULE
        is_ruby_module = self._language.name == "ruby"
        members = _NAMED_SPACES if is_ruby_module else CONTAINERS
        return inside is not None and inside.kind in members and not declared.is_slot

    def _is_repeated(self, kind: str, owner: str | None, name: str) -> bool:
        """A variable is declared where it first gets a value."""
        if kind not in _DATA:
            return False
        key = (owner, name)
        is_known = key in self._data
        self._data.add(key)
        return is_known

    def _adopt(self) -> None:
        """Give what names its type outside of it a parent, wherever in the file that stands."""
        for entry in self.entries:
            if entry.parent is None and entry.owner is not None:
                entry.parent = self._named.get(entry.owner)


def _end(declared: Declared) -> int:
    return (declared.body or declared.node).end_byte


def _split_name(declared: Declared) -> tuple[str | None, str]:
    """The type that a declaration names, if it does, and its own name."""
    text = text_of(declared.name)
    if declared.kind in TITLES:
        return None, _CLOSING.sub("", text.strip())[:MAX_NAME_CHARS]
    if declared.owner is not None:
        return _plain(text_of(declared.owner)), text
    if "::" in text:  # C++: a member that is defined outside of its class
        owner, _, name = text.rpartition("::")
        return _plain(owner), name.strip()
    return None, _DECORATION.sub("", text.strip())[:MAX_NAME_CHARS]


def _plain(qualified: str) -> str:
    """A qualified name in our spelling: dots, and no type arguments."""
    bare = re.sub(r"<[^<>]*>", "", qualified)
    return _SEPARATOR.sub(".", bare).strip(". ")


def name_node(declared: Declared) -> Node:
    """Where the name itself stands: behind the type's, if that is written before it."""
    node = declared.name
    while node.type == "qualified_identifier":
        inner = node.child_by_field_name("name")
        if inner is None:
            break
        node = inner
    return node
