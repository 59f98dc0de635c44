"""Deposits: text left under a name, for a client that comes back, to any process, until it expires.

Whoever replaces a deposit names the version that it replaces, so of two that race one wins.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import apsw

_SWEEP: Final = "DELETE FROM deposits WHERE expires_at <= :now"
_LEAVE: Final = "INSERT INTO deposits VALUES (:name, :version, :body, :expires_at)"
_FIND: Final = "SELECT body FROM deposits WHERE name = :name AND expires_at > :now"
_REPLACE: Final = """
UPDATE deposits SET version = :version, body = :body, expires_at = :expires_at
WHERE name = :name AND version = :version - 1
RETURNING 1
"""


@dataclass(frozen=True, slots=True)
class Deposit:
    """What is left; ``expires_at`` is in microseconds."""

    name: str
    version: int
    body: str
    expires_at: int


def leave(db: apsw.Connection, deposit: Deposit, *, now: int) -> None:
    """Keep a new deposit, and throw away those that have expired."""
    db.execute(_SWEEP, {"now": now}).fetchall()
    db.execute(_LEAVE, _values(deposit)).fetchall()


def find(db: apsw.Connection, name: str, *, now: int) -> str | None:
    """Return what was left under the name; None where nothing was or it has expired."""
    body: str | None = db.execute(_FIND, {"name": name, "now": now}).get
    return body


def replace(db: apsw.Connection, deposit: Deposit) -> bool:
    """Put the next version in a deposit's place; False where the one before is not there."""
    return bool(db.execute(_REPLACE, _values(deposit)).fetchall())


def _values(deposit: Deposit) -> dict[str, Any]:
    return {
        "name": deposit.name,
        "version": deposit.version,
        "body": deposit.body,
        "expires_at": deposit.expires_at,
    }
