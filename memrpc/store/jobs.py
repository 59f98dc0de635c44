"""The durable queue: work owed because of a committed change, done at least once.

``enqueue`` runs in the transaction of the change that causes the work, so neither exists without
the other.  A worker claims a job by one UPDATE that gives it a *lease*: a time until which no
other process may claim it, kept alive by ``heartbeat``, and a fencing token.  A worker that has
lost its lease, because it slept or was killed, finds out when it tries to finish: every
transition asks for its token.  So a job's effect belongs in the transaction that completes it.

    ready -- claim --> leased -- complete --> (deleted)
      ^                  |
      |-- fail, release -+-- fail or vanish too often --> dead -- retry, enqueue --> ready

A subject that changes again while its job runs raises the job's *generation*; completing the
older generation makes the job ready once more instead of deleting it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from memrpc.store import json_column
from memrpc.store.errors import Conflict, NotFound

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import apsw

    from memrpc.store.json_column import JSON

MAX_ATTEMPTS: Final = 5
LEASE_US: Final = 30_000_000  # how long a claim or a heartbeat lasts
FIRST_BACK_OFF_US: Final = 1_000_000
MAX_BACK_OFF_US: Final = 3_600_000_000
MAX_ERROR_CHARS: Final = 500

_ENQUEUE: Final = """
INSERT INTO jobs (kind, subject, payload, state, enqueued_at, due_at)
VALUES (:kind, :subject, :payload, 'ready', :now, :due)
ON CONFLICT (kind, subject) DO UPDATE SET
  payload = excluded.payload,
  generation = generation + 1,
  attempts = iif(state = 'dead', 0, attempts),
  due_at = CASE
    WHEN state = 'dead' THEN excluded.due_at
    WHEN state = 'ready' AND attempts = 0 THEN min(due_at, excluded.due_at)
    ELSE due_at
  END,
  state = iif(state = 'dead', 'ready', state)
"""
_BURY: Final = """
UPDATE jobs SET state = 'dead', owner = NULL, error = 'its worker vanished each time'
WHERE state <> 'dead' AND state = 'leased' AND due_at <= :now AND attempts >= :max_attempts
"""
_CLAIM: Final = """
UPDATE jobs SET
  state = 'leased', owner = :owner, token = token + 1, attempts = attempts + 1, due_at = :until
WHERE id = (
  SELECT id FROM jobs
  WHERE state <> 'dead' AND due_at <= :now AND kind IN (SELECT value FROM json_each(:kinds))
  ORDER BY due_at, id LIMIT 1
)
RETURNING id, kind, subject, payload, generation, attempts, token
"""
_HELD: Final = "id = :id AND token = :token AND state = 'leased'"
_HEARTBEAT: Final = f"UPDATE jobs SET due_at = :until WHERE {_HELD} RETURNING id"
_DELETE: Final = f"DELETE FROM jobs WHERE {_HELD} AND generation = :generation RETURNING id"
_RUN_AGAIN: Final = f"""
UPDATE jobs SET state = 'ready', owner = NULL, attempts = 0, due_at = :now, error = NULL
WHERE {_HELD} RETURNING id
"""
_FAIL: Final = f"""
UPDATE jobs SET state = :state, owner = NULL, due_at = :due, error = :error
WHERE {_HELD} RETURNING id
"""
_PUT_OFF: Final = f"""
UPDATE jobs SET state = 'ready', owner = NULL, attempts = attempts - 1, due_at = :due,
  error = :reason
WHERE {_HELD} RETURNING id
"""
_RELEASE: Final = """
UPDATE jobs SET state = 'ready', owner = NULL, attempts = attempts - 1, due_at = :now
WHERE state = 'leased' AND owner = :owner RETURNING id
"""
_HASTEN: Final = """
UPDATE jobs SET due_at = min(due_at, :now)
WHERE kind = :kind AND subject = :subject AND state = 'ready'
"""
_RETRY: Final = """
UPDATE jobs SET state = 'ready', attempts = 0, due_at = :now WHERE id = :id AND state = 'dead'
RETURNING id
"""
_RETRY_ALL: Final = """
UPDATE jobs SET state = 'ready', attempts = 0, due_at = :now WHERE state = 'dead' RETURNING id
"""
_CANCEL: Final = "DELETE FROM jobs WHERE kind = :kind AND subject = :subject RETURNING id"
_IS_OWED: Final = "SELECT 1 FROM jobs WHERE kind = :kind AND subject = :subject"
_COUNTS: Final = "SELECT kind, state, count(*) FROM jobs GROUP BY kind, state ORDER BY kind, state"
_LIST: Final = """
SELECT id, kind, subject, state, attempts, owner, enqueued_at, due_at, error
FROM jobs ORDER BY id LIMIT :limit OFFSET :offset
"""
_NEXT_DUE: Final = """
SELECT min(due_at) FROM jobs
WHERE state <> 'dead' AND kind IN (SELECT value FROM json_each(:kinds))
"""


class State(Enum):
    """Where a job stands; a finished one has no row."""

    READY = "ready"
    LEASED = "leased"
    DEAD = "dead"


class LeaseLost(Conflict):
    """The job belongs to another worker by now, or to none; what was done must not be kept."""


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to run one job until another worker may claim it."""

    id: int
    kind: str
    subject: str
    payload: Mapping[str, JSON]
    generation: int
    attempts: int  # this one included
    token: int


@dataclass(frozen=True, slots=True)
class Job:
    """One owed piece of work, as people see it."""

    id: int
    kind: str
    subject: str
    state: State
    attempts: int
    owner: str | None
    enqueued_at: int
    due_at: int  # the end of the lease while it is leased
    error: str | None


@dataclass(frozen=True, slots=True)
class Count:
    """How many jobs of one kind are in one state."""

    kind: str
    state: State
    count: int


def enqueue(
    db: apsw.Connection,
    kind: str,
    subject: str,
    *,
    now: int,
    due: int | None = None,
    payload: Mapping[str, JSON] | None = None,
) -> None:
    """Owe one run of ``kind`` for ``subject``, from ``due`` on (default: at once).

    A second call before the job has run changes nothing but the payload and an earlier ``due``;
    one while it runs makes it run once more; one for a dead job revives it.  ``subject`` and
    ``payload`` name rows and never hold their text.
    """
    values = {
        "kind": kind,
        "subject": subject,
        "payload": json_column.encode(payload or {}),
        "now": now,
        "due": now if due is None else due,
    }
    db.execute(_ENQUEUE, values).fetchall()


def claim(
    db: apsw.Connection, kinds: Iterable[str], *, owner: str, now: int, lease_us: int = LEASE_US
) -> Lease | None:
    """Take the job that has been due longest, or None if nothing of ``kinds`` is due.

    A job whose worker vanished in its last attempt is dead and not handed out again.
    """
    db.execute(_BURY, {"now": now, "max_attempts": MAX_ATTEMPTS}).fetchall()
    values = {
        "kinds": json_column.encode(sorted(kinds)),
        "owner": owner,
        "now": now,
        "until": now + lease_us,
    }
    rows: list[Any] = db.execute(_CLAIM, values).fetchall()
    return _lease(rows[0]) if rows else None


def hasten(db: apsw.Connection, kind: str, subject: str, *, now: int) -> None:
    """Make a job that waits due now; one that is being run is left to whoever runs it."""
    db.execute(_HASTEN, {"kind": kind, "subject": subject, "now": now}).fetchall()


def heartbeat(db: apsw.Connection, lease: Lease, *, now: int, lease_us: int = LEASE_US) -> None:
    """Keep the lease for another ``lease_us``.

    Raises LeaseLost.
    """
    _transition(db, _HEARTBEAT, lease, until=now + lease_us)


def complete(db: apsw.Connection, lease: Lease, *, now: int) -> None:
    """Delete the finished job, or make it ready again if it was enqueued while it ran.

    Call it in the transaction of the job's effect: LeaseLost then undoes both.
    """
    values = {"id": lease.id, "token": lease.token, "generation": lease.generation}
    if not db.execute(_DELETE, values).fetchall():
        _transition(db, _RUN_AGAIN, lease, now=now)


def fail(db: apsw.Connection, lease: Lease, error: str, *, now: int, jitter: float) -> State:
    """Put the job off, twice as long each time, or declare it dead after ``MAX_ATTEMPTS``.

    ``error`` says what went wrong and never quotes a record.  ``jitter`` is in [0, 1) and spreads
    the delay over its upper half.  Raises LeaseLost.
    """
    state = State.DEAD if lease.attempts >= MAX_ATTEMPTS else State.READY
    due = now + back_off_us(lease.attempts, jitter)
    _transition(db, _FAIL, lease, state=state.value, due=due, error=error[:MAX_ERROR_CHARS])
    return state


def put_off(db: apsw.Connection, lease: Lease, *, due: int, reason: str) -> None:
    """Make the job ready again from ``due`` on, because something outside is in its way.

    Raises LeaseLost.  Unlike ``fail`` it does not count as an attempt.
    """
    _transition(db, _PUT_OFF, lease, due=due, reason=reason[:MAX_ERROR_CHARS])


def back_off_us(attempts: int, jitter: float) -> int:
    """Return the delay after that many attempts: doubling, bounded, its upper half random."""
    longest = min(FIRST_BACK_OFF_US << (attempts - 1), MAX_BACK_OFF_US)
    return int(longest * (0.5 + jitter / 2))


def release(db: apsw.Connection, owner: str, *, now: int) -> int:
    """Give back every lease of ``owner`` at shutdown, uncounted as attempts; say how many."""
    return len(db.execute(_RELEASE, {"owner": owner, "now": now}).fetchall())


def retry(db: apsw.Connection, job_id: int, *, now: int) -> None:
    """Make one dead job ready again.

    Raises NotFound if no dead job has that id.
    """
    if not db.execute(_RETRY, {"id": job_id, "now": now}).fetchall():
        raise NotFound(f"No dead job has the id {job_id}; `memrpc jobs list` shows them.")


def retry_all(db: apsw.Connection, *, now: int) -> int:
    """Make every dead job ready again and say how many there were."""
    return len(db.execute(_RETRY_ALL, {"now": now}).fetchall())


def cancel(db: apsw.Connection, kind: str, subject: str) -> bool:
    """Owe the job no longer, because its subject is gone; a running worker loses its lease."""
    return bool(db.execute(_CANCEL, {"kind": kind, "subject": subject}).fetchall())


def is_owed(db: apsw.Connection, kind: str, subject: str) -> bool:
    """Say whether there is such a job, in whatever state."""
    return db.execute(_IS_OWED, {"kind": kind, "subject": subject}).get is not None


def counts(db: apsw.Connection) -> list[Count]:
    """Count the jobs by kind and state."""
    rows: list[Any] = db.execute(_COUNTS).fetchall()
    return [Count(kind, State(state), count) for kind, state, count in rows]


def list_jobs(db: apsw.Connection, *, limit: int = 100, offset: int = 0) -> list[Job]:
    """List the jobs in the order in which they were first enqueued."""
    rows: list[Any] = db.execute(_LIST, {"limit": limit, "offset": offset}).fetchall()
    return [_job(row) for row in rows]


def next_due(db: apsw.Connection, kinds: Iterable[str]) -> int | None:
    """Return when the next job of ``kinds`` may be claimed; None if none is owed."""
    due: int | None = db.execute(_NEXT_DUE, {"kinds": json_column.encode(sorted(kinds))}).get
    return due


def _transition(db: apsw.Connection, sql: str, lease: Lease, **values: str | int) -> None:
    if not db.execute(sql, {"id": lease.id, "token": lease.token, **values}).fetchall():
        raise LeaseLost(
            f"The lease of the {lease.kind} job {lease.id} has passed to another worker.",
            job_id=lease.id,
        )


def _lease(row: tuple[Any, ...]) -> Lease:
    job_id, kind, subject, payload, generation, attempts, token = row
    content = json_column.decode_object(payload)
    return Lease(job_id, kind, subject, content, generation, attempts, token)


def _job(row: tuple[Any, ...]) -> Job:
    job_id, kind, subject, state, attempts, owner, enqueued_at, due_at, error = row
    return Job(job_id, kind, subject, State(state), attempts, owner, enqueued_at, due_at, error)
