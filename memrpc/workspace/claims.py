"""Claims: who works on a task, for how long, and whose writes still count.

A claim is a lease.  It is held by an agent's name *and* the server process it spoke through, ends
at ``expires_at`` unless renewed, and carries a token.  The database lets only one claim of a task
be open, so of many who come at once one wins.  A lease that has run out keeps nobody away, but the
row stays open until the next claimant or a change of the task ends it; its token is stale from the
moment that the time is over, so a dead holder who wakes up cannot finish another's work.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.store import json_column
from memrpc.store.errors import Conflict, InvalidState, NotFound
from memrpc.workspace import actions, fields, rules, tasks, times, topics
from memrpc.workspace.actions import Change
from memrpc.workspace.model import UNKNOWN, Claim, ClaimEnd, Kind, Task

if TYPE_CHECKING:
    from collections.abc import Collection

    import apsw

    from memrpc.workspace.model import Act, Object, Repo

LEASE_US: Final = 30 * 60 * 1_000_000

_COLUMNS: Final = """
SELECT claim, id, repo, task, agent, instance, role, token, metadata, claimed_at, expires_at,
  released_at, ended_by
FROM claims
"""
_OPEN: Final = _COLUMNS + "WHERE task = :task AND released_at IS NULL"
_OPEN_OF: Final = (
    _COLUMNS + "WHERE task IN (SELECT value FROM json_each(:keys)) AND released_at IS NULL"
)
_BY_TOKEN: Final = _COLUMNS + "WHERE task = :task AND token = :token"
_OF_REPO: Final = (
    _COLUMNS
    + """
WHERE repo = :repo AND (:agent IS NULL OR agent = :agent)
AND (:all OR (released_at IS NULL AND expires_at > :now))
AND (:task IS NULL OR task = :task)
ORDER BY claimed_at DESC, claim DESC LIMIT :limit OFFSET :offset
"""
)
_COUNT: Final = """
SELECT count(*) FROM claims
WHERE repo = :repo AND (:agent IS NULL OR agent = :agent)
AND (:all OR (released_at IS NULL AND expires_at > :now))
AND (:task IS NULL OR task = :task)
"""
_ADD: Final = """
INSERT INTO claims (id, repo, task, agent, instance, role, token, metadata, claimed_at, expires_at)
VALUES (:id, :repo, :task, :agent, :instance, :role, :token, :metadata, :claimed_at, :expires_at)
RETURNING claim
"""
_RENEW: Final = """
UPDATE claims SET expires_at = :expires_at, role = :role, metadata = :metadata WHERE claim = :claim
"""
_END: Final = "UPDATE claims SET released_at = :now, ended_by = :ended_by WHERE claim = :claim"


class Wish(NamedTuple):
    """What a claimant says."""

    role: str | None = None
    metadata: Object | None = None
    token: str | None = None
    force: bool = False
    lease_us: int = LEASE_US


def take(db: apsw.Connection, repo: Repo, task: Task, wish: Wish, act: Act) -> Claim:
    """Give the task to the act's agent, or renew what it holds.

    Raises Conflict while another holds it, saying who and until when, and for a stale token;
    InvalidState for a task that nobody can work on.
    """
    _check_wish(wish)
    held = open_claim(db, task)
    if wish.token is not None:
        return _renew(db, repo, task, _by_token(db, task, wish.token, held), wish, act)
    if held is not None and held.is_live(act.now):
        if is_holder(held, act):
            return _renew(db, repo, task, held, wish, act)
        if not wish.force:
            raise _taken(task, held)
    _check_claimable(task)
    if held is not None:
        _end(db, held, ClaimEnd.FORCE if held.is_live(act.now) else ClaimEnd.EXPIRY, act)
    return _add(db, repo, task, wish, act)


def release(
    db: apsw.Connection, repo: Repo, task: Task, act: Act, *, token: str | None, force: bool
) -> Claim:
    """End the claim of the act's agent; the task's status stays.

    Raises NotFound where nobody holds the task, Conflict where another does.
    """
    held = open_claim(db, task)
    owns = held is not None and _owns(held, act, token)
    if held is None or not (owns or held.is_live(act.now)):
        raise NotFound(f"No active claim found on {task.code}; nothing to release.", code=task.code)
    if not (owns or force):
        raise _taken(task, held)
    _end(db, held, ClaimEnd.RELEASE if owns else ClaimEnd.FORCE, act)
    change = Change("release", Kind.CLAIM, held.id, task.code, actions.snapshot(held))
    actions.log(db, repo, act, change)
    _note(db, repo, task, act)
    return held._replace(released_at=act.now)


def end_all(db: apsw.Connection, task: Task, act: Act) -> int:
    """End what is open on a task that is over; returns how many claims were live."""
    held = open_claim(db, task)
    if held is None:
        return 0
    _end(db, held, ClaimEnd.TASK, act)
    return int(held.is_live(act.now))


def check_writer(
    db: apsw.Connection, task: Task, act: Act, *, token: str | None, moves: bool, force: bool
) -> None:
    """Refuse a write with a stale token, and a change of status past another's live claim."""
    held = open_claim(db, task)
    if token is not None:
        if held is None or held.token != token or not held.is_live(act.now):
            raise _stale(task, held, act.now)
        return
    is_others = held is not None and held.is_live(act.now) and not is_holder(held, act)
    if held is not None and is_others and moves and not force:
        raise _taken(task, held)


def hand_over(db: apsw.Connection, task: Task, from_agent: str, act: Act) -> None:
    """End the claim of whoever hands the task over, so that the next agent can take it."""
    held = open_claim(db, task)
    if held is not None and held.agent == from_agent:
        _end(db, held, ClaimEnd.RELEASE, act)


def open_claim(db: apsw.Connection, task: Task) -> Claim | None:
    """Return the claim that nothing has ended yet; its lease may be over."""
    row = db.execute(_OPEN, {"task": task.key}).fetchone()
    return None if row is None else _claim(row)


def live_of(db: apsw.Connection, keys: Collection[int], *, now: int) -> dict[int, Claim]:
    """Return the live claim of each task that has one."""
    rows: list[Any] = db.execute(_OPEN_OF, {"keys": json.dumps(list(keys))}).fetchall()
    found = (_claim(row) for row in rows)
    return {claim.task: claim for claim in found if claim.is_live(now)}


class ClaimFilter(NamedTuple):
    """Which claims to list."""

    agent: str | None = None
    task: int | None = None
    active_only: bool = True
    limit: int = 20
    offset: int = 0


def listed(
    db: apsw.Connection, repo: Repo, chosen: ClaimFilter, *, now: int
) -> tuple[list[Claim], int]:
    """List claims, newest first, and count how many there are in all."""
    values: dict[str, str | int | None] = {
        "repo": repo.key,
        "agent": chosen.agent,
        "task": chosen.task,
        "all": not chosen.active_only,
        "now": now,
    }
    total: int = db.execute(_COUNT, values).get
    values |= {"limit": chosen.limit, "offset": chosen.offset}
    return [_claim(row) for row in db.execute(_OF_REPO, values).fetchall()], total


def _owns(claim: Claim, act: Act, token: str | None) -> bool:
    return is_holder(claim, act) if token is None else claim.token == token


def is_holder(claim: Claim, act: Act) -> bool:
    """Say whether the act is the holder's: the same name through the same process."""
    return (claim.agent, claim.instance) == (act.agent, act.instance)


def _add(db: apsw.Connection, repo: Repo, task: Task, wish: Wish, act: Act) -> Claim:
    claim = Claim(
        key=0,
        id=act.new_id(),
        repo=repo.key,
        task=task.key,
        agent=act.agent,
        instance=act.instance,
        role=wish.role or UNKNOWN,
        token=act.new_id(),
        metadata=wish.metadata or {},
        claimed_at=act.now,
        expires_at=act.now + wish.lease_us,
        released_at=None,
        ended_by=None,
    )
    values = fields.of(claim) | {"metadata": json_column.encode(claim.metadata)}
    claim = claim._replace(key=db.execute(_ADD, values).get)
    change = Change("claim", Kind.CLAIM, claim.id, task.code, after=actions.snapshot(claim))
    actions.log(db, repo, act, change)
    _note(db, repo, task, act)
    return claim


def _renew(
    db: apsw.Connection, repo: Repo, task: Task, claim: Claim, wish: Wish, act: Act
) -> Claim:
    """Prolong the claim; what is said of role and metadata takes the place of what was."""
    renewed = claim._replace(
        expires_at=act.now + wish.lease_us,
        role=wish.role or claim.role,
        metadata=claim.metadata if wish.metadata is None else wish.metadata,
    )
    values = {
        "claim": claim.key,
        "expires_at": renewed.expires_at,
        "role": renewed.role,
        "metadata": json_column.encode(renewed.metadata),
    }
    db.execute(_RENEW, values).fetchall()
    _note(db, repo, task, act)
    return renewed


def _end(db: apsw.Connection, claim: Claim, how: ClaimEnd, act: Act) -> None:
    values = {"claim": claim.key, "ended_by": str(how), "now": act.now}
    db.execute(_END, values).fetchall()


def _by_token(db: apsw.Connection, task: Task, token: str, held: Claim | None) -> Claim:
    """Return the open claim that the token names; a lease that ran out may still be renewed."""
    row = db.execute(_BY_TOKEN, {"task": task.key, "token": token}).fetchone()
    if row is None or _claim(row).released_at is not None:
        raise _stale(task, held, None)
    return _claim(row)


def _check_wish(wish: Wish) -> None:
    rules.check_text(wish.role or "", "role", rules.BRIEF_CHARS)
    rules.check_object(json_column.encode(wish.metadata or {}), "metadata")


def _check_claimable(task: Task) -> None:
    if task.status not in rules.CLAIMABLE:
        raise InvalidState(
            f"{task.code} is {task.status} and cannot be claimed; only backlog, pending and "
            "in_progress tasks can. Change its status with task-write first.",
            code=task.code,
            status=task.status,
        )


def _taken(task: Task, held: Claim) -> Conflict:
    until = times.to_text(held.expires_at)
    return Conflict(
        f"{task.code} is claimed by {held.agent} until {until}; wait, ask for a handoff, or send "
        "force: true to take it over.",
        reason="CLAIM_HELD",
        code=task.code,
        holder=held.agent,
        expires_at=until,
    )


def _stale(task: Task, held: Claim | None, now: int | None) -> Conflict:
    """Say why a token is no good, and who holds the task now."""
    details = {"reason": "STALE_CLAIM", "code": task.code}
    if held is not None and (now is None or held.is_live(now)):
        details |= {"holder": held.agent, "expires_at": times.to_text(held.expires_at)}
        who = f"{held.agent} holds it until {details['expires_at']}"
    else:
        who = "nobody holds it now"
    return Conflict(
        f"claim_token is stale: it no longer holds {task.code}, {who}. Nothing was written; claim "
        "it again with claim-manage.",
        **details,
    )


def _note(db: apsw.Connection, repo: Repo, task: Task, act: Act) -> None:
    topics.note(db, repo, (topics.TASKS,), f"task://{task.id}", now=act.now)


def _claim(row: Any) -> Claim:  # noqa: ANN401 -- a row as apsw returns it
    values: list[Any] = list(row)
    values[8] = json_column.decode_object(row[8])
    values[12] = None if row[12] is None else ClaimEnd(row[12])
    return Claim(*values)


def task_of(db: apsw.Connection, claim: Claim) -> Task:
    """Return the task that the claim is on."""
    return tasks.by_keys(db, [claim.task])[claim.task]
