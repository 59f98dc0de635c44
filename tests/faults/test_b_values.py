"""Section B of the catalogue of stdio failures: JSON values."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from memrpc.server.validation import Schema
from tests.peer import Peer, call, cancel, request, to_line


@pytest.mark.parametrize("text", [b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e999"])
def test_b19_a_number_that_json_lacks_is_refused_and_not_executed(session: Peer, text: bytes):
    line = to_line(call(1, "echo", {"text": "x", "extra": "QQ"})).replace(b'"QQ"', text)
    session.write_unseen(line)
    session.oracle.sent(call(1, "echo"))
    assert session.answer(1)["error"]["code"] == -32700


def test_b19_a_refused_line_leaves_the_call_with_the_same_id_its_answer(session: Peer):
    session.send(call(1, "slow"))
    session.write_unseen(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"x":NaN}}\n')
    session.write_unseen(b'{"jsonrpc":"1.0","id":1,"method":"tools/call"}\n')
    assert session.answer(1)["result"]["content"][0]["text"] == "done"
    assert [m["id"] for m in session.notices if "error" in m] == [None, None]


def test_b20_a_tool_that_returns_nan_breaks_neither_json_nor_its_output_schema(session: Peer):
    session.send(call(1, "nan"), call(2, "huge_integer"), call(3, "nan_progress"))
    nan = session.answer(1)["result"]
    assert nan["isError"] or Schema(_MEASURED).violation(nan["structuredContent"]) is None
    assert session.answer(2)["id"] == 2
    assert session.answer(3)["result"]["content"][0]["text"] == "done"
    session.prove_alive()


_MEASURED = {
    "type": "object",
    "properties": {"value": {"type": "number"}},
    "required": ["value"],
}


def test_b20_a_progress_that_is_no_number_is_not_sent(session: Peer):
    session.send(call(1, "nan_progress", meta={"progressToken": "t"}))
    assert "result" in session.answer(1)
    sent = [m["params"] for m in session.notices]
    assert [p["progress"] for p in sent] == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("tool", ["no_json", "deep", "huge_integer"])
def test_b20_a_result_that_cannot_be_written_is_an_error_of_that_call_alone(session: Peer, tool):
    session.send(call(1, "slow"), call(2, tool))
    assert session.answer(2)["id"] == 2
    assert session.answer(1)["result"]["content"][0]["text"] == "done"
    session.prove_alive()


@pytest.mark.parametrize("levels", [250, 500, 1000])
def test_b22_deep_arguments_and_ids_are_answered(session: Peer, levels: int):
    deep = b"[" * levels + b"]" * levels
    for line in (
        to_line(call(1, "echo", {"text": "QQ"})),
        to_line(request(2, "initialize", {"protocolVersion": "QQ"})),
        to_line(request(3, "QQ")),
        to_line(request(4, "tools/list", {"cursor": "QQ"})),
        to_line(request("QQ", "ping")),
    ):
        session.write_unseen(line.replace(b'"QQ"', deep))
    for message in (call(1, "echo"), request(2, "initialize"), request(3, "x"), request(4, "x")):
        session.oracle.sent(message)
    session.oracle.session = "2025-11-25"
    for id_ in (1, 2, 3, 4):
        assert session.answer(id_)["id"] == id_
    assert session.ask("ping")["result"] == {}


def test_b22_nesting_beyond_every_limit_is_a_parse_error(session: Peer):
    session.write_unseen(b"[" * 200_000 + b"\n")
    session.write_unseen(b'{"a":' * 200_000 + b"\n")
    assert session.receive()[0]["error"]["code"] == -32700
    assert session.receive()[0]["error"]["code"] == -32700
    session.prove_alive()


def test_b23_a_million_elements_are_served_while_pings_are_answered(session: Peer):
    session.send(call(1, "count", {"values": [7] * 1_000_000}), request("p", "ping"))
    assert session.answer("p", 30)["result"] == {}
    assert session.answer(1, 30)["result"]["content"][0]["text"] == "1000000"
    session.send(call(2, "echo", {"text": "x", **{f"k{n}": n for n in range(100_000)}}))
    assert session.answer(2, 30)["result"]["structuredContent"] == {"text": "x"}


MILLIONS = {"last": [7] * 999_999 + ["x"], "all": ["x"] * 1_000_000, "text": ["7"] * 1_000_000}


@pytest.mark.parametrize("name", MILLIONS)
def test_b23_a_million_elements_to_refuse_or_coerce_block_nobody(session: Peer, name: str):
    session.send(call(1, "count", {"values": MILLIONS[name]}))
    for _ in range(5):
        started = time.monotonic()
        assert session.ask("ping")["result"] == {}
        assert time.monotonic() - started < 4  # Its line is parsed and read in the loop: 1 s here.
    session.send(cancel(1))
    session.prove_alive()


class _Counting(BaseHTTPRequestHandler):
    hits = 0

    def do_GET(self):
        _Counting.hits += 1
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"type":"integer"}')

    def log_message(self, *_: object):
        """Say nothing."""


def test_b24_a_remote_reference_is_never_fetched():
    with HTTPServer(("127.0.0.1", 0), _Counting) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        reference = {"$ref": f"http://127.0.0.1:{server.server_port}/x"}
        schema = Schema({"type": "object", "properties": {"a": reference}})
        with pytest.raises(Exception, match="Unresolvable"):
            schema.violation({"a": 1})
        server.shutdown()
    assert _Counting.hits == 0


def test_b24_a_recursive_reference_ends():
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
    schema = Schema({"$ref": "#/$defs/node", "$defs": {"node": node}})
    value: dict = {}
    for _ in range(50):
        value = {"next": value}
    assert schema.violation(value) is None
    assert schema.violation(json.loads(json.dumps({"next": {"next": 1}}))) is not None
