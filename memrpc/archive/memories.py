"""Memories: statements drawn from events, each with its window and its chain of versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memrpc.archive.events import id_list
from memrpc.archive.model import Memory, MemoryKind, Statement, Status

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

_COLUMNS: Final = """
SELECT memory, memory_id, scope, event_seq, kind, content, coalesce(quote, content), inferred,
  confidence, valid_from, valid_to, recorded_at, status, superseded_by, corrects, gist
FROM memories
"""
_BY_ID: Final = _COLUMNS + "WHERE memory_id = :memory_id"
_BY_KEYS: Final = _COLUMNS + "WHERE memory IN (SELECT value FROM json_each(:keys)) ORDER BY memory"
_OF_EVENTS: Final = (
    _COLUMNS + "WHERE event_seq IN (SELECT value FROM json_each(:seqs)) ORDER BY memory"
)
_RETIRED_OF_EVENTS: Final = (
    _COLUMNS
    + """
WHERE event_seq IN (SELECT value FROM json_each(:seqs)) AND status <> 'current' ORDER BY memory
"""
)
_LINKED: Final = (
    _COLUMNS
    + """
WHERE memory IN (
  SELECT corrects FROM memories WHERE memory IN (SELECT value FROM json_each(:keys))
  UNION SELECT superseded_by FROM memories WHERE memory IN (SELECT value FROM json_each(:keys))
  UNION SELECT memory FROM memories WHERE corrects IN (SELECT value FROM json_each(:keys))
  UNION SELECT memory FROM memories WHERE superseded_by IN (SELECT value FROM json_each(:keys))
) ORDER BY memory
"""
)
_REPLACED_BY: Final = (
    _COLUMNS + "WHERE superseded_by IN (SELECT value FROM json_each(:keys)) ORDER BY memory"
)
_NEWEST: Final = (
    _COLUMNS
    + """
WHERE scope = :scope AND valid_from <= :now AND (valid_to IS NULL OR valid_to > :now)
ORDER BY confidence DESC, valid_from DESC, memory DESC LIMIT :limit
"""
)
_INSERT: Final = """
INSERT INTO memories (memory_id, scope, event_seq, extractor, position, kind, content, quote,
  inferred, confidence, valid_from, valid_to, recorded_at, status, corrects, gist)
VALUES (:memory_id, :scope, :event_seq, :extractor, :position, :kind, :content, :quote,
  :inferred, :confidence, :valid_from, :valid_to, :recorded_at, 'current', :corrects, :gist)
RETURNING memory
"""
_EXTRACTORS: Final = """
SELECT memory, extractor FROM memories WHERE event_seq = :seq ORDER BY memory
"""
_EXISTS: Final = """
SELECT 1 FROM memories WHERE event_seq = :event_seq AND extractor = :extractor
  AND (:position IS NULL OR position = :position) LIMIT 1
"""
_RETIRE: Final = """
UPDATE memories SET status = :status, superseded_by = :by,
  valid_to = max(valid_from, min(coalesce(valid_to, :at), :at))
WHERE memory = :memory
"""

_RESTORE: Final = """
UPDATE memories SET status = :status, valid_to = :valid_to,
  superseded_by = (
    SELECT m.memory FROM memories m
    WHERE m.memory_id = :superseded_by AND m.scope = memories.scope),
  corrects = (
    SELECT m.memory FROM memories m
    WHERE m.memory_id = :corrects AND m.scope = memories.scope)
WHERE memory_id = :memory_id
RETURNING event_seq
"""
_CLOSE: Final = """
UPDATE memories SET valid_to = max(valid_from, min(valid_to, :at))
WHERE memory IN (SELECT value FROM json_each(:keys)) AND valid_to > :at
"""
_EVENTS_HOLDING: Final = """
SELECT DISTINCT event_seq FROM memories
WHERE scope = :scope AND valid_from <= :instant AND (valid_to IS NULL OR valid_to > :instant)
"""
_TOUCHED_SINCE: Final = """
WITH RECURSIVE touched (memory) AS (
  SELECT memory FROM memories WHERE recorded_at >= :since
  UNION
  SELECT old.memory FROM touched CROSS JOIN memories AS old ON old.superseded_by = touched.memory
)
SELECT DISTINCT event_seq FROM touched CROSS JOIN memories USING (memory)
"""

# By their values: to look a member up is several times sooner done than to call its class.
_KINDS: Final = {str(each): each for each in MemoryKind}
_STATUSES: Final = {str(each): each for each in Status}


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a new memory comes from, and the end or the predecessor that it may inherit."""

    scope: int
    event_seq: int
    extractor: str
    position: int
    recorded_at: int
    valid_to: int | None = None
    corrects: int | None = None


@dataclass(frozen=True, slots=True)
class Link:
    """A memory's place in its chain of versions, by the ids that leave the archive."""

    memory_id: str
    status: Status
    valid_to: int | None
    superseded_by: str | None
    corrects: str | None


def by_id(db: apsw.Connection, memory_id: str) -> Memory | None:
    """Return the memory of this id, of whatever scope."""
    row = db.execute(_BY_ID, {"memory_id": memory_id}).get
    return None if row is None else _memory(row)


def by_keys(db: apsw.Connection, keys: Iterable[int]) -> list[Memory]:
    """Return those of ``keys`` that exist."""
    return _all(db, _BY_KEYS, {"keys": id_list(keys)})


def ids(db: apsw.Connection, keys: Iterable[int]) -> dict[int | None, str | None]:
    """Return the ids that callers know for these rows; no row has no id."""
    return {None: None} | {memory.key: memory.memory_id for memory in by_keys(db, keys)}


def of_events(db: apsw.Connection, seqs: Iterable[int]) -> list[Memory]:
    """Return every version drawn from these events, oldest first."""
    return _all(db, _OF_EVENTS, {"seqs": id_list(seqs)})


def retired_of_events(db: apsw.Connection, seqs: Iterable[int]) -> list[Memory]:
    """Return those drawn from these events that were superseded or revoked."""
    return _all(db, _RETIRED_OF_EVENTS, {"seqs": id_list(seqs)})


def linked(db: apsw.Connection, keys: Iterable[int]) -> list[Memory]:
    """Return the memories one step away along ``corrects`` and ``superseded_by``, either way."""
    return _all(db, _LINKED, {"keys": id_list(keys)})


def replaced_by(db: apsw.Connection, keys: Iterable[int]) -> list[Memory]:
    """Return the memories of which one of these took the place."""
    return _all(db, _REPLACED_BY, {"keys": id_list(keys)})


def newest(db: apsw.Connection, scope: int, *, now: int, limit: int) -> list[Memory]:
    """Return what holds now, the surest first, then what began last."""
    return _all(db, _NEWEST, {"scope": scope, "now": now, "limit": limit})


def exist(db: apsw.Connection, seq: int, extractor: str, position: int | None = None) -> bool:
    """Say whether this version of the extractor has already drawn memories from the event.

    With ``position`` the question is whether one of them has that place.
    """
    values = {"event_seq": seq, "extractor": extractor, "position": position}
    return db.execute(_EXISTS, values).get is not None


def extractors(db: apsw.Connection, seq: int) -> dict[int, str]:
    """Return what drew each of the event's memories."""
    rows: list[Any] = db.execute(_EXTRACTORS, {"seq": seq}).fetchall()
    return dict(rows)


def insert(db: apsw.Connection, statement: Statement, origin: Origin, memory_id: str) -> int:
    """Add a memory and return its row number."""
    key: int = db.execute(
        _INSERT,
        {
            "memory_id": memory_id,
            "scope": origin.scope,
            "event_seq": origin.event_seq,
            "extractor": origin.extractor,
            "position": origin.position,
            "kind": statement.kind,
            "content": statement.content,
            "quote": None if statement.quote == statement.content else statement.quote,
            "inferred": statement.inferred,
            "confidence": statement.confidence,
            "valid_from": statement.valid_from,
            "valid_to": origin.valid_to,
            "recorded_at": origin.recorded_at,
            "corrects": origin.corrects,
            "gist": statement.gist,
        },
    ).get
    return key


def retire(db: apsw.Connection, memory: Memory, status: Status, *, by: int, at: int) -> None:
    """Close the memory's window at ``at``, or to nothing if it began later, in favour of ``by``."""
    values = {"memory": memory.key, "status": status, "by": by, "at": at}
    db.execute(_RETIRE, values).fetchall()


def restore(db: apsw.Connection, link: Link) -> int | None:
    """Give the memory the place in its chain that an export noted; return its event's place."""
    seq: int | None = db.execute(
        _RESTORE,
        {
            "memory_id": link.memory_id,
            "status": link.status,
            "valid_to": link.valid_to,
            "superseded_by": link.superseded_by,
            "corrects": link.corrects,
        },
    ).get
    return seq


def close(db: apsw.Connection, keys: Iterable[int], *, at: int) -> None:
    """End at ``at`` those windows that reach beyond it, or before they begin."""
    db.execute(_CLOSE, {"keys": id_list(keys), "at": at}).fetchall()


def events_holding(db: apsw.Connection, scope: int, instant: int) -> set[int]:
    """Return the places of the events of which a statement held at ``instant``."""
    rows: list[Any] = db.execute(_EVENTS_HOLDING, {"scope": scope, "instant": instant}).fetchall()
    return {seq for (seq,) in rows}


def touched_since(db: apsw.Connection, since: int) -> set[int]:
    """Return the places of events of which a memory was drawn or ended since then."""
    rows: list[Any] = db.execute(_TOUCHED_SINCE, {"since": since}).fetchall()
    return {seq for (seq,) in rows}


def _all(db: apsw.Connection, sql: str, values: dict[str, str | int]) -> list[Memory]:
    return [_memory(row) for row in db.execute(sql, values).fetchall()]


def _memory(row: Any) -> Memory:  # noqa: ANN401 -- a row as apsw returns it
    key, memory_id, scope, seq, kind, content, quote, inferred, confidence, *rest = row
    valid_from, valid_to, recorded_at, status, superseded_by, corrects, gist = rest
    return Memory(
        key=key,
        memory_id=memory_id,
        scope=scope,
        event_seq=seq,
        kind=_KINDS[kind],
        content=content,
        quote=quote,
        inferred=bool(inferred),
        confidence=confidence,
        valid_from=valid_from,
        valid_to=valid_to,
        recorded_at=recorded_at,
        status=_STATUSES[status],
        superseded_by=superseded_by,
        corrects=corrects,
        gist=gist,
    )
