"""Where each link leads: to a symbol of a file of the repository, out of it, or nobody knows.

A link names a module and something in it.  The module becomes files (``module_paths``); the name
is one of their symbols, or something that they took from elsewhere themselves, which is followed;
or it is a module inside a package.  A name that is declared twice has no certain symbol.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.codebase import languages, module_paths
from memrpc.codebase.model import FILE_BITS, OUTSIDE
from memrpc.store import json_column

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    import apsw

    from memrpc.codebase.module_paths import Files, Resolver

MAX_HOPS: Final = 12
AMBIGUOUS: Final = -1
_GO_MODULE: Final = re.compile(r"^module\s+(\S+)", re.MULTILINE)
_OVERLOADED: Final = frozenset({"javascript", "typescript", "tsx"})

_FILES: Final = """
SELECT id, path, language FROM code_files
WHERE repository = :repository AND state IN ('live', 'staged')
  AND id NOT IN (SELECT value FROM json_each(:gone))
"""
_SYMBOLS: Final = """
SELECT s.id, s.name, s.owner, s.is_default FROM code_files AS f
JOIN code_symbols AS s ON s.id BETWEEN f.id << 18 AND (f.id << 18) + 262143
WHERE f.repository = :repository AND f.state IN ('live', 'staged')
  AND f.id NOT IN (SELECT value FROM json_each(:gone))
"""
_LINKS: Final = """
SELECT l.id, l.module, l.name, l.member, l.alias, l.target FROM code_files AS f
JOIN code_links AS l ON l.id BETWEEN f.id << 18 AND (f.id << 18) + 262143
WHERE f.repository = :repository AND f.state IN ('live', 'staged')
  AND f.id NOT IN (SELECT value FROM json_each(:gone))
"""


class _Taken(NamedTuple):
    """A link in the resolver's terms."""

    id: int
    module: str
    name: str
    member: str
    alias: str | None
    target: int | None


def changed_targets(
    db: apsw.Connection,
    repository: int,
    *,
    gone: Iterable[int],
    moved: Mapping[int, str],
    read_text: Callable[[str], str | None],
) -> dict[int, int | None]:
    """The links that lead elsewhere than is noted, once what is staged is live.

    ``gone`` are files that will not be live, ``moved`` new paths.  ``read_text`` reads the small
    files that name packages.
    """
    values = {"repository": repository, "gone": json_column.encode(list(gone))}
    rows: list[Any] = db.execute(_FILES, values).fetchall()
    files = {file: (moved.get(file, path), language) for file, path, language in rows}
    graph = _Graph(files, read_text)
    symbols: list[Any] = db.execute(_SYMBOLS, values).fetchall()
    for row in symbols:
        graph.declare(*row)
    taken: list[Any] = db.execute(_LINKS, values).fetchall()
    links = [_Taken(*row) for row in taken]
    for link in links:
        graph.take(link)
    found = ((link, graph.target(link)) for link in links)
    return {link.id: target for link, target in found if target != link.target}


class _Graph:
    """All files of a repository with what they declare and take."""

    def __init__(
        self, files: Mapping[int, tuple[str, str]], read_text: Callable[[str], str | None]
    ) -> None:
        self._files = files
        self._by_path = {path: file for file, (path, _) in files.items()}
        self._read_text = read_text
        self._resolvers: dict[str, Resolver | None] = {}
        self._symbols: dict[tuple[int, str | None, str], int] = {}
        self._named: dict[tuple[int, str], list[_Taken]] = defaultdict(list)
        self._wild: dict[int, list[_Taken]] = defaultdict(list)
        self._modules: dict[tuple[int, str, str], Files | None] = {}

    def declare(self, symbol: int, name: str, owner: str | None, is_default: int) -> None:
        file = symbol >> FILE_BITS
        self._note((file, owner, name), symbol)
        if is_default:
            self._note((file, None, "default"), symbol)

    def _note(self, key: tuple[int, str | None, str], symbol: int) -> None:
        known = self._symbols.setdefault(key, symbol)
        if known != symbol:
            is_overload = self._files[key[0]][1] in _OVERLOADED
            self._symbols[key] = symbol if is_overload else AMBIGUOUS

    def take(self, link: _Taken) -> None:
        file = link.id >> FILE_BITS
        if link.name == "*":
            self._wild[file].append(link)
        elif link.alias:
            self._named[file, link.alias].append(link)

    def target(self, link: _Taken) -> int | None:
        """The symbol that the link leads to."""
        if link.name in ("", "*"):
            return OUTSIDE if self._files_of(link) == () else None
        found = self._follow(link, MAX_HOPS)
        return None if found == AMBIGUOUS else found

    def _follow(self, link: _Taken, hops: int) -> int | None:
        """Where ``link`` leads, its member included; OUTSIDE, AMBIGUOUS or None else."""
        files = self._files_of(link)
        if not files:
            return OUTSIDE if files == () else None
        for path in files:
            found = self._in_file(self._by_path[path], link.name, link.member, hops)
            if found is not None:
                return found
        return self._in_inner_module(link, files[0], hops)

    def _in_file(self, file: int, name: str, member: str, hops: int) -> int | None:
        symbol = self._symbols.get((file, None, name))
        if symbol is not None:
            return self._symbols.get((file, name, member)) if member else symbol
        if hops == 0:
            return None
        onward = self._named.get((file, name), ())
        if len(onward) > 1:
            return AMBIGUOUS
        for link in onward:
            return self._follow_on(link, member, hops - 1)
        for link in self._wild.get(file, ()):
            found = self._follow(link._replace(name=name, member=member), hops - 1)
            if found not in (None, OUTSIDE):
                return found
        return None

    def _follow_on(self, link: _Taken, member: str, hops: int) -> int | None:
        """Through an import of another file, for a member of what it brings in."""
        if link.name == "":
            return self._follow(link._replace(name=member), hops) if member else None
        return self._follow(link._replace(member=member or link.member), hops)

    def _in_inner_module(self, link: _Taken, package: str, hops: int) -> int | None:
        """A package's module, imported as if it were a name of the package; Python's way."""
        if not link.member or not package.endswith("__init__.py"):
            return None
        folder = posixpath.dirname(package)
        inner = "/".join([part for part in (folder, link.name) if part])
        for path in (f"{inner}.py", f"{inner}/__init__.py"):
            if path in self._by_path:
                return self._in_file(self._by_path[path], link.member, "", hops)
        return None

    def _files_of(self, link: _Taken) -> Files | None:
        file = link.id >> FILE_BITS
        key = (file, link.module, link.name)
        if key not in self._modules:
            path, language = self._files[file]
            resolver = self._resolver(languages.BY_NAME[language].resolver)
            found = resolver.files_of(path, link.module, link.name) if resolver else None
            self._modules[key] = found
        return self._modules[key]

    def _resolver(self, name: str) -> Resolver | None:
        if name not in self._resolvers:
            make = _RESOLVERS.get(name)
            self._resolvers[name] = make(self._by_path, self._read_text) if make else None
        return self._resolvers[name]


def _packages(paths: Iterable[str], read_text: Callable[[str], str | None]) -> dict[str, str]:
    """The folder of each npm package by its name."""
    found: dict[str, str] = {}
    for path in paths:
        if posixpath.basename(path) == "package.json":
            name = _json_name(read_text(path) or "")
            if name:
                found[name] = posixpath.dirname(path)
    return found


def _json_name(text: str) -> str | None:
    try:
        content = json.loads(text)
    except ValueError:
        return None
    name = content.get("name") if isinstance(content, dict) else None
    return name if isinstance(name, str) else None


def _go_modules(paths: Iterable[str], read_text: Callable[[str], str | None]) -> dict[str, str]:
    found: dict[str, str] = {}
    for path in paths:
        if posixpath.basename(path) == "go.mod":
            module = _GO_MODULE.search(read_text(path) or "")
            if module:
                found[module.group(1)] = posixpath.dirname(path)
    return found


_RESOLVERS: Final[
    Mapping[str, Callable[[Iterable[str], Callable[[str], str | None]], Resolver]]
] = {
    "python": lambda paths, _: module_paths.Python(paths),
    "javascript": lambda paths, read: module_paths.JavaScript(paths, _packages(paths, read)),
    "go": lambda paths, read: module_paths.Go(paths, _go_modules(paths, read)),
    "rust": lambda paths, _: module_paths.Rust(paths),
    "java": lambda paths, _: module_paths.ClassFiles(paths, ".java"),
    "php": lambda paths, _: module_paths.ClassFiles(paths, ".php"),
}
