"""Judge JSON by a JSON Schema 2020-12: fast where it is certainly valid, jsonschema where not.

A schema is compiled to closures that accept only what is certainly valid.  Whatever they do not
accept, for a broken rule or for a keyword that they do not know, goes to ``jsonschema``, which
alone refuses and words the reason.  So the library is imported at the first doubt, and a property
test holds the one claim that matters: accepted here means accepted there.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from itertools import islice
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from memrpc.wire.messages import JSON, JSONObject

Accept: TypeAlias = Callable[[JSON], bool]

_TYPES: Final[Mapping[str, Accept]] = MappingProxyType(
    {
        "string": lambda value: type(value) is str,
        "integer": lambda value: type(value) is int,
        "number": lambda value: type(value) is int or type(value) is float,
        "boolean": lambda value: type(value) is bool,
        "array": lambda value: type(value) is list,
        "object": lambda value: type(value) is dict,
        "null": lambda value: value is None,
    }
)
_ERRORS_WEIGHED: Final = 100  # a million wrong items are as wrong as a hundred
_PLAIN: Final = frozenset(
    {"description", "title", "default", "examples", "format", "$comment", "$schema", "$id"}
)


class Violation(NamedTuple):
    """What is wrong, where (a JSON pointer), and what to send instead."""

    pointer: str
    message: str


class Schema:
    """A compiled schema."""

    def __init__(self, schema: JSONObject) -> None:
        self.text = schema
        self._accepts: Accept | None = None
        self._judge: Callable[[JSON], Violation | None] | None = None

    def accepts(self, value: JSON) -> bool:
        """True for what is certainly valid; False says nothing."""
        if self._accepts is None:
            self._accepts = compile_accept(self.text)
        return self._accepts(value)

    def violation(self, value: JSON) -> Violation | None:
        """The most telling thing that is wrong with ``value``; None if it is valid."""
        if self.accepts(value):
            return None
        if self._judge is None:
            self._judge = _jsonschema_judge(self.text)
        return self._judge(value)


def compile_accept(schema: JSON) -> Accept:
    """A predicate that is True only for values that certainly satisfy ``schema``."""
    if not isinstance(schema, dict):
        return _never
    tests = [_KEYWORDS[k](v, schema) for k, v in schema.items() if k in _KEYWORDS]
    if not all(key in _KEYWORDS or key in _PLAIN for key in schema):
        return _never
    return _all_of(tests)


def _never(_: JSON) -> bool:
    return False


def _all_of(tests: list[Accept]) -> Accept:
    if len(tests) == 1:
        return tests[0]

    def accept(value: JSON) -> bool:
        for test in tests:  # noqa: SIM110 -- on the way of every call; a generator doubles its time
            if not test(value):
                return False
        return True

    return accept


def _type(name: JSON, _: JSONObject) -> Accept:
    return _TYPES.get(name, _never) if isinstance(name, str) else _never


def _enum(members: list[JSON], _: JSONObject) -> Accept:
    texts = frozenset(member for member in members if type(member) is str)
    return lambda value: type(value) is str and value in texts


def _bound(test: Callable[[JSON, JSON], bool]) -> Callable[[JSON, JSONObject], Accept]:
    def build(limit: JSON, _: JSONObject) -> Accept:
        def accept(value: JSON) -> bool:
            return type(value) not in _NUMBERS or test(value, limit)

        return accept

    return build


_NUMBERS: Final = (int, float)


def _size(
    kind: type[str | list[JSON]], test: Callable[[int, int], bool]
) -> Callable[[JSON, JSONObject], Accept]:
    def build(limit: int, _: JSONObject) -> Accept:
        return lambda value: type(value) is not kind or test(len(value), limit)

    return build


def _required(names: list[str], _: JSONObject) -> Accept:
    needed = frozenset(names)
    return lambda value: type(value) is not dict or needed <= value.keys()


def _properties(members: JSONObject, _: JSONObject) -> Accept:
    tests = {name: compile_accept(schema) for name, schema in members.items()}

    def accept(value: JSON) -> bool:
        if type(value) is not dict:
            return True
        for name, item in value.items():  # noqa: SIM110 -- as above
            if name in tests and not tests[name](item):
                return False
        return True

    return accept


def _additional(allowed: JSON, schema: JSONObject) -> Accept:
    if allowed is True:
        return lambda _: True
    if "patternProperties" in schema:
        return _never
    known = frozenset(schema.get("properties", {}))
    if allowed is False:
        return lambda value: type(value) is not dict or value.keys() <= known
    test = compile_accept(allowed)
    return lambda value: (
        type(value) is not dict or all(test(value[k]) for k in value.keys() - known)
    )


def _items(schema: JSON, _: JSONObject) -> Accept:
    test = compile_accept(schema)
    return lambda value: type(value) is not list or all(map(test, value))


_KEYWORDS: Final[Mapping[str, Callable[[JSON, JSONObject], Accept]]] = MappingProxyType(
    {
        "type": _type,
        "enum": _enum,
        "minimum": _bound(lambda value, limit: bool(value >= limit)),
        "maximum": _bound(lambda value, limit: bool(value <= limit)),
        "minLength": _size(str, operator.ge),
        "maxLength": _size(str, operator.le),
        "minItems": _size(list, operator.ge),
        "maxItems": _size(list, operator.le),
        "required": _required,
        "properties": _properties,
        "additionalProperties": _additional,
        "items": _items,
    }
)


def _jsonschema_judge(schema: JSONObject) -> Callable[[JSON], Violation | None]:
    """The authority, imported when first needed."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match
    from referencing.jsonschema import EMPTY_REGISTRY

    from memrpc.server.wording import violation_of

    # Without a registry of its own the library fetches remote references from the network.
    validator = Draft202012Validator(schema, registry=EMPTY_REGISTRY)

    def judge(value: JSON) -> Violation | None:
        error = best_match(islice(validator.iter_errors(value), _ERRORS_WEIGHED))
        return None if error is None else violation_of(error)

    return judge
