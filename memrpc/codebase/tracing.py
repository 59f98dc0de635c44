"""Tracing one symbol: where it is declared, what it stands in, and what refers to it.

A reference that is resolved means this symbol.  One that is resolved to another symbol, or to
something outside the repository, is left out.  Everything else has the name only; its confidence
falls with the number of symbols that share it, where a member is called like a function, and more
where it is used in another language.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.codebase import languages
from memrpc.codebase.answers import Ambiguity, Definition, Described, Place, Relative, Trace, Use
from memrpc.codebase.candidates import TraceRequest, candidates, split_owner
from memrpc.codebase.model import FILE_BITS, MAX_ORDINAL, Certainty, Kind
from memrpc.store import json_column
from memrpc.store.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

NEAR_PLACES: Final = 5
MAX_CHILDREN: Final = 50
MAX_CONFIDENCE: Final = 0.9
_FITTING: Final = (0.15, 0.3, 0.5, 1.0)
"""What is left of it where neither sort nor language are the same, the sort, the language, both."""

_SYMBOL: Final = """
SELECT s.id, s.name, s.kind, s.owner, s.parent, s.exported, s.is_default, s.start_line,
  s.start_col, s.end_line, s.end_col, s.name_line, s.signature, s.doc, f.path, f.language
FROM code_symbols AS s JOIN code_files AS f ON f.id = s.id >> 18
"""
_HERE: Final = "f.repository = :repository AND f.state = 'live'"
_BY_IDS: Final = f"""{_SYMBOL}
WHERE s.id IN (SELECT value FROM json_each(:ids)) ORDER BY f.path, s.id
"""
_CHILDREN: Final = """
SELECT name, kind, name_line, count(*) OVER () FROM code_symbols
WHERE id BETWEEN :first AND :last AND parent = :parent ORDER BY id LIMIT :limit
"""
_SAME_NAME: Final = f"""
SELECT count(*) FROM code_symbols AS s JOIN code_files AS f ON f.id = s.id >> 18
WHERE s.name = :name COLLATE NOCASE AND s.name = :name AND {_HERE}
"""
_USES: Final = f"""
WITH used AS (
  SELECT r.id, r.kind, r.is_member, r.caller, r.local, r.link, r.uses, r.spots
  FROM code_references AS r WHERE r.name = :name
  UNION ALL
  SELECT r.id, r.kind, r.is_member, r.caller, r.local, r.link, r.uses, r.spots
  FROM code_links AS l JOIN code_references AS r
    ON r.id BETWEEN l.id >> 18 << 18 AND (l.id >> 18 << 18) + 262143
    AND r.link = l.id & 262143 AND r.name <> :name
  WHERE l.target > 0 AND l.target IN (SELECT value FROM json_each(:ids))
), judged AS (
  SELECT u.*, f.path, (u.is_member = :is_member)
    + 2 * (f.language IN (SELECT value FROM json_each(:languages))) AS fits,
    CASE
      WHEN u.local IS NOT NULL THEN
        (u.id >> 18 << 18) + u.local IN (SELECT value FROM json_each(:ids))
      WHEN l.target IS NOT NULL THEN l.target IN (SELECT value FROM json_each(:ids))
    END AS is_sure
  FROM used AS u JOIN code_files AS f ON f.id = u.id >> 18
  LEFT JOIN code_links AS l ON l.id = (u.id >> 18 << 18) + u.link
  WHERE {_HERE}
), counted AS (
  SELECT *, sum(uses) OVER () AS total,
    sum(iif(is_sure IS NULL, 0, uses)) OVER () AS resolved,
    sum(uses) OVER (ORDER BY is_sure IS NULL, fits DESC, path, id) AS up_to
  FROM judged WHERE is_sure IS NOT 0
)
SELECT path, kind, is_sure, fits, id, caller, spots, up_to - uses, total, resolved
FROM counted WHERE up_to > :offset AND up_to - uses < :offset + :limit
  OR up_to = total
ORDER BY up_to
"""
_NAMES: Final = "SELECT id, name FROM code_symbols WHERE id IN (SELECT value FROM json_each(:ids))"


class Row(NamedTuple):
    """A symbol with its file's path."""

    id: int
    name: str
    kind: str
    owner: str | None
    parent: int | None
    exported: int
    is_default: int
    start_line: int
    start_col: int
    end_line: int
    end_col: int
    name_line: int
    signature: str
    doc: str | None
    path: str
    language: str

    def place(self) -> Place:
        """Show it in a list."""
        return Place(
            self.name,
            self.kind,
            self.path,
            self.name_line,
            self.end_line,
            self.signature,
            bool(self.exported),
            self.owner,
        )


def trace(db: apsw.Connection, repository: int, request: TraceRequest) -> Trace | Ambiguity:
    """The symbol that the request means, or those between which it does not decide.

    Raises NotFound.
    """
    groups, original = candidates(db, repository, request)
    if not groups:
        raise _not_found(db, repository, request)
    if len(groups) > 1:
        page = groups[request.offset : request.offset + request.limit]
        places = tuple(row.place() for row in _rows(db, [group[0] for group in page]))
        return Ambiguity(request.name, places, len(groups), request.offset)
    return _trace(db, repository, request, _rows(db, groups[0]), original)


def _rows(db: apsw.Connection, ids: Sequence[int]) -> list[Row]:
    """Symbols by their ids, in that order."""
    found: list[Any] = db.execute(_BY_IDS, {"ids": json_column.encode(list(ids))}).fetchall()
    return [Row(*row) for row in found]


def _trace(
    db: apsw.Connection,
    repository: int,
    request: TraceRequest,
    group: list[Row],
    original: str | None,
) -> Trace:
    row = group[0]
    children, children_total = _children(db, row)
    same_name: int = db.execute(_SAME_NAME, {"repository": repository, "name": row.name}).get
    uses, total, resolved = (
        _uses(db, repository, request, group, same_name)
        if request.include_references
        else ((), 0, 0)
    )
    return Trace(
        symbol=describe(row),
        definition=Definition(row.path, row.start_line, row.start_col, row.end_line, row.end_col),
        references=uses,
        resolved=resolved,
        by_name=total - resolved,
        offset=request.offset,
        parent=_parent(db, row),
        children=children,
        children_total=children_total,
        same_name=same_name,
        other_definitions=tuple(other.start_line for other in group[1:]),
        original_name=original,
    )


def qualified(row: Row) -> str:
    return f"{row.owner}.{row.name}" if row.owner else row.name


def describe(row: Row) -> Described:
    return Described(
        row.id,
        row.name,
        row.kind,
        row.owner,
        row.signature,
        row.doc,
        bool(row.exported),
        bool(row.is_default),
    )


def _parent(db: apsw.Connection, row: Row) -> Relative | None:
    if row.parent is None:
        return None
    parent = (row.id >> FILE_BITS << FILE_BITS) + row.parent
    found = _rows(db, [parent])
    return Relative(found[0].name, found[0].kind, found[0].name_line) if found else None


def _children(db: apsw.Connection, row: Row) -> tuple[tuple[Relative, ...], int]:
    """The first of what it holds, and how much that is."""
    first = row.id >> FILE_BITS << FILE_BITS
    bounds = {"first": first, "last": first + MAX_ORDINAL, "limit": MAX_CHILDREN}
    rows: list[Any] = db.execute(_CHILDREN, {**bounds, "parent": row.id - first}).fetchall()
    return tuple(Relative(*each) for *each, _ in rows), rows[0][-1] if rows else 0


def _uses(
    db: apsw.Connection,
    repository: int,
    request: TraceRequest,
    group: list[Row],
    same_name: int,
) -> tuple[tuple[Use, ...], int, int]:
    """A page of the references, how many there are and how many of them are resolved."""
    row = group[0]
    values = {
        "repository": repository,
        "name": row.name,
        "ids": json_column.encode([each.id for each in group]),
        "languages": json_column.encode(sorted(languages.family(row.language))),
        "is_member": int(row.kind in (Kind.METHOD, Kind.PROPERTY)),
        "limit": request.limit,
        "offset": request.offset,
    }
    rows: list[Any] = db.execute(_USES, values).fetchall()
    callers = _caller_names(db, rows)
    last = request.offset + request.limit
    uses = [
        Use(path, line, column, kind, callers.get(_caller(use, caller)), *trust)
        for path, kind, sure, fits, use, caller, spots, before, _, _ in rows
        for trust in (_trust(sure, fits, same_name),)
        for line, column in _spots(spots)[max(0, request.offset - before) : max(0, last - before)]
    ]
    uses.sort(key=lambda use: (-use.confidence, use.file_path, use.line, use.column))
    return (tuple(uses), *rows[0][-2:]) if rows else ((), 0, 0)


def _spots(text: str) -> list[tuple[int, int]]:
    """Lines and columns."""
    pairs = (spot.partition(":") for spot in text.split(" "))
    return [(int(line), int(column)) for line, _, column in pairs]


def _trust(is_sure: int | None, fits: int, same_name: int) -> tuple[str, float]:
    if is_sure is not None:
        return Certainty.RESOLVED, 1.0
    confidence = MAX_CONFIDENCE / max(1, same_name) * _FITTING[fits]
    return Certainty.BY_NAME, max(0.01, round(confidence, 2))


def _caller(use: int, caller: int | None) -> int | None:
    return None if caller is None else (use >> FILE_BITS << FILE_BITS) + caller


def _caller_names(db: apsw.Connection, rows: list[Any]) -> dict[int | None, str]:
    ids = {_caller(row[4], row[5]) for row in rows} - {None}
    if not ids:
        return {}
    named: list[Any] = db.execute(_NAMES, {"ids": json_column.encode(list(ids))}).fetchall()
    return dict(named)


def _not_found(db: apsw.Connection, repository: int, request: TraceRequest) -> NotFound:
    """Say what is near: the same name elsewhere, or names that are spelt alike."""
    from memrpc.codebase import searching

    bare = split_owner(request.name)[1]
    asked = (TraceRequest(name) for name in dict.fromkeys((request.name, bare)))
    elsewhere = next(filter(None, (candidates(db, repository, each).groups for each in asked)), [])
    near = [
        f"{row.path}:{row.name_line} {row.kind} {qualified(row)}"
        for row in _rows(db, [group[0] for group in elsewhere[:NEAR_PLACES]])
    ] or searching.near_names(db, repository, bare)
    hint = f" Near: {', '.join(near)}." if near else " Search for a part of it with `query`."
    return NotFound(
        f"No symbol {request.name!r} fits in this repository.{hint}",
        reason="SYMBOL_NOT_FOUND",
        near=near,
    )
