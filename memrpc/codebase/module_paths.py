"""From a module's name, as an import spells it, to the files that it is, language by language.

A resolver answers with the files' places, an empty tuple for what lies outside the repository, and
None where it cannot tell.
"""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import takewhile
from typing import Final, Protocol, TypeAlias

from memrpc.codebase.binding import SAME_PACKAGE

Files: TypeAlias = tuple[str, ...]
"""Paths below the root."""

_SCRIPT_ENDS: Final = (
    "",
    ".ts",
    ".tsx",
    ".mts",
    ".cts",
    ".js",
    ".jsx",
    ".mjs",
    ".cjs",
    ".vue",
    ".svelte",
    ".astro",
    ".d.ts",
    "/index.ts",
    "/index.tsx",
    "/index.js",
    "/index.jsx",
    "/index.mjs",
    "/index.d.ts",
)
_COMPILED: Final = {".js": (".ts", ".tsx"), ".mjs": (".mts",), ".cjs": (".cts",), ".jsx": (".tsx",)}
_ALIASED: Final = ("@/", "~/", "#", "$")
"""How projects spell paths of their own that only their build tool can read."""


class Resolver(Protocol):
    """Finds modules of one language."""

    def files_of(self, importer: str, module: str, name: str, /) -> Files | None: ...


class Python:
    """Modules by their dotted names, counted from the folder that holds the outermost package."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = {path for path in paths if path.endswith((".py", ".pyi"))}
        self._modules: dict[str, list[str]] = defaultdict(list)
        self._tops: set[str] = set()
        for path in sorted(self._paths):
            for name in self._names(path):
                self._modules[name].append(path)
                self._tops.add(name.partition(".")[0])

    def _names(self, path: str) -> set[str]:
        """The name from the outermost package on, and the one from the root on."""
        whole = path.rpartition(".")[0]
        is_package = whole.endswith("/__init__") or whole == "__init__"
        parts = whole.split("/")[: -1 if is_package else None]
        depth = len(parts) - 1
        while depth > 0 and "/".join([*parts[:depth], "__init__.py"]) in self._paths:
            depth -= 1
        return {".".join(parts[depth:]), ".".join(parts)} - {""}

    def files_of(self, importer: str, module: str, _: str, /) -> Files | None:
        if module.startswith("."):
            return self._relative(importer, module)
        found = self._modules.get(module)
        if found is None:
            return None if module.partition(".")[0] in self._tops else ()
        sources = [path for path in found if path.endswith(".py")] or found
        if len(sources) > 1:
            sources = [path for path in sources if _shares_top(path, importer)]
        return (sources[0],) if len(sources) == 1 else None

    def _relative(self, importer: str, module: str) -> Files | None:
        rest = module.lstrip(".")
        ups = len(module) - len(rest)
        folder = importer.split("/")[:-1]
        if ups - 1 > len(folder):
            return ()
        base = "/".join([*folder[: len(folder) - (ups - 1)], *rest.split(".")]).strip("/")
        for ending in (".py", "/__init__.py", ".pyi", "/__init__.pyi"):
            path = (base + ending).lstrip("/")
            if path in self._paths:
                return (path,)
        return None


def _shares_top(path: str, importer: str) -> bool:
    return path.split("/")[:-1][:1] == importer.split("/")[:-1][:1]


class JavaScript:
    """Modules by relative path, with the endings that loaders add."""

    def __init__(self, paths: Iterable[str], packages: Mapping[str, str]) -> None:
        """Take all paths, and the names of the packages that the repository defines."""
        self._paths = set(paths)
        self._packages = packages

    def files_of(self, importer: str, module: str, _: str, /) -> Files | None:
        if not module.startswith("."):
            is_own = module.startswith(_ALIASED) or self._is_own_package(module)
            return None if is_own else ()
        base = posixpath.normpath(posixpath.join(posixpath.dirname(importer), module))
        for path in self._spellings(base):
            if path in self._paths:
                return (path,)
        return None

    def _spellings(self, base: str) -> Iterable[str]:
        stem, dot, ending = base.rpartition(".")
        yield from (f"{stem}{other}" for other in _COMPILED.get(dot + ending, ()))
        yield from (base + other for other in _SCRIPT_ENDS)

    def _is_own_package(self, module: str) -> bool:
        parts = module.split("/")
        name = "/".join(parts[:2]) if module.startswith("@") else parts[0]
        return name in self._packages


class Go:
    """Packages are folders; a module's file tells what its folder is called."""

    def __init__(self, paths: Iterable[str], modules: Mapping[str, str]) -> None:
        """Take all paths, and the folder of each module by its name."""
        self._folders: dict[str, list[str]] = defaultdict(list)
        for path in sorted(paths):
            if path.endswith(".go") and not path.endswith("_test.go"):
                self._folders[posixpath.dirname(path)].append(path)
        self._modules = modules

    def files_of(self, importer: str, module: str, _: str, /) -> Files | None:
        if module == SAME_PACKAGE:
            own = tuple(self._folders.get(posixpath.dirname(importer), ()))
            return own if importer in own else (*own, importer)
        for name, folder in self._modules.items():
            if module == name or module.startswith(name + "/"):
                inner = posixpath.normpath(posixpath.join(folder, "." + module[len(name) :]))
                return tuple(self._folders.get("" if inner == "." else inner, ())) or None
        return () if self._modules else None


class Rust:
    """Modules are files below a crate's folder of sources."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = {path for path in paths if path.endswith(".rs")}
        self._crates = {
            posixpath.dirname(path)
            for path in self._paths
            if posixpath.basename(path) in ("lib.rs", "main.rs")
        }

    def files_of(self, importer: str, module: str, _: str, /) -> Files | None:
        parts = module.split("::")
        crate = self._crate_of(importer)
        if crate is None or parts[0] not in ("crate", "self", "super"):
            return None
        if parts[0] == "crate":
            return self._file(crate, parts[1:])
        here = self._module_of(importer, crate)
        ups = parts.count("super")
        if ups > len(here):
            return None
        return self._file(crate, [*here[: len(here) - ups], *parts[max(ups, 1) :]])

    def _crate_of(self, path: str) -> str | None:
        folder = posixpath.dirname(path)
        while folder not in self._crates:
            if not folder:
                return None
            folder = posixpath.dirname(folder)
        return folder

    def _module_of(self, path: str, crate: str) -> list[str]:
        inner = path[len(crate) :].strip("/").removesuffix(".rs").split("/")
        return inner[:-1] if inner[-1] in ("lib", "main", "mod") else inner

    def _file(self, crate: str, module: list[str]) -> Files | None:
        base = "/".join([part for part in (crate, *module) if part])
        root = f"{crate}/" if crate else ""
        names = (f"{base}.rs", f"{base}/mod.rs") if module else (f"{root}lib.rs", f"{root}main.rs")
        return next(((name,) for name in names if name in self._paths), None)


class ClassFiles:
    """Java, PHP: a class has a file of its name, in folders named as its package."""

    def __init__(self, paths: Iterable[str], ending: str) -> None:
        self._ending = ending
        self._by_name: dict[str, list[str]] = defaultdict(list)
        for path in sorted(paths):
            if path.endswith(ending):
                self._by_name[posixpath.basename(path)].append(path)

    def files_of(self, importer: str, module: str, name: str, /) -> Files | None:
        """Told by the end of the package: its beginning may stand for another folder."""
        found = self._by_name.get(f"{name}{self._ending}", [])
        if module == SAME_PACKAGE:
            beside = posixpath.dirname(importer)
            return tuple(path for path in found if posixpath.dirname(path) == beside) or None
        package = module.replace("\\", ".").strip(".").split(".")
        near = {path: _shared_end(posixpath.dirname(path).split("/"), package) for path in found}
        best = [path for path in found if near[path] == max(near.values()) > 0]
        if len(best) == 1:
            return (best[0],)
        return None if found else ()


def _shared_end(left: list[str], right: list[str]) -> int:
    """How many parts agree, counted from the end."""
    pairs = zip(reversed(left), reversed(right), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
