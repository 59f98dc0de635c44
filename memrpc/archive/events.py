"""Events: the rows of the log, written once and only ever forgotten whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from memrpc.archive.model import Category, Event, Extraction, ExtractionState, Method, Role

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

_COLUMNS: Final = """
SELECT seq, event_id, scope, session_id, role, category, source, text, occurred_at, recorded_at,
  reason, state, method, attempts, error
FROM events
"""
_BY_ID: Final = _COLUMNS + "WHERE event_id = :event_id"
_BY_SEQ: Final = _COLUMNS + "WHERE seq = :seq"
_BY_SEQS: Final = _COLUMNS + "WHERE seq IN (SELECT value FROM json_each(:seqs)) ORDER BY seq"
_AFTER: Final = (
    _COLUMNS + "WHERE scope = :scope AND seq > :seq AND occurred_at <= :now"
    " ORDER BY seq DESC LIMIT :limit"
)
_PAYLOAD: Final = "SELECT payload_sha256 FROM events WHERE seq = :seq"
_INSERT: Final = """
INSERT INTO events (event_id, scope, session_id, role, category, source, text, occurred_at,
  recorded_at, payload_sha256, reason, state, method, attempts)
VALUES (:event_id, :scope, :session_id, :role, :category, :source, :text, :occurred_at,
  :recorded_at, :payload, :reason, :state, :method, :attempts)
RETURNING seq
"""
_SET_EXTRACTION: Final = """
UPDATE events SET state = :state, method = :method, attempts = :attempts, error = :error
WHERE seq = :seq
"""
_DELETE: Final = "DELETE FROM events WHERE seq IN (SELECT value FROM json_each(:seqs))"
_BEFORE_IN_SESSION: Final = """
SELECT seq FROM events WHERE scope = :scope AND session_id = :session AND seq < :seq
ORDER BY seq DESC LIMIT :limit
"""
_AFTER_IN_SESSION: Final = """
SELECT seq FROM events WHERE scope = :scope AND session_id = :session AND seq > :seq
ORDER BY seq LIMIT :limit
"""
_SEQS_UP_TO: Final = "SELECT seq FROM events WHERE scope = :scope AND occurred_at <= :instant"
_LATER: Final = """
SELECT 1 FROM events WHERE scope = :scope AND occurred_at > :instant LIMIT 1
"""
_SEQS: Final = "SELECT seq FROM events ORDER BY seq"
_BURY: Final = """
INSERT INTO tombstones (event_id, forgotten_at) VALUES (:event_id, :now)
ON CONFLICT (event_id) DO NOTHING
"""
_BURIED: Final = "SELECT 1 FROM tombstones WHERE event_id = :event_id"

# By their values: to look a member up is several times sooner done than to call its class.
_ROLES: Final = {str(each): each for each in Role}
_CATEGORIES: Final = {str(each): each for each in Category}
_STATES: Final = {str(each): each for each in ExtractionState}
_METHODS: Final = {str(each): each for each in Method}


def by_id(db: apsw.Connection, event_id: str) -> Event | None:
    """Return the event that the caller named so, of whatever scope."""
    return _one(db.execute(_BY_ID, {"event_id": event_id}).get)


def by_seq(db: apsw.Connection, seq: int) -> Event | None:
    """Return the event at ``seq``."""
    return _one(db.execute(_BY_SEQ, {"seq": seq}).get)


def by_seqs(db: apsw.Connection, seqs: Iterable[int]) -> dict[int, Event]:
    """Return those of ``seqs`` that exist, in order of arrival."""
    rows: list[Any] = db.execute(_BY_SEQS, {"seqs": id_list(seqs)}).fetchall()
    return {row[0]: _event(row) for row in rows}


def newest_after(db: apsw.Connection, scope: int, seq: int, *, now: int, limit: int) -> list[Event]:
    """List the scope's events that arrived after ``seq``, newest first, future ones left out."""
    values = {"scope": scope, "seq": seq, "now": now, "limit": limit}
    return [_event(row) for row in db.execute(_AFTER, values).fetchall()]


def payload(db: apsw.Connection, seq: int) -> bytes:
    """Return the digest of what the caller sent."""
    digest: bytes = db.execute(_PAYLOAD, {"seq": seq}).get
    return digest


def insert(db: apsw.Connection, event: Event, payload_sha256: bytes) -> int:
    """Append ``event``, whose own ``seq`` is ignored, and return the place that it got."""
    seq: int = db.execute(
        _INSERT,
        {
            "event_id": event.event_id,
            "scope": event.scope,
            "session_id": event.session_id,
            "role": event.role,
            "category": event.category,
            "source": event.source,
            "text": event.text,
            "occurred_at": event.occurred_at,
            "recorded_at": event.recorded_at,
            "payload": payload_sha256,
            "reason": event.reason,
            "state": event.extraction.state,
            "method": event.extraction.method,
            "attempts": event.extraction.attempts,
        },
    ).get
    return seq


def set_extraction(db: apsw.Connection, seq: int, extraction: Extraction) -> None:
    """Note how far the event's extraction has come."""
    db.execute(
        _SET_EXTRACTION,
        {
            "seq": seq,
            "state": extraction.state,
            "method": extraction.method,
            "attempts": extraction.attempts,
            "error": extraction.error,
        },
    ).fetchall()


def before(db: apsw.Connection, event: Event, limit: int) -> list[int]:
    """List the places of the session's events before ``event``, nearest first."""
    return _in_session(db, _BEFORE_IN_SESSION, event, limit)


def after(db: apsw.Connection, event: Event, limit: int) -> list[int]:
    """List the places of the session's events after ``event``, nearest first."""
    return _in_session(db, _AFTER_IN_SESSION, event, limit)


def seqs_up_to(db: apsw.Connection, scope: int, instant: int) -> set[int]:
    """Return the places of the scope's events that had occurred by ``instant``."""
    rows: list[Any] = db.execute(_SEQS_UP_TO, {"scope": scope, "instant": instant}).fetchall()
    return {seq for (seq,) in rows}


def any_after(db: apsw.Connection, scope: int, instant: int) -> bool:
    """Say whether an event of the scope occurred after ``instant``."""
    return db.execute(_LATER, {"scope": scope, "instant": instant}).get is not None


def all_seqs(db: apsw.Connection) -> list[int]:
    """List the places of every event of the archive, in order."""
    rows: list[Any] = db.execute(_SEQS).fetchall()
    return [seq for (seq,) in rows]


def bury(db: apsw.Connection, forgotten: Iterable[Event], *, now: int) -> None:
    """Delete the events with what hangs on their rows, and refuse their ids from now on."""
    events = list(forgotten)
    for event in events:
        bury_id(db, event.event_id, now=now)
    db.execute(_DELETE, {"seqs": id_list(event.seq for event in events)}).fetchall()


def bury_id(db: apsw.Connection, event_id: str, *, now: int) -> None:
    """Refuse the id from now on."""
    db.execute(_BURY, {"event_id": event_id, "now": now}).fetchall()


def is_buried(db: apsw.Connection, event_id: str) -> bool:
    """Say whether an event of this id was forgotten."""
    return db.execute(_BURIED, {"event_id": event_id}).get is not None


def id_list(keys: Iterable[int]) -> str:
    """Write row numbers as the JSON array that ``json_each`` takes."""
    return f"[{','.join(map(str, keys))}]"


def _in_session(db: apsw.Connection, sql: str, event: Event, limit: int) -> list[int]:
    values = {
        "scope": event.scope,
        "session": event.session_id,
        "seq": event.seq,
        "limit": limit,
    }
    rows: list[Any] = db.execute(sql, values).fetchall()
    return [seq for (seq,) in rows]


def _one(row: Any) -> Event | None:  # noqa: ANN401 -- a row as apsw returns it
    return None if row is None else _event(row)


def _event(row: Any) -> Event:  # noqa: ANN401 -- a row as apsw returns it
    seq, event_id, scope, session_id, role, category, source, text, *rest = row
    occurred_at, recorded_at, reason, state, method, attempts, error = rest
    return Event(
        seq=seq,
        event_id=event_id,
        scope=scope,
        session_id=session_id,
        role=_ROLES[role],
        category=_CATEGORIES[category],
        source=source,
        text=text,
        occurred_at=occurred_at,
        recorded_at=recorded_at,
        reason=reason,
        extraction=Extraction(_STATES[state], _METHODS[method], attempts, error),
    )
