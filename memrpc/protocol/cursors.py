"""Opaque cursors: where a list goes on, sealed with the name of the list it belongs to."""

from __future__ import annotations

from typing import Final

_SEPARATOR: Final = "\x00"


class CursorError(ValueError):
    """The cursor did not come from this list."""


def seal(list_name: str, position: str) -> str:
    """A cursor for ``position`` in the list of that name."""
    import base64

    text = f"{list_name}{_SEPARATOR}{position}"
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def unseal(list_name: str, cursor: str) -> str:
    """The position in ``cursor``.  Raises ``CursorError`` for one of another list, or of none."""
    import base64

    try:
        padded = cursor.encode("ascii") + b"=" * (-len(cursor) % 4)
        text = base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except ValueError as error:
        raise CursorError(cursor) from error
    name, separator, position = text.partition(_SEPARATOR)
    if name != list_name or not separator:
        raise CursorError(cursor)
    return position
