"""Domain values as JSON, by one rule: a dataclass is an object, None is left out.

A field whose metadata says ``nullable`` is shown as null.
"""

from __future__ import annotations

import enum
from dataclasses import fields, is_dataclass

from memrpc.wire.messages import JSON


def to_json(value: JSON) -> JSON:
    """``value`` as what the wire can carry."""
    if isinstance(value, enum.Enum):
        return value.value
    if is_dataclass(value):
        shown = ((f.name, getattr(value, f.name), f.metadata) for f in fields(value))
        return {n: to_json(v) for n, v, meta in shown if v is not None or "nullable" in meta}
    if isinstance(value, tuple | list):
        return [to_json(item) for item in value]
    return value
