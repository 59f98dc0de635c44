"""JSON text to messages and back."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrpc.wire import codec
from memrpc.wire.messages import Batch, Error, Malformed, Notification, Request, Response
from tests.oracle import parse

IDS = st.integers(-(10**40), 10**40) | st.text(max_size=20)
SCALARS = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.text(max_size=10)
VALUES = st.recursive(
    SCALARS | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)


def line(**members) -> bytes:
    return json.dumps({"jsonrpc": "2.0", **members}).encode()


@given(IDS, st.text(max_size=20), OBJECTS)
def test_a_request_comes_through_with_its_id_exact(id_, method, params):
    found = codec.decode(line(id=id_, method=method, params=params))
    assert found == Request(id_, method, params)
    assert type(found.id) is type(id_)


@given(IDS, OBJECTS)
def test_an_answer_is_one_line_that_reads_back_as_it_was(id_, result):
    text = codec.encode(Response(id_, result))
    assert parse(text) == {"jsonrpc": "2.0", "id": id_, "result": result}


@given(st.binary(max_size=200))
def test_no_bytes_raise(data):
    assert isinstance(codec.decode(data), (Request, Notification, Response, Malformed, Batch))


@given(OBJECTS, st.integers(0, 400), st.integers(0, 255))
def test_a_request_with_one_byte_changed_never_raises_and_invents_no_id(params, at, byte):
    good = line(id="the-id", method="m", params=params)
    bad = good[: at % len(good)] + bytes([byte]) + good[at % len(good) + 1 :]
    found = codec.decode(bad)
    if isinstance(found, Malformed) and found.id is not None:
        assert str(found.id).encode() in bad.replace(b"\\", b"") or b"\\" in bad


@given(st.lists(st.binary(max_size=30), max_size=5))
def test_a_batch_of_anything_never_raises(items):
    assert codec.decode(b"[" + b",".join(items) + b"]") is not None


@pytest.mark.parametrize("big", [2**64, 10**30, -(10**30), -(2**63) - 1])
def test_integers_beyond_64_bits_keep_their_digits(big: int):
    request = codec.decode(line(id=big, method="m", params={"_meta": {"progressToken": big}}))
    assert request == Request(big, "m", {"_meta": {"progressToken": big}})
    note = codec.decode(line(method="notifications/cancelled", params={"requestId": big}))
    assert note.params["requestId"] == big
    batch = codec.decode(b"[" + line(id=big, method="m") + b"]")
    assert batch == Batch([Request(big, "m", {})])
    assert str(big).encode() in codec.encode(Response(big, {}))


@pytest.mark.parametrize("id_", ["1.5", "1e30", "1e400", "true", "null", "[]", "{}"])
def test_what_is_no_id_is_refused_without_one(id_: str):
    found = codec.decode(f'{{"jsonrpc":"2.0","id":{id_},"method":"m"}}'.encode())
    assert isinstance(found, Malformed)
    assert found.id is None


def test_an_id_of_too_many_digits_is_refused_and_not_converted():
    found = codec.decode(b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"m"}')
    assert isinstance(found, Malformed)


@pytest.mark.parametrize("depth", [254, 300, 900])
def test_a_deep_answer_is_written(depth: int):
    value: list = []
    for _ in range(depth):
        value = [value]
    assert json.loads(codec.encode(Response(1, {"v": value}))) == {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {"v": value},
    }


@pytest.mark.parametrize("value", [{"a": object()}, {"a": {1, 2}}, {"n": math.nan, "big": 2**70}])
def test_what_json_cannot_say_raises(value: dict):
    with pytest.raises((TypeError, ValueError)):
        codec.encode(Response(1, value))


def test_lone_surrogates_and_line_separators_leave_escaped():
    text = codec.encode(Response(1, {"v": "a\u2028\u2029"}))
    assert b"\\u2028\\u2029" in text
    assert json.loads(codec.encode(Response(1, {"v": "\ud800"})))["result"] == {"v": "\ud800"}


def test_nan_is_normalised_as_the_peer_will_read_it():
    assert codec.normalised({"a": math.nan, "b": (1, 2)}) == {"a": None, "b": [1, 2]}


def test_an_error_keeps_its_data_and_an_id_of_none_is_null():
    text = codec.encode(Response(None, error=Error(-32700, "x", {"a": 1})))
    error = {"code": -32700, "message": "x", "data": {"a": 1}}
    assert json.loads(text) == {"jsonrpc": "2.0", "id": None, "error": error}


def test_a_batch_is_one_line_of_its_answers():
    lines = [codec.encode(Response(n, {})) for n in (1, 10**30)]
    joined = codec.join_batch(lines)
    assert [m["id"] for m in parse(joined)] == [1, 10**30]


def test_an_error_repeats_no_more_than_a_thousand_characters_of_what_came():
    text = codec.encode(Response(1, error=Error(-32601, f"Method not found: {'m' * 10_000}")))
    message = parse(text)["error"]["message"]
    assert message.startswith("Method not found: mmm")
    assert len(message) == codec.MAX_MESSAGE_CHARS + 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (rb'"\ud83d"', "no low surrogate in string, at character 7"),
        (b"NaN", "expected a JSON value, at character 6"),
        (b'"\t"', "unexpected control character in string, at character 7"),
    ],
)
def test_a_parse_error_says_what_is_wrong_and_where(text: bytes, reason: str):
    found = codec.decode(b'{"id":%b}' % text)
    assert isinstance(found, Malformed)
    assert reason in found.error.message
