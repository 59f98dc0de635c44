"""Say what a caller should send instead, from what jsonschema found wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from jsonschema.exceptions import ValidationError

from memrpc.server.validation import Violation
from memrpc.wire.codec import compact
from memrpc.wire.messages import JSON

_SHOWN_CHARS: Final = 80


def violation_of(error: ValidationError) -> Violation:
    """One sentence that names the field, the limit and what to send."""
    path = [str(step) for step in error.absolute_path]
    pointer = "".join(f"/{step}" for step in path)
    if error.validator == "required":
        return _missing(error, path)
    word = _WORDING.get(str(error.validator))
    rule = word(error.validator_value) if word else _first_line(error.message)
    return Violation(pointer, f"{_field(path)} {rule}, not {_shown(error.instance)}")


def _missing(error: ValidationError, path: list[str]) -> Violation:
    required = error.schema["required"] if isinstance(error.schema, dict) else []
    instance = error.instance if isinstance(error.instance, dict) else {}
    absent = [name for name in required if name not in instance]
    pointer = "".join(f"/{step}" for step in [*path, absent[0]])
    names = ", ".join(".".join([*path, name]) for name in absent)
    verb = "is" if len(absent) == 1 else "are"
    return Violation(pointer, f"{names} {verb} required")


def _field(path: list[str]) -> str:
    return ".".join(path) if path else "the arguments"


def _shown(value: JSON) -> str:
    text = compact(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"


def _first_line(message: str) -> str:
    return f"is not accepted ({message.splitlines()[0][:_SHOWN_CHARS]})"


_ARTICLES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "string": "a string",
        "integer": "an integer",
        "number": "a number",
        "boolean": "true or false",
        "array": "an array",
        "object": "an object",
        "null": "null",
    }
)


def _listed(members: list[JSON]) -> str:
    return ", ".join(map(compact, members))


_WORDING: Final[Mapping[str, Callable[[JSON], str]]] = MappingProxyType(
    {
        "type": lambda kind: f"must be {_ARTICLES.get(str(kind), str(kind))}",
        "enum": lambda members: f"must be one of {_listed(members)}",
        "const": lambda member: f"must be {compact(member)}",
        "minimum": lambda limit: f"must be at least {limit}",
        "maximum": lambda limit: f"must be at most {limit}",
        "minLength": lambda limit: f"must have at least {limit} characters",
        "maxLength": lambda limit: f"must have at most {limit} characters",
        "minItems": lambda limit: f"must have at least {limit} items",
        "maxItems": lambda limit: f"must have at most {limit} items",
        "pattern": lambda pattern: f"must match {pattern}",
    }
)
