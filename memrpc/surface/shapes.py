"""Domain values as JSON, by one rule: what has named fields is an object, None is left out.

A dataclass's field whose metadata says ``nullable`` is shown as null.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from typing import Final

from memrpc.wire.messages import JSON

_PLAIN: Final = frozenset({str, int, float, bool, type(None)})


def to_json(value: JSON) -> JSON:
    """``value`` as what the wire can carry."""
    kind: JSON = type(value)
    return value if kind in _PLAIN else _writer(kind)(value)


@cache
def _writer(kind: JSON) -> Callable[[JSON], JSON]:
    """What makes JSON of the values of one class; recall shows hundreds of them."""
    if issubclass(kind, enum.Enum):
        return attrgetter("value")
    if is_dataclass(kind):
        nullable = frozenset(each.name for each in fields(kind) if "nullable" in each.metadata)
        return _object_writer(tuple(each.name for each in fields(kind)), nullable)
    if hasattr(kind, "_fields"):
        return _object_writer(kind._fields, frozenset())
    if issubclass(kind, tuple | list):
        return lambda items: [to_json(item) for item in items]
    return lambda value: value


def _object_writer(names: tuple[str, ...], nullable: frozenset[str]) -> Callable[[JSON], JSON]:
    def write(value: JSON) -> JSON:
        return {
            name: shown if type(shown) in _PLAIN else to_json(shown)
            for name in names
            if (shown := getattr(value, name)) is not None or name in nullable
        }

    return write
