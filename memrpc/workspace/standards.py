"""Standards: their rows, and how a caller's handle finds one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from memrpc.store.errors import NotFound
from memrpc.store.json_column import decode_list, decode_object, encode
from memrpc.workspace import fields, scope
from memrpc.workspace.model import Standard

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from memrpc.workspace.model import Repo

_COLUMNS: Final = """
SELECT standard, id, repo, code, title, content, parent, context, version, language, stack,
  is_global, tags, metadata, agent, model, created_at, updated_at
FROM standards
"""
_BY_ID: Final = _COLUMNS + "WHERE id = :handle AND (repo = :repo OR is_global = 1)"
_BY_CODE: Final = _COLUMNS + "WHERE repo = :repo AND code = :handle"
_GLOBAL_BY_CODE: Final = (
    _COLUMNS + "WHERE is_global = 1 AND code = :handle ORDER BY standard LIMIT 1"
)
_BY_KEYS: Final = _COLUMNS + "WHERE standard IN (SELECT value FROM json_each(:keys))"
_SEEN: Final = (
    _COLUMNS
    + """
WHERE standard IN (
  SELECT standard FROM standards WHERE repo = :repo
  UNION SELECT standard FROM standards WHERE is_global = 1)
ORDER BY standard DESC
"""
)
_KEYS: Final = "SELECT standard FROM standards ORDER BY standard"
_CHILDREN: Final = "SELECT standard FROM standards WHERE parent = :standard"
_ADD: Final = """
INSERT INTO standards (id, repo, code, title, content, parent, context, version, language, stack,
  is_global, tags, metadata, agent, model, created_at, updated_at)
VALUES (:id, :repo, :code, :title, :content, :parent, :context, :version, :language, :stack,
  :is_global, :tags, :metadata, :agent, :model, :created_at, :updated_at)
RETURNING standard
"""
_SAVE: Final = """
UPDATE standards SET title = :title, content = :content, parent = :parent, context = :context,
  version = :version, language = :language, stack = :stack, is_global = :is_global, tags = :tags,
  metadata = :metadata, model = :model, updated_at = :updated_at
WHERE standard = :standard
"""
_KEY: Final = frozenset({"key"})
_DELETE: Final = "DELETE FROM standards WHERE standard = :standard"


def find(db: apsw.Connection, repo: Repo, handle: str) -> Standard:
    """Return the standard that an id or a code names here; a global one is here too.

    Raises NotFound, the same for what stands in another repository and for what does not exist.
    """
    values = {"repo": repo.key, "handle": handle.strip()}
    for statement in (_BY_ID, _BY_CODE, _GLOBAL_BY_CODE):
        row = db.execute(statement, values).fetchone()
        if row is not None:
            return _standard(row)
    raise NotFound(
        f"Standard not found: {handle} in {scope.full_name(repo)}; look it up with standard-read.",
        id=handle,
    )


def by_keys(db: apsw.Connection, keys: Iterable[int]) -> dict[int, Standard]:
    """Return those of the keys that exist."""
    rows: list[Any] = db.execute(_BY_KEYS, {"keys": json.dumps(list(keys))}).fetchall()
    return {row[0]: _standard(row) for row in rows}


def seen(db: apsw.Connection, repo: Repo) -> list[Standard]:
    """List the repository's standards and the global ones, newest first."""
    return [_standard(row) for row in db.execute(_SEEN, {"repo": repo.key}).fetchall()]


def page(db: apsw.Connection, repo: Repo, *, limit: int, offset: int) -> tuple[list[Standard], int]:
    """List a part of what ``seen`` does, and count the whole."""
    rows: list[Any] = db.execute(_SEEN, {"repo": repo.key}).fetchall()
    return [_standard(row) for row in rows[offset : offset + limit]], len(rows)


def keys(db: apsw.Connection) -> list[int]:
    """List the keys of every standard of the file."""
    rows: list[Any] = db.execute(_KEYS).fetchall()
    return [key for (key,) in rows]


def children(db: apsw.Connection, standard: Standard) -> list[int]:
    """List the keys of the standards that extend this one."""
    rows: list[Any] = db.execute(_CHILDREN, {"standard": standard.key}).fetchall()
    return [key for (key,) in rows]


def add(db: apsw.Connection, standard: Standard) -> int:
    """Write a new standard, whose own key is ignored, and return its key."""
    key: int = db.execute(_ADD, _values(standard)).get
    return key


def save(db: apsw.Connection, standard: Standard) -> None:
    """Write a standard in place of what it was; its repository and author stay."""
    db.execute(_SAVE, _values(standard) | {"standard": standard.key}).fetchall()


def delete(db: apsw.Connection, standard: Standard) -> None:
    """Take the row away; what extended it stands alone."""
    db.execute(_DELETE, {"standard": standard.key}).fetchall()


def _values(standard: Standard) -> dict[str, Any]:
    columns = fields.of(standard, _KEY)
    encoded = {name: encode(columns[name]) for name in ("stack", "tags", "metadata")}
    return columns | encoded | {"is_global": int(standard.is_global)}


def _standard(row: Any) -> Standard:  # noqa: ANN401 -- a row as apsw returns it
    values: list[Any] = list(row)
    values[10], values[12] = decode_list(row[10]), decode_list(row[12])
    values[11] = bool(row[11])
    values[13] = decode_object(row[13])
    return Standard(*values)
