"""What a server's message must look like: JSON that may hold operators.

An object of a pattern names the members that matter; others may be there.  An operator is an
object whose members begin with ``$``:

``$any``       a JSON type's name, or ``anything``
``$capture``   remembers the value under a name (besides what other operators ask)
``$ref``       the value remembered under that name
``$revision``  the revision that is replayed
``$absent``    the member must not be there
``$exact``     an object with these members and no others
``$each``      an array, or an object's values, each of which has this pattern
``$contains``  an array with an element for each of these patterns
``$size``      the least and the greatest number of elements, members or characters
``$at_least``  a number that is not smaller
``$matches``   a string in which this regular expression is found; its named groups are remembered
``$not``       a value without this pattern
``$never``     nothing at all: what mutations put in a pattern's place
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

JSON: TypeAlias = Any
_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
    "anything": (str, int, float, bool, list, dict, type(None)),
}
_IDENTITY: Final = ("id", "requestId", "progressToken", "io.modelcontextprotocol/subscriptionId")


class MismatchError(AssertionError):
    """The value is not what the pattern says; the message names the place."""


@dataclass(slots=True, eq=False)
class Bindings:
    """What one replay has captured so far, and under which revision it runs."""

    revision: str
    captured: dict[str, JSON] = field(default_factory=dict)


def is_operator(pattern: JSON) -> bool:
    """A JSON Schema has names with ``$`` as well, so only known names make an operator."""
    return isinstance(pattern, dict) and bool(pattern) and pattern.keys() <= _OPERATORS.keys()


def match(pattern: JSON, value: JSON, bindings: Bindings, at: str = "") -> None:
    """Raise ``MismatchError`` unless ``value`` has the pattern."""
    if is_operator(pattern):
        for name, operand in pattern.items():
            _OPERATORS[name](operand, value, bindings, at)
    elif isinstance(pattern, dict):
        _match_members(pattern, value, bindings, at)
    elif isinstance(pattern, list):
        _match_elements(pattern, value, bindings, at)
    else:
        _demand(_is_same(pattern, value, at), f"is {value!r}, not {pattern!r}", at)


def fill(template: JSON, bindings: Bindings) -> JSON:
    """``template`` with captured values and the revision put in: what a client sends."""
    if is_operator(template):
        if "$revision" in template:
            return bindings.revision
        _demand(template["$ref"] in bindings.captured, f"{template['$ref']} was not captured", "")
        return bindings.captured[template["$ref"]]
    if isinstance(template, dict):
        return {name: fill(item, bindings) for name, item in template.items()}
    return [fill(item, bindings) for item in template] if isinstance(template, list) else template


def _demand(holds: object, what: str, at: str) -> None:
    if not holds:
        raise MismatchError(f"{at or '/'} {what}"[:600])


def _is_same(pattern: JSON, value: JSON, at: str) -> bool:
    """``50`` and ``50.0`` are one number, but an id keeps its type."""
    both_numbers = type(pattern) in (int, float) and type(value) in (int, float)
    if both_numbers and at.rpartition("/")[2] not in _IDENTITY:
        return bool(pattern == value)
    return type(pattern) is type(value) and bool(pattern == value)


def _match_members(pattern: Mapping[str, JSON], value: JSON, bindings: Bindings, at: str) -> None:
    _demand(isinstance(value, dict), f"is {value!r}, not an object", at)
    for name, item in pattern.items():
        inner = f"{at}/{name}"
        if name in value:
            match(item, value[name], bindings, inner)
        else:
            _demand(isinstance(item, dict) and "$absent" in item, "is missing", inner)


def _match_elements(pattern: list[JSON], value: JSON, bindings: Bindings, at: str) -> None:
    _demand(isinstance(value, list), f"is {value!r}, not an array", at)
    _demand(len(value) == len(pattern), f"has {len(value)} elements, not {len(pattern)}", at)
    for index, (item, element) in enumerate(zip(pattern, value, strict=True)):
        match(item, element, bindings, f"{at}/{index}")


def has_pattern(pattern: JSON, value: JSON, bindings: Bindings) -> bool:
    """True if the value has the pattern; a failed try captures nothing."""
    trial = Bindings(bindings.revision, dict(bindings.captured))
    try:
        match(pattern, value, trial)
    except MismatchError:
        return False
    bindings.captured = trial.captured
    return True


# Operators


def _any(kind: str, value: JSON, _: Bindings, at: str) -> None:
    fits = isinstance(value, _TYPES[kind]) and (
        not isinstance(value, bool) or kind in ("boolean", "anything")
    )
    _demand(fits, f"is {value!r}, not of type {kind}", at)


def _capture(name: str, value: JSON, bindings: Bindings, _: str) -> None:
    bindings.captured[name] = value


def _ref(name: str, value: JSON, bindings: Bindings, at: str) -> None:
    known = bindings.captured.get(name)
    _demand(type(known) is type(value) and known == value, f"is {value!r}, not {known!r}", at)


def _revision(_: JSON, value: JSON, bindings: Bindings, at: str) -> None:
    _demand(value == bindings.revision, f"is {value!r}, not {bindings.revision}", at)


def _exact(members: Mapping[str, JSON], value: JSON, bindings: Bindings, at: str) -> None:
    _match_members(members, value, bindings, at)
    extra = sorted(value.keys() - members.keys())
    _demand(not extra, f"has members that it must not have: {extra}", at)


def _absent(_: JSON, __: JSON, ___: Bindings, at: str) -> None:
    _demand(holds=False, what="is there", at=at)


def _each(pattern: JSON, value: JSON, bindings: Bindings, at: str) -> None:
    _demand(isinstance(value, (list, dict)), f"is {value!r}, not a collection", at)
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        match(pattern, item, bindings, f"{at}/{key}")


def _contains(patterns: list[JSON], value: JSON, bindings: Bindings, at: str) -> None:
    _demand(isinstance(value, list), f"is {value!r}, not an array", at)
    for pattern in patterns:
        found = any(has_pattern(pattern, item, bindings) for item in value)
        _demand(found, f"has no element like {pattern!r}", at)


def _size(limits: list[int], value: JSON, _: Bindings, at: str) -> None:
    _demand(isinstance(value, (str, list, dict)), f"is {value!r}, which has no size", at)
    least, most = limits
    _demand(least <= len(value) <= most, f"has size {len(value)}, not {least} to {most}", at)


def _at_least(least: float, value: JSON, _: Bindings, at: str) -> None:
    _demand(type(value) in (int, float) and value >= least, f"is {value!r}, below {least}", at)


def _matches(expression: str, value: JSON, bindings: Bindings, at: str) -> None:
    found = re.search(expression, value) if isinstance(value, str) else None
    _demand(found, f"is {value!r}, not like {expression!r}", at)
    bindings.captured.update(found.groupdict() if found else {})


def _not(pattern: JSON, value: JSON, bindings: Bindings, at: str) -> None:
    _demand(not has_pattern(pattern, value, bindings), f"is {value!r}, like {pattern!r}", at)


def _never(_: JSON, __: JSON, ___: Bindings, at: str) -> None:
    _demand(holds=False, what="is never right", at=at)


_OPERATORS: Final[Mapping[str, Callable[[JSON, JSON, Bindings, str], None]]] = {
    "$absent": _absent,
    "$any": _any,
    "$capture": _capture,
    "$ref": _ref,
    "$revision": _revision,
    "$exact": _exact,
    "$each": _each,
    "$contains": _contains,
    "$size": _size,
    "$at_least": _at_least,
    "$matches": _matches,
    "$not": _not,
    "$never": _never,
}
