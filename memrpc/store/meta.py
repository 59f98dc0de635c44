"""The file's own facts: for now the key that signs what travels through a client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import apsw

_KEY: Final = "SELECT value FROM meta WHERE name = 'key'"


def signing_key(db: apsw.Connection) -> bytes:
    """Return the 32 random bytes that were made with the file; every process reads the same."""
    return bytes(db.execute(_KEY).get)
