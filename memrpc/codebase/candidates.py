"""The symbols that a traced name may mean.

A name is looked for as it is written, then as a type's or a module's member, then in other
spellings.  What stands before a member may be the types around it, or any of the folders, modules
and types that lead to it, in their order: ``shortcuts.render``, ``django.render`` and
``django/shortcuts.py::render`` are one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.codebase import words
from memrpc.store import json_column
from memrpc.store.errors import InvalidArguments
from memrpc.store.where import compose

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import LiteralString

    import apsw

MAX_NAME_CHARS: Final = 1_000
_JOINTS: Final = re.compile(r"\.|::|#|->|/")

_FOLDERS_OWN: Final = frozenset({"__init__", "index", "mod", "lib"})
"""Modules that go by the names of their folders."""

_SELECT: Final = """
SELECT s.id, s.name, s.kind, s.owner, f.path, p.name
FROM code_symbols AS s JOIN code_files AS f ON f.id = s.id >> 18
JOIN code_repositories AS p ON p.id = f.repository
"""
_HERE: Final = "f.repository = :repository AND f.state = 'live'"
_NAMED: Final = "s.name = :name COLLATE NOCASE"
_WORDED: Final = "s.id IN (SELECT rowid FROM code_words WHERE code_words MATCH :words)"
_KIND: Final = "s.kind IN (SELECT value FROM json_each(:kinds))"
_PATH: Final = """f.path = :path OR substr(f.path, -length(:path) - 1) = '/' || :path
  OR substr(f.path, 1, length(:path) + 1) = :path || '/'"""
_EXPORTED: Final = "s.exported"
_IN_ORDER: Final = "ORDER BY f.path, s.id"


@dataclass(frozen=True, slots=True)
class TraceRequest:
    """A name, with what tells symbols of that name apart."""

    name: str
    kinds: tuple[str, ...] = ()
    file_path: str | None = None
    exported_only: bool = False
    include_references: bool = True
    limit: int = 50
    offset: int = 0


class Meant(NamedTuple):
    """The ids of the declarations of one symbol each, and the name if it is spelt otherwise."""

    groups: list[list[int]]
    original: str | None = None


class _Step(NamedTuple):
    """A name on the way to a symbol, and what it counts where it is passed over."""

    name: str
    types: int
    modules: int


class _Candidate(NamedTuple):
    id: int
    name: str
    kind: str
    owner: str | None
    path: str
    repo: str

    def is_of_file(self, module: str) -> bool:
        """Whether ``module`` and its name are but the path of its file: ``main.c`` is no ``c``."""
        path = f".{self.path.replace('/', '.')}".lower()
        return path.endswith(f".{module}.{self.name}".lower())

    def way(self) -> Iterator[_Step]:
        """What leads to it, from its innermost type back to the repository's name."""
        for name in reversed(self.owner.split(".") if self.owner else []):
            yield _Step(name.lower(), 1, 0)
        *folders, file = self.path.split("/")
        module, *endings = file.split(".")
        for name in reversed(endings):
            yield _Step(name.lower(), 0, 0)
        for name in reversed([self.repo, *folders, module]):
            yield _Step(name.lower(), 0, int(name not in _FOLDERS_OWN))


def candidates(db: apsw.Connection, repository: int, request: TraceRequest) -> Meant:
    """The symbols that the request may mean; none if it fits nothing.

    Raises InvalidArguments.
    """
    if len(request.name) > MAX_NAME_CHARS:
        raise InvalidArguments(
            f"name is longer than {MAX_NAME_CHARS} characters; send one symbol's.", field="name"
        )
    owner, name = split_owner(request.name)

    def select(condition: LiteralString, **values: str) -> list[_Candidate]:
        return _select(db, repository, request, condition, **values)

    for wanted_owner, wanted in dict.fromkeys(((None, request.name), (owner, name))):
        fitting = _inside(select(_NAMED, name=wanted), wanted_owner)
        exact = [each for each in fitting if each.name == wanted]
        if exact:
            return Meant(_groups(exact))
        if fitting:
            return Meant(_groups(fitting), request.name)
    return Meant(_groups(_spelt_otherwise(select, owner, name)), request.name)


def _spelt_otherwise(
    select: Callable[..., list[_Candidate]], owner: str | None, name: str
) -> list[_Candidate]:
    if joined := "".join(words.parts(name)):
        found = select(_WORDED, words=f'names : "{joined}"')
        alike = [each for each in found if "".join(words.parts(each.name)) == joined]
        return _inside(alike, owner)
    return []


def _select(
    db: apsw.Connection,
    repository: int,
    request: TraceRequest,
    condition: LiteralString,
    **values: str,
) -> list[_Candidate]:
    path = normal_path(request.file_path or "").rstrip("/")
    conditions: list[LiteralString] = [_HERE, condition]
    conditions += [_KIND] if request.kinds else []
    conditions += [_PATH] if path else []
    conditions += [_EXPORTED] if request.exported_only else []
    named = {"kinds": json_column.encode(list(request.kinds)), "path": path}
    used = {name: value for name, value in named.items() if value and value != "[]"}
    bound: dict[str, str | int] = {"repository": repository, **used, **values}
    rows: list[Any] = db.execute(compose(_SELECT, conditions, _IN_ORDER), bound).fetchall()
    return [_Candidate(*row) for row in rows]


def _inside(found: Sequence[_Candidate], wanted: str | None) -> list[_Candidate]:
    """Those that stand in what is wanted, as near as any does."""
    if wanted is None:
        return list(found)
    inside = [each for each in found if f".{each.owner or ''}".endswith(f".{wanted}")]
    if inside:
        return inside
    parts = wanted.lower().split(".")
    distant = [
        (gap, each)
        for each in found
        if not each.is_of_file(wanted) and (gap := _gap(each.way(), parts)) is not None
    ]
    least = min((gap for gap, _ in distant), default=None)
    return [each for gap, each in distant if gap == least]


def _gap(way: Iterator[_Step], wanted: Sequence[str]) -> tuple[int, int] | None:
    """How many types and modules are passed over from the first wanted one on, if all are there."""
    types = modules = 0
    for part in reversed(wanted):
        for step in way:
            if step.name == part:
                break
            types, modules = types + step.types, modules + step.modules
        else:
            return None
    return types, modules


def split_owner(name: str) -> tuple[str | None, str]:
    """``Type.method`` in any language's spelling, as its type and its name."""
    parts = [part for part in _JOINTS.split(name) if part]
    if len(parts) < 2:  # noqa: PLR2004 -- a type and a name
        return None, name
    return ".".join(parts[:-1]), parts[-1]


def normal_path(path: str) -> str:
    """A path below the root as the index spells it."""
    return path.replace("\\", "/").removeprefix("./")


def _groups(found: Sequence[_Candidate]) -> list[list[int]]:
    """Overloads, and getters with their setters, are one symbol with several declarations."""
    groups: dict[tuple[str, str | None, str], list[int]] = {}
    for each in found:
        groups.setdefault((each.path, each.owner, each.kind), []).append(each.id)
    return list(groups.values())
