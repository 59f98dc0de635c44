"""Plain lists of an index: all symbols page by page, names and paths for completion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memrpc.store import json_column
from memrpc.store.where import compose

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

MAX_COMPLETIONS: Final = 20_000

_RECORDS: Final = """
SELECT s.id, s.name, s.kind, f.path, s.start_line, s.end_line, s.signature, s.exported,
  s.is_default
FROM code_files AS f JOIN code_symbols AS s ON s.id BETWEEN f.id << 18 AND (f.id << 18) + 262143
"""
_COUNT: Final = """
SELECT count(*)
FROM code_files AS f JOIN code_symbols AS s ON s.id BETWEEN f.id << 18 AND (f.id << 18) + 262143
"""
_HERE: Final = "f.repository = :repository AND f.state = 'live'"
_KIND: Final = "s.kind IN (SELECT value FROM json_each(:kinds))"
_PAGE: Final = "ORDER BY f.path, s.id LIMIT :limit OFFSET :offset"
_BY_IDS: Final = "s.id IN (SELECT value FROM json_each(:ids))"
_PATHS: Final = """
SELECT path FROM code_files WHERE repository = :repository AND state = 'live'
ORDER BY path LIMIT :limit
"""
_NAMES: Final = f"""
SELECT DISTINCT s.name
FROM code_files AS f JOIN code_symbols AS s ON s.id BETWEEN f.id << 18 AND (f.id << 18) + 262143
WHERE {_HERE} AND s.exported AND s.kind IN ('function', 'class', 'interface', 'type', 'enum')
LIMIT :limit
"""


@dataclass(frozen=True, slots=True)
class Record:
    """A symbol as the resource lists it."""

    id: int
    name: str
    kind: str
    file_path: str
    start_line: int
    end_line: int
    signature: str
    exported: bool
    default_export: bool


def records(
    db: apsw.Connection, repository: int, *, kinds: tuple[str, ...], limit: int, offset: int
) -> tuple[list[Record], int]:
    """A page of the symbols in the order of the files, and how many there are."""
    conditions = [_HERE, *([_KIND] if kinds else [])]
    values: dict[str, int | str] = {"repository": repository}
    if kinds:
        values["kinds"] = json_column.encode(list(kinds))
    total: int = db.execute(compose(_COUNT, conditions), values).get
    page = {**values, "limit": limit, "offset": offset}
    rows: list[Any] = db.execute(compose(_RECORDS, conditions, _PAGE), page).fetchall()
    return list(map(_record, rows)), total


def by_ids(db: apsw.Connection, ids: Sequence[int]) -> dict[int, Record]:
    """Symbols by their ids."""
    values = {"ids": json_column.encode(list(ids))}
    rows: list[Any] = db.execute(compose(_RECORDS, [_BY_IDS]), values).fetchall()
    return {row[0]: _record(row) for row in rows}


def _record(row: Sequence[Any]) -> Record:
    symbol, name, kind, path, start, end, signature, exported, is_default = row
    flags = bool(exported), bool(is_default)
    return Record(symbol, name, kind, path, start, end, signature, *flags)


def paths(db: apsw.Connection, repository: int) -> list[str]:
    """Paths to complete from."""
    values = {"repository": repository, "limit": MAX_COMPLETIONS}
    rows: list[Any] = db.execute(_PATHS, values).fetchall()
    return [path for (path,) in rows]


def names(db: apsw.Connection, repository: int) -> list[str]:
    """Exported names to complete from."""
    values = {"repository": repository, "limit": MAX_COMPLETIONS}
    rows: list[Any] = db.execute(_NAMES, values).fetchall()
    return [name for (name,) in rows]
