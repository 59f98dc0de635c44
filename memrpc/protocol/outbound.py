"""The ledger of what this server asked the client and has had no answer to yet."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Outbound:
    """Our requests have an id space of their own: direction tells them from the client's."""

    _pending: set[str] = field(default_factory=set)
    _opened: int = 0

    def open(self) -> str:
        """A fresh id, waiting for its answer from now on."""
        self._opened += 1
        id_ = f"srv-{self._opened}"
        self._pending.add(id_)
        return id_

    def close(self, id_: str) -> bool:
        """Stop waiting.  False if nothing was waiting: a late or invented answer."""
        if id_ not in self._pending:
            return False
        self._pending.discard(id_)
        return True
