"""The fields of a record by name, read all at once: rows and the action log are made of them."""

from __future__ import annotations

from typing import Any


def of(record: Any, without: frozenset[str] = frozenset()) -> dict[str, Any]:  # noqa: ANN401 -- any named tuple
    """Return the fields of a named tuple and their values as they are."""
    shown: dict[str, Any] = record._asdict()
    for name in without:
        shown.pop(name, None)
    return shown
