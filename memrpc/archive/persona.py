"""The core persona: an ordered text that only the user edits, at the command line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memrpc.archive import rules, scopes, times
from memrpc.store import changes
from memrpc.store.errors import LimitExceeded

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

_ROW: Final = "SELECT version, updated_at FROM personas WHERE persona_id = :persona_id"
_ITEMS: Final = "SELECT text FROM persona_items WHERE persona_id = :persona_id ORDER BY position"
_NAMES: Final = "SELECT persona_id FROM personas ORDER BY persona_id"
_BUMP: Final = """
INSERT INTO personas (persona_id, version, updated_at) VALUES (:persona_id, 1, :now)
ON CONFLICT (persona_id) DO UPDATE SET version = version + 1, updated_at = excluded.updated_at
"""
_SET_VERSION: Final = "UPDATE personas SET version = :version WHERE persona_id = :persona_id"
_CLEAR: Final = "DELETE FROM persona_items WHERE persona_id = :persona_id"
_ADD: Final = """
INSERT INTO persona_items (persona_id, position, text) VALUES (:persona_id, :position, :text)
"""


@dataclass(frozen=True, slots=True)
class Persona:
    """A persona's core; version 0 is one that was never edited."""

    persona_id: str
    version: int
    updated_at: str | None
    items: tuple[str, ...]

    @property
    def text(self) -> str:
        """The items as the model reads them, a line each."""
        return "\n".join(self.items)


def current(db: apsw.Connection, persona_id: str) -> Persona:
    """Return the persona as it stands."""
    values = {"persona_id": persona_id}
    row: Any = db.execute(_ROW, values).get
    if row is None:
        return Persona(persona_id, 0, None, ())
    items: list[Any] = db.execute(_ITEMS, values).fetchall()
    return Persona(persona_id, row[0], times.to_text(row[1]), tuple(text for (text,) in items))


def names(db: apsw.Connection) -> list[str]:
    """List every persona that was edited or recorded for."""
    rows: list[Any] = db.execute(_NAMES).fetchall()
    return sorted({*scopes.personas(db), *(name for (name,) in rows)})


def replace(db: apsw.Connection, persona_id: str, items: Sequence[str], *, now: int) -> Persona:
    """Put ``items`` in place of the whole core and tell subscribers.

    Equal items change nothing, not even the version.
    """
    check(persona_id, items)
    before = current(db, persona_id)
    if before.version and before.items == tuple(items):
        return before
    db.execute(_BUMP, {"persona_id": persona_id, "now": now}).fetchall()
    db.execute(_CLEAR, {"persona_id": persona_id}).fetchall()
    for position, text in enumerate(items):
        values = {"persona_id": persona_id, "position": position, "text": text}
        db.execute(_ADD, values).fetchall()
    changes.note(db, topic(persona_id), now=now)
    return current(db, persona_id)


def restore(db: apsw.Connection, core: Persona, *, now: int) -> bool:
    """Take over an exported core that is newer than the one here; say whether it was."""
    if core.version <= current(db, core.persona_id).version:
        return False
    replace(db, core.persona_id, core.items, now=now)
    values = {"persona_id": core.persona_id, "version": core.version}
    db.execute(_SET_VERSION, values).fetchall()
    return True


def topic(persona_id: str) -> str:
    """Return the topic under which a change of the core is noted."""
    return f"persona:{persona_id}"


def check(persona_id: str, items: Sequence[str]) -> None:
    """Refuse a core that is no short list of short texts."""
    rules.check_name(persona_id, "persona_id")
    if len(items) > rules.MAX_PERSONA_ITEMS:
        raise LimitExceeded(
            f"items has {len(items)} entries and the limit is {rules.MAX_PERSONA_ITEMS}; "
            "send fewer.",
            field="items",
            limit=rules.MAX_PERSONA_ITEMS,
            actual=len(items),
        )
    for index, text in enumerate(items):
        rules.check_text(text, f"items[{index}]", rules.MAX_CONTENT_CHARS)
