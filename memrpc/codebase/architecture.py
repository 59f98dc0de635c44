"""A repository from above: its folders, its languages, what it exports, what nothing refers to.

Dead code is a guess that has to be honest.  Candidates are top-level functions and types that no
edge names, in languages whose edges are seen.  Exported ones, entry points and tests are left out
and counted; the rest is looked for as a word in all files, so a use that is no edge (a callback, an
annotation, a string) clears it, and so does a decorator, which may hand it on to anybody.
"""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from memrpc.codebase.answers import Architecture, Candidate, DeadCode, Folder, Place
from memrpc.codebase.languages import TEXT

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import apsw

MAX_SCANNED: Final = 500
MAX_DEAD: Final = 20
MAX_HOTSPOTS: Final = 10
MAX_EXPORTS: Final = 50
MAX_CHILDREN: Final = 40
_ENTRIES: Final = frozenset({"main", "init", "setup", "teardown", "handler", "default", "activate"})
_NO_EDGES: Final = frozenset({TEXT, "markdown"})
_WEAK: Final = frozenset({"bash", "ruby", "swift", "kotlin", "dart"})
"""Languages whose calls are often written in a way that no query sees."""

_FILES: Final = """
SELECT f.path, f.language, (
  SELECT count(*) FROM code_symbols WHERE id BETWEEN f.id << 18 AND (f.id << 18) + 262143
) FROM code_files AS f WHERE f.repository = :repository AND f.state = 'live'
"""
_TOP: Final = """
SELECT s.name, s.kind, f.path, s.name_line, s.end_line, s.signature, s.exported, f.language
FROM code_files AS f
JOIN code_symbols AS s ON s.id BETWEEN f.id << 18 AND (f.id << 18) + 262143
WHERE f.repository = :repository AND f.state = 'live' AND s.owner IS NULL
  AND s.kind IN ('function', 'class', 'interface', 'type', 'enum', 'constant', 'variable')
"""
_EXPORTS: Final = f"""
{_TOP} AND s.exported AND s.kind NOT IN ('constant', 'variable')
ORDER BY s.is_default DESC, length(f.path) - length(replace(f.path, '/', '')), f.path, s.id
LIMIT :limit
"""
_EXPORTS_TOTAL: Final = f"""
SELECT count(*) FROM ({_TOP} AND s.exported AND s.kind NOT IN ('constant', 'variable'))
"""
_UNUSED: Final = f"""
{_TOP} AND s.kind IN ('function', 'class', 'interface', 'enum', 'type')
  AND NOT EXISTS (
    SELECT 1 FROM code_references AS r JOIN code_files AS g ON g.id = r.id >> 18
    WHERE r.name = s.name AND g.repository = :repository AND g.state = 'live'
  )
ORDER BY f.path, s.id
"""
_LANGUAGES_WITH_EDGES: Final = """
SELECT DISTINCT f.language FROM code_files AS f
WHERE f.repository = :repository AND f.state = 'live' AND EXISTS (
  SELECT 1 FROM code_references WHERE id BETWEEN f.id << 18 AND (f.id << 18) + 262143
    AND kind <> 'import'
)
"""
_HOT: Final = """
WITH meant AS (
  SELECT (r.id >> 18 << 18) + r.local AS symbol, r.uses FROM code_files AS f
  JOIN code_references AS r ON r.id BETWEEN f.id << 18 AND (f.id << 18) + 262143
  WHERE f.repository = :repository AND f.state = 'live' AND r.local IS NOT NULL
  UNION ALL
  SELECT l.target, r.uses FROM code_files AS f
  JOIN code_references AS r ON r.id BETWEEN f.id << 18 AND (f.id << 18) + 262143
  JOIN code_links AS l ON l.id = (r.id >> 18 << 18) + r.link
  WHERE f.repository = :repository AND f.state = 'live' AND l.target > 0
)
SELECT s.name, s.kind, f.path, s.name_line, m.uses
FROM (SELECT symbol, sum(uses) AS uses FROM meant GROUP BY symbol) AS m
JOIN code_symbols AS s ON s.id = m.symbol JOIN code_files AS f ON f.id = s.id >> 18
ORDER BY m.uses DESC, s.name LIMIT :limit
"""


@dataclass(frozen=True, slots=True)
class Suspects:
    """Symbols that no edge names, before the files were looked into."""

    scanned: tuple[Candidate, ...]
    excluded: Mapping[str, int]
    reliable: frozenset[str]
    weak: frozenset[str]


def survey(
    db: apsw.Connection,
    repository: int,
    *,
    depth: int,
    suspects: Suspects,
    counts: Mapping[str, int] | None,
    decorated: Collection[tuple[str, int]] = (),
) -> Architecture:
    """The whole of it; ``depth`` bounds the tree.

    ``counts`` tells how often the suspects' names stand in the files, None if nobody could look,
    ``decorated`` the paths and lines of those that stand below a decorator.
    """
    values = {"repository": repository}
    files: list[Any] = db.execute(_FILES, values).fetchall()
    exports: list[Any] = db.execute(_EXPORTS, {**values, "limit": MAX_EXPORTS}).fetchall()
    total: int = db.execute(_EXPORTS_TOTAL, values).get
    hot: list[Any] = db.execute(_HOT, {**values, "limit": MAX_HOTSPOTS}).fetchall()
    return Architecture(
        root=tree([(path, symbols) for path, _, symbols in files], depth),
        total_files=len(files),
        total_symbols=sum(symbols for _, _, symbols in files),
        languages=dict(Counter(language for _, language, _ in files).most_common()),
        exports=tuple(
            Place(name, kind, path, line, end, signature, bool(exported))
            for name, kind, path, line, end, signature, exported, _ in exports
        ),
        exports_total=total,
        dead_code=_dead_code(suspects, counts, decorated),
        hotspots=tuple(Candidate(*row) for row in hot),
    )


def shortened(folder: Folder, most: int) -> Folder:
    """The tree with at most so many folders in each folder."""
    return replace(
        folder, children=tuple(shortened(child, most) for child in folder.children[:most])
    )


def tree(files: Sequence[tuple[str, int]], depth: int) -> Folder:
    """Folders down to ``depth``, with how much each holds altogether."""
    held: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for path, symbols in files:
        parts = path.split("/")[:-1]
        for level in range(min(len(parts), depth) + 1):
            counts = held["/".join(parts[:level])]
            counts[0] += 1
            counts[1] += symbols
    inside: dict[str, list[str]] = defaultdict(list)
    for folder in sorted(held):
        if folder:
            inside[posixpath.dirname(folder)].append(folder)
    return _folder("", held, inside)


def _folder(path: str, held: Mapping[str, list[int]], inside: Mapping[str, list[str]]) -> Folder:
    largest = sorted(inside.get(path, ()), key=lambda each: (-held[each][0], each))
    children = tuple(_folder(each, held, inside) for each in largest[:MAX_CHILDREN])
    files, symbols = held.get(path, (0, 0))
    return Folder(path or ".", files, symbols, children)


def suspects(db: apsw.Connection, repository: int) -> Suspects:
    """The symbols to look for in the files."""
    values = {"repository": repository}
    seen: list[Any] = db.execute(_LANGUAGES_WITH_EDGES, values).fetchall()
    languages = frozenset(language for (language,) in seen)
    reliable = languages - _WEAK - _NO_EDGES
    excluded: Counter[str] = Counter()
    found: list[Candidate] = []
    unused: list[Any] = db.execute(_UNUSED, values).fetchall()
    for name, kind, path, line, _, _, exported, language in unused:
        if reason := _excuse(name, path, exported=exported, is_seen=language in reliable):
            excluded[reason] += 1
        else:
            found.append(Candidate(name, kind, path, line, 0))
    excluded["not_scanned"] = max(0, len(found) - MAX_SCANNED)
    return Suspects(tuple(found[:MAX_SCANNED]), excluded, reliable, languages & _WEAK)


def _dead_code(
    suspects: Suspects,
    counts: Mapping[str, int] | None,
    decorated: Collection[tuple[str, int]],
) -> DeadCode:
    scanned = suspects.scanned
    bare = [each for each in scanned if (each.file_path, each.line) not in decorated]
    dead = [each for each in bare if counts is None or _is_unmentioned(each, scanned, counts)]
    excluded = {
        **suspects.excluded,
        "decorated": len(scanned) - len(bare),
        "mentioned_in_text": len(bare) - len(dead),
    }
    return DeadCode(
        tuple(dead[:MAX_DEAD]),
        len(dead),
        len(scanned),
        {reason: count for reason, count in excluded.items() if count},
        tuple(sorted(suspects.reliable)),
        tuple(sorted(suspects.weak)),
        _note(suspects.reliable, is_checked=counts is not None),
    )


def _excuse(name: str, path: str, *, exported: int, is_seen: bool) -> str | None:
    """Why nothing may be said about a symbol without references."""
    if not is_seen:
        return "language_not_covered"
    if exported:
        return "public_api"
    if name.lower() in _ENTRIES or (name.startswith("__") and name.endswith("__")):
        return "entry_point"
    return "test" if is_test(path) or name.startswith(("test", "Test")) else None


def is_test(path: str) -> bool:
    """Whether a file holds tests, by the customs of naming them."""
    folders, name = path.split("/")[:-1], posixpath.basename(path)
    return (
        not {"test", "tests", "__tests__", "spec", "testing"}.isdisjoint(folders)
        or name.startswith(("test_", "conftest"))
        or any(mark in name for mark in ("_test.", ".test.", ".spec.", "Test."))
    )


def _is_unmentioned(
    suspect: Candidate, suspects: Sequence[Candidate], counts: Mapping[str, int]
) -> bool:
    """Its name stands nowhere but in its declarations."""
    declared = sum(each.name == suspect.name for each in suspects)
    return counts.get(suspect.name, 0) <= declared


def _note(reliable: frozenset[str], *, is_checked: bool) -> str:
    checked = (
        "each name was looked for in all files as they are now"
        if is_checked
        else "the files were not there to be looked into"
    )
    covered = ", ".join(sorted(reliable)) or "no language"
    return (
        f"Private top-level symbols of {covered} without a reference; {checked}. Names built at "
        "run time, and uses from outside the repository, are not seen. Exported symbols are "
        "never listed."
    )
