"""Cues: a caller's handles on an event, matched exactly and never loaded or recognised."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from memrpc.archive.model import Cue, CueKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

_ADD: Final = """
INSERT INTO cues (event_seq, kind, key, label, key_hash)
VALUES (:event_seq, :kind, :key, :label, :key_hash)
"""
_OF_EVENT: Final = "SELECT kind, key, label FROM cues WHERE event_seq = :event_seq ORDER BY cue"
_EVENTS: Final = """
SELECT DISTINCT events.seq FROM cues JOIN events ON events.seq = cues.event_seq
WHERE cues.key_hash = :key_hash AND cues.key = :key AND events.scope = :scope
"""


def add(db: apsw.Connection, seq: int, cues: Iterable[Cue]) -> None:
    """Attach ``cues`` to the event at ``seq``."""
    for cue in cues:
        db.execute(
            _ADD,
            {
                "event_seq": seq,
                "kind": cue.kind,
                "key": cue.key,
                "label": cue.label,
                "key_hash": _hash(cue.key),
            },
        ).fetchall()


def of_event(db: apsw.Connection, seq: int) -> tuple[Cue, ...]:
    """Return the event's cues in the order in which they came."""
    rows: list[Any] = db.execute(_OF_EVENT, {"event_seq": seq}).fetchall()
    return tuple(Cue(CueKind(kind), key, label) for kind, key, label in rows)


def events_with(db: apsw.Connection, scope: int, key: str) -> set[int]:
    """Return the places of the scope's events that carry a cue of this key."""
    values = {"scope": scope, "key": key, "key_hash": _hash(key)}
    rows: list[Any] = db.execute(_EVENTS, values).fetchall()
    return {seq for (seq,) in rows}


def _hash(key: str) -> int:
    """Return the 64-bit number under which the key is found."""
    digest = hashlib.blake2b(key.encode(), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)
