"""Checkpoints: snapshots of a task, each vouching for the log up to one event."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from memrpc.archive import reading, rules, times
from memrpc.archive.answers import CheckpointReceipt, CheckpointState
from memrpc.archive.model import DEFAULT_SCOPE, Scope
from memrpc.store import json_column
from memrpc.store.errors import InvalidArguments, LimitExceeded

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from memrpc.archive.model import Event

_INSERT: Final = """
INSERT INTO checkpoints (checkpoint_id, scope, session_id, state, covered_event_id, covered_seq,
  created_at)
VALUES (:checkpoint_id, :scope, :session_id, :state, :covered_event_id, :covered_seq, :created_at)
"""
_LATEST: Final = """
SELECT checkpoint_id, session_id, state, covered_seq, created_at FROM checkpoints
WHERE scope = :scope AND invalidated_at IS NULL AND (:session IS NULL OR session_id = :session)
ORDER BY checkpoint DESC LIMIT 1
"""
_ALL: Final = """
SELECT checkpoint_id, scope, state, covered_event_id, created_at, invalidated_at, invalidated_by
FROM checkpoints WHERE state IS NOT NULL ORDER BY checkpoint
"""
_RESTORE: Final = """
INSERT INTO checkpoints (checkpoint_id, scope, session_id, state, covered_event_id, covered_seq,
  created_at, invalidated_at, invalidated_by)
VALUES (:checkpoint_id, :scope, :session_id, :state, :covered_event_id, :covered_seq, :created_at,
  :invalidated_at, :invalidated_by)
ON CONFLICT (checkpoint_id) DO UPDATE
SET invalidated_at = excluded.invalidated_at, invalidated_by = excluded.invalidated_by
WHERE invalidated_at IS NULL AND excluded.invalidated_at IS NOT NULL AND scope = excluded.scope
RETURNING checkpoint
"""
_INVALIDATE: Final = """
UPDATE checkpoints SET invalidated_at = :now, invalidated_by = :by
WHERE scope = :scope AND invalidated_at IS NULL
"""
_ERASE: Final = """
UPDATE checkpoints SET state = NULL WHERE scope = :scope AND covered_seq >= :seq
"""


@dataclass(frozen=True, slots=True)
class CheckpointInput:
    """What session_checkpoint takes; without a session it is the covered event's."""

    state: CheckpointState
    covered_event_id: str
    session_id: str | None = None
    scope: Scope = DEFAULT_SCOPE


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A snapshot that still holds."""

    checkpoint_id: str
    session_id: str
    state: CheckpointState
    covered_seq: int
    created_at: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A stored checkpoint with all that an export keeps of it."""

    checkpoint_id: str
    scope: int
    state: CheckpointState
    covered_event_id: str
    created_at: int
    invalidated_at: int | None
    invalidated_by: str | None


def save(
    db: apsw.Connection, request: CheckpointInput, *, now: int, new_id: Callable[[], str]
) -> CheckpointReceipt:
    """Keep a new snapshot; an earlier one of the same coverage stays.

    Raises NotFound when the scope has no such event, InvalidArguments when the event belongs to
    another session.
    """
    check(request)
    event = _covered(db, request)
    checkpoint_id = new_id()
    db.execute(
        _INSERT,
        {
            "checkpoint_id": checkpoint_id,
            "scope": event.scope,
            "session_id": event.session_id,
            "state": _column(request.state),
            "covered_event_id": event.event_id,
            "covered_seq": event.seq,
            "created_at": now,
        },
    ).fetchall()
    return CheckpointReceipt(
        checkpoint_id=checkpoint_id,
        state=request.state,
        session_id=event.session_id,
        covered_event_id=event.event_id,
        covered_seq=event.seq,
        created_at=times.to_text(now),
        scope=request.scope,
    )


def latest(db: apsw.Connection, scope: int, session_id: str | None) -> Checkpoint | None:
    """Return the newest snapshot that holds, of one session or of the whole project."""
    row = db.execute(_LATEST, {"scope": scope, "session": session_id}).get
    return None if row is None else _checkpoint(row)


def snapshots(db: apsw.Connection) -> list[Snapshot]:
    """List every checkpoint that still has its text, oldest first."""
    rows: list[Any] = db.execute(_ALL).fetchall()
    return [Snapshot(row[0], row[1], read_state(row[2]), *row[3:]) for row in rows]


def restore(db: apsw.Connection, snapshot: Snapshot, covered: Event) -> bool:
    """Add an exported checkpoint, or end one that has ended since; say whether there was need."""
    values = {
        "checkpoint_id": snapshot.checkpoint_id,
        "scope": covered.scope,
        "session_id": covered.session_id,
        "state": _column(snapshot.state),
        "covered_event_id": covered.event_id,
        "covered_seq": covered.seq,
        "created_at": snapshot.created_at,
        "invalidated_at": snapshot.invalidated_at,
        "invalidated_by": snapshot.invalidated_by,
    }
    return db.execute(_RESTORE, values).get is not None


def invalidate(db: apsw.Connection, scope: int, by: str, *, now: int) -> int:
    """End every snapshot of the scope and return how many still held."""
    db.execute(_INVALIDATE, {"scope": scope, "by": by, "now": now}).fetchall()
    return db.changes()


def erase_from(db: apsw.Connection, scope: int, seq: int) -> None:
    """Delete the text of every snapshot that covers ``seq`` and so may repeat it."""
    db.execute(_ERASE, {"scope": scope, "seq": seq}).fetchall()


def check(request: CheckpointInput) -> None:
    """Refuse a snapshot without a goal, and one that is no summary any more."""
    rules.check_scope(request.scope)
    rules.check_text(request.state.goal, "state.goal", rules.MAX_CONTENT_CHARS)
    size = _size(request.state)
    if size > rules.MAX_STATE_CHARS:
        raise LimitExceeded(
            f"state holds {size:,} characters and the limit is {rules.MAX_STATE_CHARS:,}; "
            "send a summary, the events themselves are kept.",
            field="state",
            limit=rules.MAX_STATE_CHARS,
            actual=size,
        )


def _size(state: CheckpointState) -> int:
    """Count the characters; an empty item takes room as well, for one."""
    items = (*state.completed, *state.pending, *state.constraints)
    return len(state.goal) + sum(max(len(item), 1) for item in items) + len(state.next_step)


def _covered(db: apsw.Connection, request: CheckpointInput) -> Event:
    field = "covered_event_id"
    event, memory = reading.find(db, request.covered_event_id, request.scope, field=field)
    if memory is not None:
        raise InvalidArguments(
            f"covered_event_id is the id of a memory; send that of its event, {event.event_id}.",
            field=field,
        )
    if request.session_id not in {None, event.session_id}:
        raise InvalidArguments(
            "session_id is not the session of the covered event; send the one with which it "
            "was recorded, or none.",
            field="session_id",
        )
    return event


def _checkpoint(row: Any) -> Checkpoint:  # noqa: ANN401 -- a row as apsw returns it
    checkpoint_id, session_id, state, covered_seq, created_at = row
    return Checkpoint(checkpoint_id, session_id, read_state(state), covered_seq, created_at)


def _column(state: CheckpointState) -> str:
    return json_column.encode(cast("json_column.JSON", asdict(state)))


def read_state(column: str) -> CheckpointState:
    """Read back the snapshot that the column holds."""
    stored: dict[str, Any] = json_column.decode_object(column)
    lists = {name: tuple(stored[name]) for name in ("completed", "pending", "constraints")}
    return CheckpointState(goal=stored["goal"], next_step=stored["next_step"], **lists)
