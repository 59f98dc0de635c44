"""Repositories and the right to index one: a lease with a fencing token.

A run renews its lease with every batch that it writes.  One that was stopped or whose machine slept
finds its token stale at the next batch and writes no more.  One that is known to have died need not
be waited for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.codebase.model import Repository
from memrpc.store import json_column
from memrpc.store.errors import Conflict, NotFound, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import apsw

    from memrpc.store.json_column import JSON

LEASE_US: Final = 15_000_000

_COLUMNS: Final = "id, owner, name, root, indexed_at"
_FIND: Final = f"SELECT {_COLUMNS} FROM code_repositories WHERE owner = :owner AND name = :name"
_NAMED: Final = f"SELECT {_COLUMNS} FROM code_repositories WHERE name = :name ORDER BY owner"
_ALL: Final = f"SELECT {_COLUMNS} FROM code_repositories ORDER BY name, owner"
_MAKE: Final = """
INSERT INTO code_repositories (owner, name, root) VALUES (:owner, :name, :root)
ON CONFLICT (owner, name) DO NOTHING
"""
_HOLDER: Final = "SELECT lease_owner FROM code_repositories WHERE owner = :owner AND name = :name"
_TAKE: Final = """
UPDATE code_repositories SET lease_token = lease_token + 1, lease_until = :until,
  lease_owner = :holder, done = 0, total = 0
WHERE owner = :owner AND name = :name AND (lease_until <= :now OR :is_gone)
RETURNING id, lease_token
"""
_HELD: Final = "id = :id AND lease_token = :token"
_RENEW: Final = f"""
UPDATE code_repositories SET lease_until = :until, done = :done, total = :total
WHERE {_HELD} RETURNING id
"""
_RELEASE: Final = f"UPDATE code_repositories SET lease_until = 0 WHERE {_HELD}"
_FINISH: Final = f"""
UPDATE code_repositories SET root = :root, indexed_at = :now, report = json_set(:report,
  '$.seenAt', coalesce(:seen_at, report ->> '$.seenAt', indexed_at),
  '$.reader', coalesce(:reader, report ->> '$.reader'))
WHERE {_HELD} RETURNING id
"""
_READER: Final = "SELECT report ->> '$.reader' FROM code_repositories WHERE id = :id"
_RUNNING: Final = """
SELECT done, total, lease_until > :now, lease_owner, coalesce(report ->> '$.seenAt', indexed_at),
  json_remove(report, '$.seenAt', '$.reader')
FROM code_repositories WHERE id = :id
"""


class Lease(NamedTuple):
    """The right to write a repository's index."""

    repository: int
    token: int


class Whole(NamedTuple):
    """What is true of a run that looked at every file: when it began, and what read them."""

    seen_at: int
    reader: str


class Running(NamedTuple):
    """How far the present run is, if there is one, and what the last one counted.

    What came after ``seen_at``, when the last run that looked at all files began, is not indexed.
    """

    done: int
    total: int
    is_running: bool
    seen_at: int | None
    report: Mapping[str, JSON]


def find(db: apsw.Connection, owner: str, name: str) -> Repository | None:
    """The repository of that owner and name, indexed or about to be."""
    rows: list[Any] = db.execute(_FIND, {"owner": owner, "name": name}).fetchall()
    return Repository(*rows[0]) if rows else None


def named(db: apsw.Connection, name: str) -> list[Repository]:
    """Every owner's repository of that name."""
    rows: list[Any] = db.execute(_NAMED, {"name": name}).fetchall()
    return [Repository(*row) for row in rows]


def every(db: apsw.Connection) -> list[Repository]:
    """All of them."""
    rows: list[Any] = db.execute(_ALL).fetchall()
    return [Repository(*row) for row in rows]


def indexed(db: apsw.Connection, owner: str, name: str) -> Repository:
    """The repository, which has an index.

    Raises NotFound.
    """
    repository = find(db, owner, name)
    if repository is None or repository.indexed_at is None:
        raise NotFound(
            f"Repo {owner}/{name} not indexed. Run codebase-index on repo.",
            reason="REPO_NOT_INDEXED",
            owner=owner,
            repo=name,
            recoverable=True,
        )
    return repository


def take(
    db: apsw.Connection,
    repository: Repository,
    *,
    holder: str,
    now: int,
    is_gone: Callable[[str], bool] = lambda _holder: False,
    lease_us: int = LEASE_US,
) -> Lease:
    """Begin a run.

    Raises Unavailable while another one is under way whose holder is not known to be gone.
    """
    place = {"owner": repository.owner, "name": repository.name}
    db.execute(_MAKE, {**place, "root": repository.root}).fetchall()
    before: str = db.execute(_HOLDER, place).get or ""
    values = {
        **place,
        "holder": holder,
        "now": now,
        "until": now + lease_us,
        "is_gone": is_gone(before),
    }
    rows: list[Any] = db.execute(_TAKE, values).fetchall()
    if not rows:
        raise Unavailable(
            f"An index run of {repository.owner}/{repository.name} is under way already; "
            "wait for it, or ask for its status with codebase-index without repoPath.",
            reason="INDEX_IN_PROGRESS",
        )
    return Lease(*rows[0])


def renew(
    db: apsw.Connection,
    lease: Lease,
    *,
    now: int,
    done: int = 0,
    total: int = 0,
    lease_us: int = LEASE_US,
) -> None:
    """Keep the lease, and say how far the run is.

    Raises Conflict when another run has begun since.
    """
    values = {**lease_values(lease), "until": now + lease_us, "done": done, "total": total}
    _held(db, _RENEW, values)


def finish(
    db: apsw.Connection,
    lease: Lease,
    *,
    root: str,
    report: Mapping[str, JSON],
    now: int,
    whole: Whole | None,
) -> None:
    """Note a run that came to its end; ``whole`` is None if it saw a part only.

    Raises Conflict when another run has begun since.
    """
    seen_at, reader = (None, None) if whole is None else whole
    written = json_column.encode(report)
    noted = {"root": root, "report": written, "seen_at": seen_at, "reader": reader}
    _held(db, _FINISH, {**lease_values(lease), "now": now, **noted})


def reader(db: apsw.Connection, repository: int) -> str | None:
    """What read the files of the last run that looked at all of them."""
    name: str | None = db.execute(_READER, {"id": repository}).get
    return name


def release(db: apsw.Connection, lease: Lease) -> None:
    """Let the next run begin; nothing happens if it has."""
    db.execute(_RELEASE, lease_values(lease)).fetchall()


def running(
    db: apsw.Connection,
    repository: int,
    *,
    now: int,
    is_gone: Callable[[str], bool] = lambda _holder: False,
) -> Running:
    """What is going on; a run whose holder is known to be gone is not."""
    rows: list[Any] = db.execute(_RUNNING, {"id": repository, "now": now}).fetchall()
    done, total, is_held, holder, seen_at, report = rows[0]
    is_running = bool(is_held) and not is_gone(holder or "")
    return Running(done, total, is_running, seen_at, json_column.decode_object(report))


def lease_values(lease: Lease) -> dict[str, int]:
    return {"id": lease.repository, "token": lease.token}


def _held(db: apsw.Connection, sql: str, values: Mapping[str, int | str | None]) -> None:
    if not db.execute(sql, values).fetchall():
        raise Conflict(
            "Another index run of this repository has begun; this one stops.",
            reason="INDEX_LEASE_LOST",
        )
