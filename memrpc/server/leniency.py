"""Read arguments the way models write them, before they are judged: the one lenient place.

Some hosts send numbers, booleans, arrays and objects as strings, and null for what they leave
out.  Each value is turned into its declared type where that is certain; anything else is left as
it came, for validation to refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from memrpc.wire.codec import read_value
from memrpc.wire.messages import JSON, JSONObject

_SEVERAL: Final = frozenset(",;[]{}\n")
_NUMBER_BEGINS: Final = frozenset("-0123456789")
_BOOLEANS: Final[Mapping[str, bool]] = MappingProxyType({"true": True, "false": False})


def read_arguments(arguments: JSONObject, schema: JSONObject) -> dict[str, JSON]:
    """``arguments`` with unknown keys and nulls left out, types coerced, defaults filled in."""
    meant: dict[str, JSON] = {}
    for name, rule in schema.get("properties", {}).items():
        value = arguments.get(name)
        if value is not None:
            meant[name] = _coerce(value, rule)
        elif "default" in rule:
            meant[name] = rule["default"]
    return meant


def _coerce(value: JSON, schema: JSONObject) -> JSON:
    kind = schema.get("type")
    if kind == "string":
        return value
    if isinstance(value, str) and kind in _READERS:
        value = _READERS[kind](value)
    if kind == "array" and isinstance(value, str) and _is_one_item(value, schema):
        return [value]
    if kind == "array" and isinstance(value, list):
        return [_coerce(item, schema.get("items", {})) for item in value]
    if kind == "object" and isinstance(value, dict) and "properties" in schema:
        return _object(value, schema)
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _is_one_item(text: str, schema: JSONObject) -> bool:
    """Whether a text is its array's only item: one with a comma or a bracket may be several."""
    is_list_of_texts = schema.get("items", {}).get("type") == "string"
    return is_list_of_texts and text.strip() != "" and _SEVERAL.isdisjoint(text)


def _object(value: JSONObject, schema: JSONObject) -> JSON:
    """A nested object keeps its unknown keys, so that a strict schema can name them."""
    known = schema["properties"]
    return {
        name: _coerce(item, known.get(name, {}))
        for name, item in value.items()
        if not (item is None and name in known)
    }


def _number(text: str) -> JSON:
    if text.lstrip()[:1] not in _NUMBER_BEGINS:  # Far cheaper than a failed parse.
        return text
    value = read_value(text)
    return value if type(value) in (int, float) else text


def _boolean(text: str) -> JSON:
    return _BOOLEANS.get(text.strip().lower(), text)


def _container(kind: type) -> Callable[[str], JSON]:
    def read(text: str) -> JSON:
        value = read_value(text)
        return value if isinstance(value, kind) else text

    return read


_READERS: Final[Mapping[JSON, Callable[[str], JSON]]] = MappingProxyType(
    {
        "integer": _number,
        "number": _number,
        "boolean": _boolean,
        "array": _container(list),
        "object": _container(dict),
    }
)
