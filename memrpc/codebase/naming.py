"""What names in prose mean in the index: files by their paths, symbols by their names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memrpc.codebase.candidates import normal_path, split_owner
from memrpc.store import json_column

if TYPE_CHECKING:
    import apsw

MAX_MEANINGS: Final = 2
"""A name that means more symbols than this says nothing."""

_FILES: Final = """
SELECT path FROM code_files WHERE repository = :repository AND state = 'live'
  AND path IN (SELECT value FROM json_each(:names)) ORDER BY path
"""
_SYMBOLS: Final = """
SELECT s.name, s.kind, s.owner, f.path, s.name_line FROM json_each(:names) AS n
JOIN code_symbols AS s ON s.name = n.value COLLATE NOCASE AND s.name = n.value
JOIN code_files AS f ON f.id = s.id >> 18
WHERE f.repository = :repository AND f.state = 'live' ORDER BY s.name, f.path, s.id
"""


@dataclass(frozen=True, slots=True)
class Named:
    """A file, or a symbol with its place."""

    name: str
    kind: str
    file_path: str
    line: int | None = None


def named(db: apsw.Connection, repository: int, names: Iterable[str]) -> list[Named]:
    """The files and the few-meaning symbols that are called one of ``names``."""
    spoken = list(dict.fromkeys(names))
    owners: dict[str, list[str | None]] = defaultdict(list)
    for owner, name in map(split_owner, spoken):
        owners[name].append(owner)
    paths = {"repository": repository, "names": json_column.encode([*map(normal_path, spoken)])}
    files: list[Any] = db.execute(_FILES, paths).fetchall()
    words = {"repository": repository, "names": json_column.encode(list(owners))}
    rows: list[Any] = db.execute(_SYMBOLS, words).fetchall()
    fitting = [row for row in rows if any(_fits(row[2], owner) for owner in owners[row[0]])]
    counts = [row[0] for row in fitting]
    return [
        *(Named(path, "file", path) for (path,) in files),
        *(
            Named(name, kind, path, line)
            for name, kind, _, path, line in fitting
            if counts.count(name) <= MAX_MEANINGS
        ),
    ]


def _fits(owner: str | None, wanted: str | None) -> bool:
    return wanted is None or f".{owner or ''}".endswith(f".{wanted}")
