"""JSON as a column holds it: compact, keys sorted, so that equal values are equal bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias, cast

import orjson

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

JSON: TypeAlias = "bool | int | float | str | Sequence[JSON] | Mapping[str, JSON] | None"


def encode(value: JSON) -> str:
    """Write ``value`` as the column's text.

    Raises TypeError for what JSON cannot say.
    """
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def decode(text: str) -> JSON:
    """Read back the value that ``encode`` wrote.

    Raises ValueError when the column holds something else.
    """
    return cast(JSON, orjson.loads(text))


def decode_list(text: str) -> tuple[str, ...]:
    """Read back the list of texts that ``encode`` wrote."""
    return tuple(orjson.loads(text))


def decode_object(text: str) -> dict[str, JSON]:
    """Read back the object that ``encode`` wrote.

    Raises TypeError when the column holds another kind of value.
    """
    value = orjson.loads(text)
    if not isinstance(value, dict):
        raise TypeError(f"a JSON object was stored here, not a {type(value).__name__}")
    return value
