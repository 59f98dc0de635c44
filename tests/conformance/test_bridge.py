"""The bridge forwards faithfully, and fails the run for what a child does wrong."""

from __future__ import annotations

import http.client
import json
import sys
import threading
from contextlib import contextmanager

import pytest

from conformance.bridge.front import Bridge
from conformance.bridge.splice import locate, replace
from conformance.official import read_summary
from conformance.run import FIXTURE
from conformance.transcripts import envelope

VERSION = "2026-07-28"
PROGRESS = "test_tool_with_progress"


@contextmanager
def bridge_to(*command, one_child=False):
    bridge = Bridge(command or FIXTURE, one_child=one_child)
    thread = threading.Thread(target=bridge.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield bridge
    finally:
        bridge.close()
        thread.join()


def open_post(bridge, message, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", bridge.server_address[1], timeout=10)
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    body = message if isinstance(message, str) else json.dumps(message)
    connection.request("POST", "/mcp", body, {"Content-Type": "application/json", **names})
    return connection


def post(bridge, message, **headers):
    """Status, headers and the messages of the reply."""
    connection = open_post(bridge, message, **headers)
    with connection.getresponse() as response:
        text = response.read().decode()
    connection.close()
    if "text/event-stream" in (response.headers["Content-Type"] or ""):
        lines = [line for line in text.splitlines() if line.startswith("data:")]
        return response.status, response.headers, [json.loads(line[5:]) for line in lines]
    return response.status, response.headers, [json.loads(text)] if text else []


def stateless(id_, method, params=None, meta=None):
    body = {**(params or {}), "_meta": {**envelope({}), **(meta or {})}}
    return {"jsonrpc": "2.0", "id": id_, "method": method, "params": body}


def post_stateless(bridge, message, **headers):
    known = {"MCP_Protocol_Version": VERSION, "Mcp_Method": message["method"]}
    name = message["params"].get("name") or message["params"].get("uri")
    return post(bridge, message, **known, **({"Mcp_Name": name} if name else {}), **headers)


def initialize(bridge):
    params = {"protocolVersion": "2025-11-25", "capabilities": {"sampling": {}}}
    params["clientInfo"] = {"name": "c", "version": "1"}
    request = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    _, headers, _ = post(bridge, request)
    session = headers["Mcp-Session-Id"]
    post(bridge, {"jsonrpc": "2.0", "method": "notifications/initialized"}, Mcp_Session_Id=session)
    return session


# Text


def test_only_the_named_member_of_a_message_changes():
    text = '{ "id" : 1, "n": 123456789012345678901234567890, "e": "\\u00fc", "m": {"id": 1.50} }'
    assert replace(text, {("id",): '"b"'}) == text.replace('"id" : 1', '"id" : "b"', 1)
    assert replace(text, {("m", "id"): "2", ("no",): "3"}) == text.replace("1.50", "2")


def test_a_member_is_found_wherever_it_stands():
    text = '{"a":{"b":[{"c":1}],"d":{"e":"x"}}}'
    span = locate(text, ("a", "d", "e"))
    assert span is not None
    assert text[span.start : span.end] == '"x"'
    assert locate(text, ("a", "b", "c")) is None


def test_the_summary_of_the_suite_is_read():
    output = (
        "=== SUMMARY ===\n✓ ping: 2 passed, 0 failed\n✗ tasks-x: 1 passed, 3 failed\n\n"
        "Total: 3 passed, 3 failed\n\nNot scored for 2026-07-28: 1\n  ✗ tasks-x (extension)\n"
    )
    ping, tasks = read_summary(output)
    assert (ping.scenario, ping.is_green, ping.unscored_because) == ("ping", True, None)
    assert (tasks.passed, tasks.failed, tasks.unscored_because) == (1, 3, "extension")


# Calls without a session


def test_calls_with_one_id_and_one_token_at_a_time_each_get_their_own():
    answers = []
    with bridge_to() as bridge:

        def call(token):
            meta = {"progressToken": token}
            message = stateless(5, "tools/call", {"name": PROGRESS, "arguments": {}}, meta)
            answers.append(post_stateless(bridge, message)[2])

        threads = [threading.Thread(target=call, args=(token,)) for token in (7, 7, "7")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    tokens = [[m["params"]["progressToken"] for m in answer[:3]] for answer in answers]
    assert sorted(tokens, key=str) == [["7"] * 3, [7] * 3, [7] * 3]
    assert [answer[-1]["id"] for answer in answers] == [5, 5, 5]
    assert bridge.findings.failures == []
    assert bridge.findings.children == 1


STATUSES = [
    (stateless(1, "server/discover"), 200),
    (stateless(1, "no/such/method"), 404),
    (stateless(1, "tools/call", {"name": "test_missing_capability"}), 400),
    (stateless(1, "tools/call", {"name": "no_such_tool"}), 200),
]


@pytest.mark.parametrize(("message", "status"), STATUSES)
def test_an_error_has_the_status_that_http_wants(message, status):
    with bridge_to() as bridge:
        assert post_stateless(bridge, message)[0] == status


MISMATCHES = [
    {"MCP_Protocol_Version": "2099-01-01", "Mcp_Method": "tools/call", "Mcp_Name": PROGRESS},
    {"MCP_Protocol_Version": VERSION, "Mcp_Method": "tools/list", "Mcp_Name": PROGRESS},
    {"MCP_Protocol_Version": VERSION, "Mcp_Method": "tools/call", "Mcp_Name": "other"},
    {"MCP_Protocol_Version": VERSION, "Mcp_Method": "tools/call"},
]


@pytest.mark.parametrize("headers", MISMATCHES)
def test_a_header_that_contradicts_the_body_is_refused(headers):
    with bridge_to() as bridge:
        message = stateless(1, "tools/call", {"name": PROGRESS, "arguments": {}})
        status, _, (answer,) = post(bridge, message, **headers)
    assert (status, answer["id"], answer["error"]["code"]) == (400, 1, -32020)
    assert bridge.findings.children == 0


def test_a_stranger_on_the_loopback_is_refused():
    with bridge_to() as bridge:
        assert post(bridge, stateless(1, "ping"), Host="evil.example.com")[0] == 403
        origin = {"Origin": "http://evil.example.com"}
        assert post(bridge, stateless(1, "ping"), **origin)[0] == 403


# A child that hangs up, babbles or lingers

ECHO = "import sys, json\nfor line in sys.stdin:\n    m = json.loads(line)\n    "
ANSWER = 'print(json.dumps({"jsonrpc":"2.0","id":m["id"],"result":{"x":line}}), flush=True)'
TELL = ECHO + 'print(json.dumps({"jsonrpc":"2.0","id":"told","result":m}), flush=True)'


def child(program):
    return sys.executable, "-c", program


def test_a_client_that_hangs_up_cancels_its_call():
    seen = threading.Event()
    program = (
        "import sys, json\n"
        "first = json.loads(sys.stdin.readline())\n"
        "note = json.loads(sys.stdin.readline())\n"
        "assert note['method'] == 'notifications/cancelled', note\n"
        "assert note['params']['requestId'] == first['id'], note\n"
        "sys.stdin.read()\n"
    )
    with bridge_to(*child(program)) as bridge:
        forward = bridge.shared_hub().abandon
        bridge.shared_hub().abandon = lambda exchange: (forward(exchange), seen.set())
        message = stateless(1, "server/discover")
        connection = open_post(
            bridge, message, MCP_Protocol_Version=VERSION, Mcp_Method="server/discover"
        )
        connection.close()
        assert seen.wait(10)
    assert bridge.findings.failures == []


BROKEN = {
    "an orphan": (TELL.replace("told", "nobody"), "an answer to no request"),
    "no message": (ECHO + "print('hello', flush=True);" + ANSWER, "no message"),
    "a blank line": (ECHO + "print(flush=True);" + ANSWER, "no message"),
    "NaN": (ECHO + "print('{\"a\":NaN}', flush=True);" + ANSWER, "no message"),
    "a request": (
        ECHO + 'print(\'{"jsonrpc":"2.0","id":1,"method":"roots/list"}\', flush=True);' + ANSWER,
        "a request without a handshake",
    ),
    "a bad exit": (ECHO + ANSWER + "\nsys.exit(3)", "exited with 3"),
    "a traceback": (ECHO + ANSWER + "\nraise ValueError", "traceback"),
    "its end": ("import sys; sys.stdin.readline()", "closed its output"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_child_that_breaks_a_promise_fails_the_run(name):
    program, failure = BROKEN[name]
    with bridge_to(*child(program)) as bridge:
        connection = open_post(
            bridge,
            stateless(1, "server/discover"),
            MCP_Protocol_Version=VERSION,
            Mcp_Method="server/discover",
        )
        if name != "an orphan":
            connection.getresponse().read()
        else:
            while not bridge.findings.failures:
                connection.sock.settimeout(0.05)
                with pytest.raises(TimeoutError):
                    connection.sock.recv(1)
        connection.close()
    assert any(failure in found for found in bridge.findings.failures)


# Sessions


@pytest.mark.parametrize(("one_child", "children"), [(False, 2), (True, 1)])
def test_sessions_have_children_of_their_own_unless_one_serves_all(one_child, children):
    ping = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
    with bridge_to(one_child=one_child) as bridge:
        for session in (initialize(bridge), initialize(bridge)):
            status, _, (answer,) = post(bridge, ping, Mcp_Session_Id=session)
            assert (status, answer["result"]) == (200, {})
        assert post(bridge, ping, Mcp_Session_Id="unknown")[0] == 404
        assert post(bridge, ping)[0] == 400
    assert bridge.findings.failures == []
    assert bridge.findings.children == children


def test_a_question_of_the_child_goes_out_on_the_call_that_it_belongs_to():
    call = {"name": "test_sampling", "arguments": {"prompt": "p"}}
    with bridge_to() as bridge:
        session = initialize(bridge)
        request = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": call}
        connection = open_post(bridge, request, Mcp_Session_Id=session)
        response = connection.getresponse()
        while not (line := response.readline()).startswith(b"data:"):
            pass
        asked = json.loads(line[5:])
        content = {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}
        answer = {"jsonrpc": "2.0", "id": asked["id"], "result": content}
        assert post(bridge, answer, Mcp_Session_Id=session)[0] == 202
        assert b"LLM response: hi" in response.read()
        connection.close()
    assert asked["method"] == "sampling/createMessage"
    assert bridge.findings.failures == []


def test_an_ended_session_is_gone_and_its_child_has_left_cleanly():
    with bridge_to() as bridge:
        session = initialize(bridge)
        connection = http.client.HTTPConnection("127.0.0.1", bridge.server_address[1], timeout=10)
        connection.request("DELETE", "/mcp", headers={"Mcp-Session-Id": session})
        assert connection.getresponse().status == 200
        connection.close()
        ping = {"jsonrpc": "2.0", "id": 0, "method": "ping"}
        assert post(bridge, ping, Mcp_Session_Id=session)[0] == 404
    assert bridge.findings.failures == []
    assert 0 < bridge.findings.slowest_exit_s < 2
