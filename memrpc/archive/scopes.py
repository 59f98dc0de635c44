"""Scopes: the number that stands for a persona and a project in every row."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memrpc.archive.model import Scope

if TYPE_CHECKING:
    import apsw

NEAR_LIMIT: Final = 5
_NEAR_MINIMUM_CHARS: Final = 3
_SEPARATORS: Final = re.compile(r"[\W_]+")

_FIND: Final = """
SELECT scope FROM scopes WHERE persona_id = :persona_id AND project_id = :project_id
"""
_ADD: Final = """
INSERT INTO scopes (persona_id, project_id) VALUES (:persona_id, :project_id)
ON CONFLICT (persona_id, project_id) DO NOTHING
"""
_NAME: Final = "SELECT persona_id, project_id FROM scopes WHERE scope = :scope"
_COUNTS: Final = """
SELECT events, memories,
  (SELECT count(*) FROM events WHERE events.scope = scopes.scope AND state = 'pending')
FROM scopes WHERE scope = :scope
"""
_PROJECTS: Final = """
SELECT project_id FROM scopes WHERE persona_id = :persona_id AND events > 0 ORDER BY project_id
"""
_PERSONAS: Final = "SELECT DISTINCT persona_id FROM scopes ORDER BY persona_id"


@dataclass(frozen=True, slots=True)
class Counts:
    """What a scope holds."""

    events: int = 0
    memories: int = 0
    pending: int = 0


def find(db: apsw.Connection, scope: Scope) -> int | None:
    """Return the scope's number, or None when nothing was ever recorded in it."""
    key: int | None = db.execute(_FIND, _values(scope)).get
    return key


def ensure(db: apsw.Connection, scope: Scope) -> int:
    """Return the scope's number, giving it one if it is new."""
    found = find(db, scope)
    if found is not None:
        return found
    db.execute(_ADD, _values(scope)).fetchall()
    key: int = db.execute(_FIND, _values(scope)).get
    return key


def name(db: apsw.Connection, key: int) -> Scope:
    """Return the names behind a number."""
    persona_id, project_id = db.execute(_NAME, {"scope": key}).get
    return Scope(persona_id, project_id)


def counts(db: apsw.Connection, key: int | None) -> Counts:
    """Count the scope's events, memories and extractions that are still owed."""
    row: Any = None if key is None else db.execute(_COUNTS, {"scope": key}).get
    return Counts() if row is None else Counts(*row)


def projects(db: apsw.Connection, persona_id: str) -> list[str]:
    """List the persona's projects that hold events."""
    rows: list[Any] = db.execute(_PROJECTS, {"persona_id": persona_id}).fetchall()
    return [project_id for (project_id,) in rows]


def personas(db: apsw.Connection) -> list[str]:
    """List every persona that a scope names."""
    rows: list[Any] = db.execute(_PERSONAS).fetchall()
    return [persona_id for (persona_id,) in rows]


def near_projects(db: apsw.Connection, scope: Scope) -> list[str]:
    """List up to five of the persona's projects whose names look like the scope's.

    Names are compared folded and without separators: equal ones first, then those of which one
    contains the other.  Only names are shown, and only those of the same persona.
    """
    wanted = folded(scope.project_id)
    others = [name for name in projects(db, scope.persona_id) if name != scope.project_id]
    same = [name for name in others if folded(name) == wanted]
    near = [name for name in others if name not in same and _is_near(wanted, folded(name))]
    return [*same, *near][:NEAR_LIMIT]


def folded(text: str) -> str:
    """Return ``text`` as names are compared: NFKC, case folded, separators removed."""
    return _SEPARATORS.sub("", unicodedata.normalize("NFKC", text).casefold())


def _is_near(wanted: str, other: str) -> bool:
    """Say whether one name contains the other; a short one is contained in too many."""
    shorter, longer = sorted((wanted, other), key=len)
    return len(shorter) >= _NEAR_MINIMUM_CHARS and shorter in longer


def _values(scope: Scope) -> dict[str, str]:
    return {"persona_id": scope.persona_id, "project_id": scope.project_id}
