"""The durable queue: work owed because of a committed change, done at least once.

``enqueue`` runs in the transaction of the change that causes the work, so neither exists without
the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memrpc.store import json_column

if TYPE_CHECKING:
    from collections.abc import Mapping

    import apsw

    from memrpc.store.json_column import JSON

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
    db.execute(
        _ENQUEUE,
        {
            "kind": kind,
            "subject": subject,
            "payload": json_column.encode(payload or {}),
            "now": now,
            "due": now if due is None else due,
        },
    ).fetchall()
