"""Accepted fast means accepted by the authority; a refusal is always the authority's."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from memrpc.server import schema_files
from memrpc.server.leniency import read_arguments
from memrpc.server.validation import Schema, compile_accept

NAMES = st.sampled_from(["a", "b", "c"])
SIZES = st.integers(0, 3) | st.sampled_from([1.0, 2.0])
NUMBERS = st.integers(-3, 3) | st.sampled_from([-1.5, 0.0, 1.5, 1e300])
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null"])
SCALARS = st.none() | st.booleans() | NUMBERS | st.text("ab1", max_size=3)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.just("z"), inner, max_size=3)
    ),
    max_leaves=8,
)
LEAVES = {
    "type": TYPES | st.lists(TYPES, min_size=1, max_size=2, unique=True),
    "enum": st.lists(SCALARS, min_size=1, max_size=3),
    "const": SCALARS,
    "minimum": NUMBERS,
    "maximum": NUMBERS,
    "exclusiveMinimum": NUMBERS,
    "multipleOf": st.sampled_from([1, 2, 0.5]),
    "minLength": SIZES,
    "maxLength": SIZES,
    "minItems": SIZES,
    "maxItems": SIZES,
    "uniqueItems": st.booleans(),
    "required": st.lists(NAMES, max_size=2, unique=True),
    "pattern": st.sampled_from(["^a", "b$", "^$"]),
    "format": st.sampled_from(["date-time", "uri"]),
    "description": st.just("x"),
    "default": SCALARS,
    "title": st.just("x"),
    "$comment": st.just("x"),
}


def nested(inner: st.SearchStrategy) -> st.SearchStrategy:
    several = st.lists(inner, min_size=1, max_size=2)
    return st.fixed_dictionaries(
        {},
        optional={
            **LEAVES,
            "properties": st.dictionaries(NAMES, inner, max_size=3),
            "additionalProperties": inner,
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b"]), inner, max_size=1),
            "items": inner,
            "prefixItems": several,
            "anyOf": several,
            "oneOf": several,
            "allOf": several,
            "not": inner,
            "propertyNames": st.fixed_dictionaries({}, optional={"maxLength": st.integers(0, 2)}),
            "if": inner,
            "then": inner,
        },
    )


PLAIN = st.booleans() | st.fixed_dictionaries({}, optional=LEAVES)
SCHEMAS = st.recursive(PLAIN, nested, max_leaves=6)


@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@given(SCHEMAS, VALUES)
def test_what_is_accepted_fast_the_authority_accepts(schema, value):
    if compile_accept(schema)(value):
        assert Draft202012Validator(schema).is_valid(value)


BROKEN = [
    ({"type": "string"}, 5),
    ({"type": "integer"}, True),
    ({"type": "number"}, "1"),
    ({"enum": ["a"]}, "b"),
    ({"minimum": 2}, 1),
    ({"maximum": 2}, 3),
    ({"minLength": 2}, "a"),
    ({"maxLength": 1}, "aa"),
    ({"minItems": 1}, []),
    ({"maxItems": 1}, [1, 2]),
    ({"required": ["a"]}, {}),
    ({"properties": {"a": {"type": "string"}}}, {"a": 1}),
    ({"additionalProperties": False}, {"a": 1}),
    ({"additionalProperties": {"type": "string"}}, {"a": 1}),
    ({"items": {"type": "string"}}, [1]),
    ({"pattern": "^a"}, "b"),
]


@pytest.mark.parametrize(("schema", "value"), BROKEN, ids=lambda part: str(part)[:40])
def test_a_value_that_breaks_one_keyword_is_not_accepted(schema, value):
    """The property below finds these only by chance; each keyword has one here for certain."""
    assert not Schema(schema).accepts(value)
    assert not Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"minLength": 2.0}, "a"),
        ({"maxLength": 1.0}, "aa"),
        ({"minItems": 2.0}, [1]),
        ({"maxItems": 1.0}, [1, 2]),
    ],
    ids=str,
)
def test_a_size_limit_written_as_a_float_is_a_limit(schema: dict, value):
    assert not compile_accept(schema)(value)
    assert Schema(schema).violation(value) is not None


OBJECT = st.fixed_dictionaries(
    {"type": st.just("object"), "properties": st.dictionaries(NAMES, PLAIN, max_size=3)},
    optional={"required": st.lists(NAMES, max_size=2, unique=True)},
)


@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@given(OBJECT, VALUES)
def test_a_violation_is_found_exactly_when_the_authority_finds_one(schema, value):
    found = Schema(schema).violation(value)
    assert (found is None) == Draft202012Validator(schema).is_valid(value)
    if found is not None:
        assert found.message
        assert found.pointer == "" or found.pointer.startswith("/")


def test_what_the_subset_covers_is_accepted_without_the_authority():
    schema = {
        "type": "object",
        "properties": {
            "text": {"type": "string", "minLength": 1, "maxLength": 5},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
            "tags": {
                "type": "array",
                "items": {"type": "string", "enum": ["a", "b"]},
                "maxItems": 3,
            },
        },
        "required": ["text"],
        "additionalProperties": False,
    }
    accepts = compile_accept(schema)
    assert accepts({"text": "x", "limit": 100, "tags": ["a"]})
    for wrong in (
        {},
        {"text": ""},
        {"text": "x" * 6},
        {"text": "x", "limit": 0},
        {"text": "x", "limit": True},
        {"text": "x", "limit": 1.5},
        {"text": "x", "tags": ["c"]},
        {"text": "x", "tags": ["a"] * 4},
        {"text": "x", "more": 1},
        [],
    ):
        assert not accepts(wrong)


SHIPPED = [(part, name) for part in ("protocol",) for name in schema_files.names(part)]


@pytest.mark.parametrize(("part", "name"), SHIPPED)
def test_a_shipped_message_schema_is_valid_and_within_the_subset(part: str, name: str):
    schema = schema_files.read(part, f"{name}.json")
    Draft202012Validator.check_schema(schema)
    kinds = {"type": "object", "required": [], "properties": {}}
    assert schema.keys() - {"$schema", "description", "title"} <= kinds.keys()


MESSAGES = {
    "a missing field": ({}, "/text", "text is required"),
    "a wrong type": ({"text": 7}, "/text", "text must be a string, not 7"),
    "a short text": ({"text": ""}, "/text", "text must have at least 1 characters"),
    "a range": ({"text": "x", "limit": 101}, "/limit", "limit must be at most 100, not 101"),
    "a member": ({"text": "x", "mode": "z"}, "/mode", 'mode must be one of "a", "b"'),
    "an item": ({"text": "x", "tags": [1]}, "/tags/0", "tags.0 must be a string"),
}
WORDED = {
    "type": "object",
    "properties": {
        "text": {"type": "string", "minLength": 1},
        "limit": {"type": "integer", "maximum": 100},
        "mode": {"type": "string", "enum": ["a", "b"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["text"],
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_refusal_names_the_field_the_rule_and_what_came(name: str):
    value, pointer, message = MESSAGES[name]
    found = Schema(WORDED).violation(value)
    assert found.pointer == pointer
    assert found.message.startswith(message)


LENIENT = {
    "type": "object",
    "properties": {
        "count": {"type": "integer", "default": 5},
        "ratio": {"type": "number"},
        "on": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "integer"}},
        "words": {"type": "array", "items": {"type": "string"}},
        "state": {"type": "object", "properties": {"n": {"type": "integer"}}},
        "text": {"type": "string"},
    },
}
READINGS = {
    "text as numbers": ({"count": "7", "ratio": "1.5"}, {"count": 7, "ratio": 1.5}),
    "text as booleans": ({"on": " True "}, {"on": True}),
    "text as an array": ({"tags": '["1", 2]'}, {"tags": [1, 2]}),
    "a text as an array of texts": ({"words": "one word"}, {"words": ["one word"]}),
    "a text that may be several": ({"words": "a, b", "tags": "1"}, {"words": "a, b", "tags": "1"}),
    "text as an object": ({"state": '{"n":"3"}'}, {"state": {"n": 3}}),
    "a whole float": ({"count": 7.0}, {"count": 7}),
    "a part of a number": ({"count": 7.5}, {"count": 7.5}),
    "text that is no number": ({"count": "x", "ratio": "1e999"}, {"count": "x", "ratio": "1e999"}),
    "text that is another kind": ({"tags": '{"a":1}', "on": "1"}, {"tags": '{"a":1}', "on": "1"}),
    "text stays text": ({"text": "5"}, {"text": "5"}),
    "nulls and unknown keys": ({"text": None, "count": None, "nope": 1}, {}),
    "a null inside": ({"state": {"n": None, "more": None}}, {"state": {"more": None}}),
}


@pytest.mark.parametrize("name", READINGS)
def test_b78_arguments_are_read_as_they_are_meant(name: str):
    arguments, meant = READINGS[name]
    assert read_arguments(arguments, LENIENT) == {"count": 5, **meant}


@given(VALUES.filter(lambda v: isinstance(v, dict)))
def test_reading_never_raises_and_invents_no_key(arguments):
    found = read_arguments(arguments, LENIENT)
    assert found.keys() <= LENIENT["properties"].keys()


@given(st.dictionaries(st.sampled_from(list(LENIENT["properties"])), VALUES))
def test_arguments_of_the_declared_types_pass_unchanged(arguments):
    if Draft202012Validator({**LENIENT, "required": list(arguments)}).is_valid(arguments):
        found = read_arguments(arguments, LENIENT)
        assert json.dumps({**found, **arguments}) is not None
        assert all(found[name] == value for name, value in arguments.items())
