"""Files as the index knows them: their facts, their symbols, and which symbol a line is in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.codebase.answers import Enclosing, FileAnswer, FileFacts, Place
from memrpc.codebase.candidates import normal_path
from memrpc.codebase.model import FILE_BITS, MAX_ORDINAL
from memrpc.store import json_column
from memrpc.store.errors import InvalidArguments, NotFound
from memrpc.store.where import compose

if TYPE_CHECKING:
    import apsw

NEAR_FILES: Final = 5

_COLUMNS: Final = "id, path, language, hash, lines, size, indexed_at, problem"
_LIVE: Final = "repository = :repository AND state = 'live'"
_FILE: Final = f"SELECT {_COLUMNS} FROM code_files WHERE {_LIVE} AND path = :path"
_TAILS: Final = f"""
SELECT {_COLUMNS} FROM code_files WHERE {_LIVE} AND substr(path, -length(:tail)) = :tail
ORDER BY path LIMIT :limit
"""
_BELOW: Final = f"""
SELECT path, count(*) OVER () FROM code_files
WHERE {_LIVE} AND (:path = '' OR substr(path, 1, length(:path) + 1) = :path || '/')
ORDER BY path LIMIT :limit
"""
_SYMBOLS: Final = (
    "SELECT name, kind, name_line, end_line, signature, exported, owner FROM code_symbols"
)
_IN_FILE: Final = "id BETWEEN :first AND :last"
_OF_KIND: Final = "kind IN (SELECT value FROM json_each(:kinds))"
_IS_EXPORTED: Final = "exported"
_PAGE: Final = "ORDER BY id LIMIT :limit OFFSET :offset"
_COUNT: Final = "SELECT count(*) FROM code_symbols"
_SOURCES: Final = "SELECT id, path, language, size, mtime_ns FROM code_files"
_AROUND: Final = """
SELECT name, kind, start_line, end_line FROM code_symbols
WHERE id BETWEEN :first AND :last AND start_line <= :line AND end_line >= :line
ORDER BY end_line - start_line, id DESC LIMIT 1
"""


class Source(NamedTuple):
    """A file to read from disk."""

    id: int
    path: str
    language: str
    size: int
    mtime_ns: int


def safe_path(path: str) -> str:
    """A path below the root.

    Raises InvalidArguments for one that leads out of it.
    """
    normal = normal_path(path)
    if normal.startswith(("/", "~")) or ".." in normal.split("/"):
        raise InvalidArguments(
            "filePath must be a path inside the repository, relative to its root, such as "
            "src/app.py.",
            field="filePath",
        )
    return normal


@dataclass(frozen=True, slots=True)
class FileRequest:
    """A file, and which of its symbols are wanted."""

    path: str
    kinds: tuple[str, ...] = ()
    exported_only: bool = False
    limit: int = 200
    offset: int = 0


def describe(db: apsw.Connection, repository: int, request: FileRequest) -> FileAnswer:
    """A file and a page of its symbols.

    Raises InvalidArguments, and NotFound naming files that end like the path or stand in it.
    """
    file, facts = _find(db, repository, safe_path(request.path))
    first = file << FILE_BITS
    conditions = [_IN_FILE]
    conditions += [_OF_KIND] if request.kinds else []
    conditions += [_IS_EXPORTED] if request.exported_only else []
    values: dict[str, str | int] = {"first": first, "last": first + MAX_ORDINAL}
    if request.kinds:
        values["kinds"] = json_column.encode(list(request.kinds))
    total: int = db.execute(compose(_COUNT, conditions), values).get
    page = {**values, "limit": request.limit, "offset": request.offset}
    rows: list[Any] = db.execute(compose(_SYMBOLS, conditions, _PAGE), page).fetchall()
    places = tuple(
        Place(name, kind, facts.path, line, end, signature, bool(exported), owner)
        for name, kind, line, end, signature, exported, owner in rows
    )
    return FileAnswer(facts, places, total, request.offset)


def _find(db: apsw.Connection, repository: int, path: str) -> tuple[int, FileFacts]:
    rows: list[Any] = db.execute(_FILE, {"repository": repository, "path": path}).fetchall()
    if not rows:
        tail = {"repository": repository, "tail": f"/{path}", "limit": NEAR_FILES + 1}
        tails: list[Any] = db.execute(_TAILS, tail).fetchall()
        if not tails:
            _refuse_folder(db, repository, path)
        if len(tails) != 1:
            raise _not_indexed(path, [row[1] for row in tails])
        rows = tails
    file, full_path, language, digest, *facts = rows[0]
    return file, FileFacts(full_path, language, digest.hex(), *facts)


def _refuse_folder(db: apsw.Connection, repository: int, path: str) -> None:
    """Raise NotFound with a few of its files where the path is a folder's."""
    folder = "" if path == "." else path.rstrip("/")
    values = {"repository": repository, "path": folder, "limit": NEAR_FILES}
    rows: list[Any] = db.execute(_BELOW, values).fetchall()
    if rows:
        near = [found for found, _ in rows]
        raise NotFound(
            f"{folder or '.'} is a folder of {rows[0][1]} files, such as {', '.join(near)}; send "
            "a file, or name, query or content beside the folder.",
            reason="FILE_NOT_INDEXED",
            near=near,
        )


def _not_indexed(path: str, near: list[str]) -> NotFound:
    meant = f" It may be one of: {', '.join(near[:NEAR_FILES])}." if near else ""
    return NotFound(
        f"File {path!r} is not in the index of this repository; it may be new, ignored or skipped."
        f"{meant}",
        reason="FILE_NOT_INDEXED",
        near=near[:NEAR_FILES],
    )


_OF_LANGUAGE: Final = "language = :language"
_AT_PATH: Final = """(path = :path OR substr(path, -length(:path) - 1) = '/' || :path
  OR substr(path, 1, length(:path) + 1) = :path || '/')"""
_IN_ORDER: Final = "ORDER BY path"


def sources(
    db: apsw.Connection, repository: int, *, language: str | None, path: str | None
) -> list[Source]:
    """The files to look into; ``path`` is a file's, the end of one, or a folder's."""
    conditions = [_LIVE]
    conditions += [_OF_LANGUAGE] if language else []
    conditions += [_AT_PATH] if path else []
    values: dict[str, str | int] = {"repository": repository}
    if language:
        values["language"] = language.lower()
    if path:
        values["path"] = safe_path(path).rstrip("/")
    rows: list[Any] = db.execute(compose(_SOURCES, conditions, _IN_ORDER), values).fetchall()
    return [Source(*row) for row in rows]


def enclosing(db: apsw.Connection, file: int, line: int) -> Enclosing | None:
    """The innermost symbol around a line."""
    first = file << FILE_BITS
    bounds = {"first": first, "last": first + MAX_ORDINAL, "line": line}
    rows: list[Any] = db.execute(_AROUND, bounds).fetchall()
    return Enclosing(*rows[0]) if rows else None
