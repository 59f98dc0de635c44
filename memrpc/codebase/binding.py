"""References, with what is certain about them: what a name means, where its file tells.

A bare name is looked up in its scopes.  Where it means a declaration of the same file, the
reference is *local*; where an import brought it in, the reference has a *link*, and ``resolving``
finds out later which symbol of which file that is.  ``self.name`` is looked up in the class around
it, ``Type.name`` in that class, ``module.name`` becomes a link.  Everything else is known by its
name only: what an object is at run time is not to be read from the text.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import islice
from typing import TYPE_CHECKING, Final

from memrpc.codebase.captures import Findings, Imported, Used
from memrpc.codebase.model import (
    CALLABLE,
    CONTAINERS,
    MAX_ORDINAL,
    Edge,
    Kind,
    Link,
    Meant,
    Reference,
)
from memrpc.codebase.scopes import UNKNOWN, Binding, Scope, ScopeTree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memrpc.codebase.languages import Language
    from memrpc.codebase.outline import Entry

SAME_PACKAGE: Final = "."
"""The module of what a file sees without an import: its package's other files."""
_SEPARATOR: Final = re.compile(r"\.|::|->|\?\.")
_RUST_HEADS: Final = frozenset({"crate", "self", "super"})
_HEADERS: Final = (".h", ".hpp", ".hh", ".inc")
_SEES_MEMBERS: Final = frozenset({"java", "csharp", "kotlin", "swift", "dart", "cpp", "ruby"})
_SEES_PACKAGE: Final = frozenset({"go", "java"})


class Binder:
    """``links`` grows while ``references`` are read."""

    def __init__(
        self, language: Language, found: Findings, entries: list[Entry], length: int
    ) -> None:
        self.links: list[Link] = []
        self._language = language
        self._found = found
        self._entries = entries
        self._link_places: dict[tuple[str, str, str], int] = {}
        self._members: dict[tuple[str, str], Binding] = {}
        self._modules: set[str] = set()
        self._tree = ScopeTree(self._spans(), length)
        self._bind_all()

    def references(self) -> list[Reference]:
        """The uses of each name, in the order of the source."""
        callers = _Callers(self._entries)
        spots: dict[Meant, list[str]] = defaultdict(list)
        for meant, line in self._import_edges():
            spots[meant].append(f"{line}:1")
        known: dict[tuple[Scope, int | None, str, str, str | None], Meant] = {}
        for at, use in sorted(self._found.used.items()):
            kind, name, on, row, column = use
            scope, caller = self._tree.at(at), callers.at(at)
            key = (scope, caller, kind, name, on)
            if key not in known:
                known[key] = self._meant(use, scope, caller)
            spots[known[key]].append(f"{row + 1}:{column + 1}")
        rows = (Reference(*meant, len(at), " ".join(at)) for meant, at in spots.items())
        return list(islice(rows, MAX_ORDINAL))

    def _spans(self) -> Iterator[tuple[int, int, str | None]]:
        for entry in self._entries:
            if entry.kind in CALLABLE:
                yield entry.start, entry.end, None
            elif entry.kind in CONTAINERS:
                yield entry.start, entry.end, entry.qualified
        for start, end, owner in self._found.containers:
            yield start, end, owner
        for start, end in self._found.scopes:
            yield start, end, None

    def _bind_all(self) -> None:
        named: set[int] = set()
        for ordinal, entry in enumerate(self._entries):
            named.add(entry.declared.name.start_byte)
            self._bind_entry(ordinal, entry)
        for position, imported in enumerate(self._found.imported[:MAX_ORDINAL]):
            named.add(imported.start)
            self._bind_import(position, imported)
        heads = {_head(use) for use in self._found.used.values()}
        for start, name in self._found.locals:
            if name in heads and start not in named:
                self._tree.at(start).bind(name, UNKNOWN)
        for name in self._found.rebound:
            self._tree.module.bind(name, UNKNOWN)

    def _bind_entry(self, ordinal: int, entry: Entry) -> None:
        binding = Binding(symbol=ordinal)
        if entry.owner is not None:
            key = (entry.owner, entry.name)
            self._members[key] = binding if key not in self._members else UNKNOWN
        if entry.declared.owner is None and not entry.declared.is_slot:
            self._tree.at(entry.start).bind(entry.name, binding)

    def _bind_import(self, position: int, imported: Imported) -> None:
        link = Link(
            imported.module,
            imported.name,
            "",
            imported.alias or None,
            imported.line,
            imported.reexports,
        )
        self.links.append(link)
        self._link_places.setdefault((link.module, link.name, ""), position)
        if imported.name == "" and not imported.alias:
            self._bind_module(imported, position)
        elif imported.alias and not imported.reexports:
            self._tree.at(imported.start).bind(imported.alias, Binding(imported=position))
        elif imported.alias and self._language.name == "rust":
            self._tree.module.bind(imported.alias, Binding(imported=position))

    def _bind_module(self, imported: Imported, position: int) -> None:
        """``import a.b`` binds ``a``, and makes ``a`` and ``a.b`` known as modules."""
        if self._language.name == "go":
            name = _go_package(imported.module)
            self._tree.module.bind(name, Binding(imported=position))
            return
        parts = imported.module.split(".")
        self._modules.update(".".join(parts[:count]) for count in range(1, len(parts) + 1))

    def _import_edges(self) -> Iterator[tuple[Meant, int]]:
        """What each import statement names, and its line."""
        for position, link in enumerate(list(self.links)):
            name = link.name or _last_part(link.module)
            if name and name not in ("*", "default"):
                yield Meant(name, Edge.IMPORT.value, False, None, None, position), link.line

    def _meant(self, use: Used, scope: Scope, caller: int | None) -> Meant:
        name = use.name
        binding, link = self._meaning(name, use.on, scope)
        if binding is not None and binding.imported is not None and link is None:
            link = binding.imported
        if link is not None:
            taken = self.links[link]
            name = taken.member or (taken.name if taken.name not in ("", "default") else name)
        return Meant(
            name,
            self._edge(use.kind, name, binding),
            use.on is not None,
            caller,
            binding.symbol if binding is not None else None,
            link,
        )

    def _edge(self, kind: str, name: str, binding: Binding | None) -> str:
        """A call of a class makes an instance, in languages without a word for it."""
        if kind != Edge.CALL:
            return kind
        if binding is not None and binding.symbol is not None:
            is_class = self._entries[binding.symbol].kind in CONTAINERS
            return (Edge.INSTANTIATION if is_class else Edge.CALL).value
        bare = name.lstrip("_")
        is_likely = self._language.capitals_are_classes and bare[:1].isupper()
        is_made = is_likely and not (len(bare) > 1 and bare.isupper())
        return (Edge.INSTANTIATION if is_made else Edge.CALL).value

    def _meaning(
        self, name: str, on: str | None, scope: Scope
    ) -> tuple[Binding | None, int | None]:
        if on is None:
            through = self._language.name in _SEES_MEMBERS
            binding = scope.find(name, through_classes=through)
            if binding is None and self._language.name in _SEES_PACKAGE:
                return None, self._link(SAME_PACKAGE, name, "")
            return binding, None
        if on in self._language.self_names:
            around = scope.enclosing_class()
            return (self._members.get((around.owner or "", name)) if around else None), None
        return self._of_qualified(name, on, scope)

    def _of_qualified(self, name: str, on: str, scope: Scope) -> tuple[Binding | None, int | None]:
        """What ``on.name`` means: a class's member or something of a module."""
        if not on:
            return None, None
        head, *rest = _SEPARATOR.split(on)
        binding = scope.find(head, through_classes=False)
        if binding is None:
            return None, self._dotted(name, on)
        if binding.symbol is not None:
            owner = ".".join([self._entries[binding.symbol].qualified, *rest])
            return self._members.get((owner, name)), None
        if binding.imported is not None:
            return None, self._through(self.links[binding.imported], name, rest)
        return None, None

    def _through(self, taken: Link, name: str, rest: list[str]) -> int | None:
        """The link for ``name`` of something that was imported."""
        middle = [part for part in (taken.name, *rest, name) if part]
        if len(middle) == 1:
            return self._link(taken.module, middle[0], "")
        return self._link(taken.module, middle[0], middle[1]) if len(middle) == 2 else None  # noqa: PLR2004 -- a name and its member

    def _dotted(self, name: str, on: str) -> int | None:
        """The link for a name behind a module's whole path, as written."""
        if self._language.name == "rust" and on.split("::", 1)[0] in _RUST_HEADS:
            return self._link(on, name, "")
        if on in self._modules:
            return self._link(on, name, "")
        module, _, last = on.rpartition(".")
        return self._link(module, last, name) if module in self._modules else None

    def _link(self, module: str, name: str, member: str) -> int | None:
        key = (module, name, member)
        if key not in self._link_places:
            if len(self.links) >= MAX_ORDINAL:
                return None
            self._link_places[key] = len(self.links)
            self.links.append(Link(module, name, member, None, 0, reexports=False))
        return self._link_places[key]


class _Callers:
    """The innermost function, method or class around a place; asked in rising order."""

    def __init__(self, entries: list[Entry]) -> None:
        self._entries = entries
        self._next = 0
        self._open: list[int] = []

    def at(self, position: int) -> int | None:
        while self._next < len(self._entries) and self._entries[self._next].start <= position:
            if self._entries[self._next].kind != Kind.MODULE:
                self._open.append(self._next)
            self._next += 1
        while self._open and self._entries[self._open[-1]].end <= position:
            self._open.pop()
        for ordinal in reversed(self._open):
            if self._entries[ordinal].end > position:
                return ordinal
        return None


def _head(use: Used) -> str:
    """The bare name that a use begins with: the only one that is looked up in scopes."""
    return _SEPARATOR.split(use.on, 1)[0] if use.on else use.name


def _last_part(module: str) -> str:
    """What a module is called: the end of its path, or of its dotted name."""
    path = module.strip("./\"'<>")
    is_path = "/" in path or path.endswith(_HEADERS)
    return re.split(r"[/\\]" if is_path else r"[.\\]|::", path)[-1]


def _go_package(path: str) -> str:
    """What a package is called by default: the last part of its path that is no version."""
    parts = path.split("/")
    if len(parts) > 1 and re.fullmatch(r"v\d+", parts[-1]):
        parts.pop()
    return parts[-1].rpartition(".")[0] if re.search(r"\.v\d+$", parts[-1]) else parts[-1]
