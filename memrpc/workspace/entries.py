"""Entries: their rows, and how a caller's handle finds one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.store import json_column
from memrpc.store.errors import NotFound
from memrpc.workspace import fields, scope
from memrpc.workspace.model import Entry, EntryStatus, EntryType
from memrpc.workspace.naming import number_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from memrpc.workspace.model import Repo

_COLUMNS: Final = """
SELECT entry, id, repo, code, type, title, content, importance, agent, role, model, branch, folder,
  language, created_at, updated_at, completed_at, used, irrelevant, contradictory, last_used_at,
  expires_at, decayed_at, supersedes, status, is_global, tags, metadata
FROM entries
"""
_BY_ID: Final = _COLUMNS + "WHERE id = :handle AND (repo = :repo OR is_global = 1)"
_BY_CODE: Final = _COLUMNS + "WHERE repo = :repo AND code = :handle"
_GLOBAL_BY_CODE: Final = _COLUMNS + "WHERE is_global = 1 AND code = :handle ORDER BY entry LIMIT 1"
_BY_KEYS: Final = _COLUMNS + "WHERE entry IN (SELECT value FROM json_each(:keys))"
_ANYWHERE: Final = _COLUMNS + "WHERE id = :id"
_KNOWN: Final = """
AND status = 'active' AND type <> 'task_archive' AND (expires_at IS NULL OR expires_at > :now)
"""
_IMPORTANT: Final = "ORDER BY importance DESC, created_at DESC LIMIT :limit"
_RECAP: Final = f"{_COLUMNS}WHERE repo = :repo {_KNOWN}{_IMPORTANT} OFFSET :offset"
_RECAP_OF: Final = f"{_COLUMNS}WHERE repo = :repo {_KNOWN}AND type = :type {_IMPORTANT}"
_OTHERS: Final = f"WHERE is_global = 1 AND repo <> :repo {_KNOWN}"
_RECAP_OTHERS: Final = f"{_COLUMNS}{_OTHERS}{_IMPORTANT}"
_RECAP_OTHERS_OF: Final = f"{_COLUMNS}{_OTHERS}AND type = :type {_IMPORTANT}"
_OTHERS_BY_TYPE: Final = f"SELECT type, count(*) FROM entries {_OTHERS}GROUP BY type"
_STANDINGS: Final = """
SELECT entry, created_at, used, irrelevant, contradictory,
  type = 'task_archive' OR status = 'archived', branch, folder, tags
FROM entries WHERE entry IN (SELECT value FROM json_each(:keys))
AND (expires_at IS NULL OR expires_at > :now)
"""
_KEYS: Final = "SELECT entry FROM entries ORDER BY entry"
_HELD: Final = "SELECT 1 FROM entries WHERE repo = :repo AND code = :code"
_TALLIES: Final = (
    "SELECT label, count FROM tallies WHERE repo = :repo AND kind = 'entry' AND count > 0"
)
_EXPIRED: Final = """
SELECT type, count(*) FROM entries
WHERE status = 'active' AND expires_at <= :now AND +repo = :repo GROUP BY type
"""
_ADD: Final = """
INSERT INTO entries (id, repo, code, type, title, content, importance, agent, role, model, branch,
  folder, language, created_at, updated_at, completed_at, used, irrelevant, contradictory,
  last_used_at, expires_at, decayed_at, supersedes, status, is_global, tags, metadata)
VALUES (:id, :repo, :code, :type, :title, :content, :importance, :agent, :role, :model, :branch,
  :folder, :language, :created_at, :updated_at, :completed_at, :used, :irrelevant, :contradictory,
  :last_used_at, :expires_at, :decayed_at, :supersedes, :status, :is_global, :tags, :metadata)
RETURNING entry
"""
_SAVE: Final = """
UPDATE entries SET type = :type, title = :title, content = :content, importance = :importance,
  agent = :agent, role = :role, model = :model, branch = :branch, folder = :folder,
  language = :language, updated_at = :updated_at, completed_at = :completed_at, used = :used,
  irrelevant = :irrelevant, contradictory = :contradictory, last_used_at = :last_used_at,
  expires_at = :expires_at, decayed_at = :decayed_at, supersedes = :supersedes, status = :status,
  is_global = :is_global, tags = :tags, metadata = :metadata
WHERE entry = :entry
"""
_KEY: Final = frozenset({"key"})
_DELETE: Final = "DELETE FROM entries WHERE entry = :entry"
_TAG: Final = "INSERT INTO entry_tags (entry, tag) VALUES (:entry, :tag) ON CONFLICT DO NOTHING"
_UNTAG: Final = "DELETE FROM entry_tags WHERE entry = :entry"


def find(db: apsw.Connection, repo: Repo, handle: str) -> Entry:
    """Return the entry that an id or a code names here; a global one is here too.

    Raises NotFound, the same for what stands in another repository and for what does not exist.
    """
    found = find_or_none(db, repo, handle)
    if found is not None:
        return found
    raise NotFound(
        f"Memory not found: {handle} in {scope.full_name(repo)}; "
        "look it up with memory-read query.",
        id=handle,
    )


def find_or_none(db: apsw.Connection, repo: Repo, handle: str) -> Entry | None:
    """Return what ``find`` does, or None."""
    values = {"repo": repo.key, "handle": handle.strip()}
    for statement in (_BY_CODE, _BY_ID, _GLOBAL_BY_CODE):
        row = db.execute(statement, values).fetchone()
        if row is not None:
            return _entry(row)
    return None


def by_keys(db: apsw.Connection, keys: Iterable[int]) -> dict[int, Entry]:
    """Return those of the keys that exist."""
    rows: list[Any] = db.execute(_BY_KEYS, {"keys": json.dumps(list(keys))}).fetchall()
    return {row[0]: _entry(row) for row in rows}


class Standing(NamedTuple):
    """What speaks for an entry or against it, besides its words."""

    key: int
    created_at: int
    used: int
    irrelevant: int
    contradictory: int
    is_archive: bool
    """Whether it records a finished task, or was put away."""
    branch: str | None
    folder: str | None
    tags: str
    """As the column holds them."""


def standings(db: apsw.Connection, keys: Iterable[int], *, now: int) -> list[Standing]:
    """Return the standing of each entry whose time is not over."""
    values = {"keys": json.dumps(list(keys)), "now": now}
    rows: list[Any] = db.execute(_STANDINGS, values).fetchall()
    return [Standing(*row) for row in rows]


def anywhere(db: apsw.Connection, entry_id: str) -> Entry | None:
    """Return the entry of this id, whatever its repository: for the user's own command line."""
    row = db.execute(_ANYWHERE, {"id": entry_id}).fetchone()
    return None if row is None else _entry(row)


def recap(db: apsw.Connection, repo: Repo, *, now: int, limit: int, offset: int) -> list[Entry]:
    """List what is known, the most important and then the newest first; archives left out.

    What other repositories know for all is known here too.
    """
    values = {"repo": repo.key, "now": now, "limit": offset + limit}
    others = [_entry(row) for row in db.execute(_RECAP_OTHERS, values).fetchall()]
    skipped = max(0, offset - len(others))  # That many of its own stand before the page.
    values |= {"limit": limit + offset - skipped, "offset": skipped}
    own = [_entry(row) for row in db.execute(_RECAP, values).fetchall()]
    return sorted([*own, *others], key=_rank)[offset - skipped :][:limit]


def recap_of(
    db: apsw.Connection, repo: Repo, kind: EntryType, *, now: int, limit: int
) -> list[Entry]:
    """List what is known of one type, as ``recap`` does."""
    values = {"repo": repo.key, "type": str(kind), "now": now, "limit": limit}
    statements = (_RECAP_OF, _RECAP_OTHERS_OF)
    found = [_entry(row) for each in statements for row in db.execute(each, values).fetchall()]
    return sorted(found, key=_rank)[:limit]


def _rank(entry: Entry) -> tuple[int, int]:
    return -entry.importance, -entry.created_at


def keys(db: apsw.Connection) -> list[int]:
    """List the keys of every entry of the file."""
    rows: list[Any] = db.execute(_KEYS).fetchall()
    return [key for (key,) in rows]


def holds_code(db: apsw.Connection, repo: Repo, code: str) -> bool:
    """Say whether the repository has an entry of this code."""
    return db.execute(_HELD, {"repo": repo.key, "code": code}).get is not None


def tallies(db: apsw.Connection, repo: Repo) -> dict[tuple[EntryStatus, EntryType], int]:
    """Count the repository's entries by status and type."""
    rows: list[Any] = db.execute(_TALLIES, {"repo": repo.key}).fetchall()
    split = ((label.split("/"), count) for label, count in rows)
    return {(EntryStatus(status), EntryType(kind)): count for (status, kind), count in split}


def global_tallies(db: apsw.Connection, repo: Repo, *, now: int) -> dict[EntryType, int]:
    """Count by type what other repositories know for all."""
    rows: list[Any] = db.execute(_OTHERS_BY_TYPE, {"repo": repo.key, "now": now}).fetchall()
    return {EntryType(kind): count for kind, count in rows}


def expired(db: apsw.Connection, repo: Repo, *, now: int) -> dict[EntryType, int]:
    """Count by type the active entries whose time is over and that nothing has archived yet."""
    rows: list[Any] = db.execute(_EXPIRED, {"repo": repo.key, "now": now}).fetchall()
    return {EntryType(kind): count for kind, count in rows}


def add(db: apsw.Connection, entry: Entry) -> int:
    """Write a new entry, whose own key is ignored, and return its key."""
    key: int = db.execute(_ADD, _values(entry)).get
    _tag(db, key, entry.tags)
    return key


def save(db: apsw.Connection, entry: Entry) -> None:
    """Write an entry in place of what it was."""
    db.execute(_SAVE, _values(entry) | {"entry": entry.key}).fetchall()
    db.execute(_UNTAG, {"entry": entry.key}).fetchall()
    _tag(db, entry.key, entry.tags)


def delete(db: apsw.Connection, entry: Entry) -> None:
    """Take the row away."""
    db.execute(_DELETE, {"entry": entry.key}).fetchall()


def _tag(db: apsw.Connection, key: int, tags: Iterable[str]) -> None:
    for tag in tags:
        db.execute(_TAG, {"entry": key, "tag": number_of(tag)}).fetchall()


def _values(entry: Entry) -> dict[str, Any]:
    return fields.of(entry, _KEY) | {
        "is_global": int(entry.is_global),
        "tags": json_column.encode(entry.tags),
        "metadata": json_column.encode(entry.metadata),
    }


def _entry(row: Any) -> Entry:  # noqa: ANN401 -- a row as apsw returns it
    values: list[Any] = list(row)
    values[4] = EntryType(row[4])
    values[24:] = [EntryStatus(row[24]), bool(row[25]), json_column.decode_list(row[26])]
    values.append(json_column.decode_object(row[27]))
    return Entry(*values)
