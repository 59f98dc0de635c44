"""What a pattern lets pass, and what it does not."""

from __future__ import annotations

import pytest

from conformance.patterns import Bindings, MismatchError, fill, match

PASSES = [
    ({"a": 1}, {"a": 1, "b": 2}),
    ({"a": {"$absent": True}}, {"b": 2}),
    ({"$exact": {"a": 1}}, {"a": 1}),
    (50, 50.0),
    ({"$any": "integer"}, 3),
    ({"$each": {"$any": "string"}}, ["x", "y"]),
    ({"$contains": [{"a": 2}]}, [{"a": 1}, {"a": 2}]),
    ({"$size": [1, 2]}, "ab"),
    ({"$at_least": 0}, 0),
    ({"$matches": "^a"}, "abc"),
    ({"$not": 1}, 2),
    ([{"a": 1}, 2], [{"a": 1}, 2]),
    ({"$revision": True}, "2025-11-25"),
    ({"$schema": "x", "$ref": "#/a"}, {"$schema": "x", "$ref": "#/a"}),
]
FAILS = [
    ({"a": 1}, {"a": 2}),
    ({"a": 1}, {}),
    ({"a": {"$absent": True}}, {"a": None}),
    ({"$exact": {"a": 1}}, {"a": 1, "b": 2}),
    ({"id": 1}, {"id": 1.0}),
    ({"id": 1}, {"id": "1"}),
    (1, True),
    ({"$any": "integer"}, True),
    ({"$any": "object"}, []),
    ({"$each": {"$any": "string"}}, ["x", 1]),
    ({"$contains": [3]}, [1, 2]),
    ({"$size": [1, 2]}, []),
    ({"$at_least": 0}, -1),
    ({"$matches": "^a"}, "b"),
    ({"$not": 1}, 1),
    ({"$never": True}, 1),
    ([1], [1, 2]),
    ({"$ref": "unknown"}, "x"),
]


@pytest.mark.parametrize(("pattern", "value"), PASSES)
def test_value_has_the_pattern(pattern, value):
    match(pattern, value, Bindings("2025-11-25"))


@pytest.mark.parametrize(("pattern", "value"), FAILS)
def test_value_lacks_the_pattern(pattern, value):
    with pytest.raises(MismatchError):
        match(pattern, value, Bindings("2025-11-25"))


def test_what_was_captured_is_sent_and_compared():
    bindings = Bindings("2025-11-25")
    match({"id": {"$capture": "ask", "$any": "integer"}}, {"id": 7}, bindings)
    match({"id": {"$ref": "ask"}}, {"id": 7}, bindings)
    assert fill({"id": {"$ref": "ask"}, "v": {"$revision": True}}, bindings) == {
        "id": 7,
        "v": "2025-11-25",
    }


def test_a_failed_try_captures_nothing():
    bindings = Bindings("2025-11-25")
    match({"$not": {"a": {"$capture": "x"}, "b": 1}}, {"a": 1, "b": 2}, bindings)
    assert bindings.captured == {}


def test_sending_what_was_never_captured_fails_the_replay():
    with pytest.raises(MismatchError):
        fill({"$ref": "nothing"}, Bindings("2025-11-25"))


def test_named_groups_of_an_expression_are_remembered():
    bindings = Bindings("2025-11-25")
    match({"$matches": r"token (?P<token>\w+)\."}, "It has the token abc.", bindings)
    assert bindings.captured == {"token": "abc"}
