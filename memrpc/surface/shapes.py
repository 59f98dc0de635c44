"""Domain values as JSON, by one rule: a dataclass is an object, None is left out.

A field whose metadata says ``nullable`` is shown as null.
"""

from __future__ import annotations

import enum
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Final

from memrpc.wire.messages import JSON

_PLAIN: Final = frozenset({str, int, float, bool, type(None)})


def to_json(value: JSON) -> JSON:
    """``value`` as what the wire can carry."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, enum.Enum):
        return value.value
    if is_dataclass(value):
        kind: JSON = type(value)
        shown = ((name, getattr(value, name), is_nullable) for name, is_nullable in _shape(kind))
        return {name: to_json(v) for name, v, is_nullable in shown if is_nullable or v is not None}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    return value


@cache
def _shape(kind: JSON) -> tuple[tuple[str, bool], ...]:
    """The names of its fields, and whether each may be shown as null."""
    return tuple((f.name, "nullable" in f.metadata) for f in fields(kind))
