"""Section F of the catalogue of stdio failures: concurrency, cancellation, progress, lists."""

from __future__ import annotations

import os
import select
import time

import pytest

from tests.peer import Peer, call, cancel, envelope, initialize, modern, request, to_line

KEY = "io.modelcontextprotocol/"


def progress_of(peer: Peer) -> list[dict]:
    return [m["params"] for m in peer.notices if m.get("method") == "notifications/progress"]


def test_f57_a_handler_that_blocks_a_thread_holds_up_nobody(session: Peer):
    session.send(*(call(n, "stuck", {"seconds": 3}) for n in range(20)))
    started = time.monotonic()
    assert session.ask("ping")["result"] == {}
    assert "result" in session.ask("tools/list")
    assert session.ask("tools/call", {"name": "echo", "arguments": {"text": "x"}})["result"]
    assert time.monotonic() - started < 2
    session.send(*(cancel(n) for n in range(20)))
    session.prove_alive()


def test_f58_a_cancelled_call_is_stopped_and_never_heard_of_again(session: Peer):
    session.send(call(1, "wait", meta={"progressToken": "t"}))
    assert session.receive()[0]["params"] == {"progressToken": "t", "progress": 1}
    session.send(cancel(1))
    session.wait_for_stderr(b"wait_stopped")
    session.prove_alive()  # The oracle refuses anything more for id 1 or token t.


def test_f58_a_handler_that_swallows_its_cancel_is_not_heard_either(session: Peer):
    session.send(call(1, "stubborn", meta={"progressToken": "t"}), call(2, "slow"))
    session.answer(2)
    session.send(cancel(1))
    session.prove_alive()
    assert session.notices == []


def test_f58_a_modern_call_is_cancelled_the_same_way(peer: Peer):
    meta = envelope(**{f"{KEY}logLevel": "debug", "progressToken": "t"})
    peer.send(modern("m", "tools/call", {"name": "wait"}, meta))
    assert peer.receive()[0]["params"]["progressToken"] == "t"
    peer.send(cancel("m"))
    peer.wait_for_stderr(b"wait_stopped")
    peer.prove_alive()
    assert peer.notices == []


def test_f58_a_cancelled_id_may_be_used_again_at_once(session: Peer):
    for _ in range(50):
        session.send(call(1, "wait"), cancel(1))
    session.send(call(1, "echo", {"text": "x"}))
    assert session.answer(1)["result"]["structuredContent"] == {"text": "x"}


@pytest.mark.parametrize("id_", [999, "1", "init-1", True, None, [1], {"a": 1}, 1.5])
def test_f60_a_cancel_of_nothing_is_ignored(session: Peer, id_):
    session.send(call(1, "slow"))
    session.write_unseen(to_line(cancel(id_)))
    assert session.answer(1)["result"]["isError"] is False
    session.write(to_line(cancel(1)))  # Finished.
    assert session.ask("ping")["result"] == {}
    assert session.notices == []


def test_f60_initialize_cannot_be_cancelled(peer: Peer):
    peer.send(initialize("2025-11-25", 1))
    peer.write_unseen(to_line(cancel(1)))
    assert peer.answer(1)["result"]["protocolVersion"] == "2025-11-25"


def test_b73_cancels_as_hosts_send_them(session: Peer):
    session.send(call("s", "wait", meta={"progressToken": 1}), call(7, "echo", {"text": "x"}))
    session.answer(7)
    session.write_unseen(to_line(cancel(7)) + to_line(cancel("7")) + to_line(cancel("nope")))
    session.send(cancel("s"))
    session.wait_for_stderr(b"wait_stopped")
    session.prove_alive()


def test_f61_progress_without_a_token_is_not_sent(session: Peer):
    session.send(call(1, "slow"))
    session.answer(1)
    assert session.notices == []


def test_f61_progress_rises_ends_with_the_last_value_and_stops_before_the_answer(session: Peer):
    session.send(call(1, "flood", {"count": 2000}, meta={"progressToken": "t"}))
    session.answer(1)
    values = [p["progress"] for p in progress_of(session)]
    assert values == sorted(set(values))
    assert values[-1] == 1999
    assert 20 <= len(values) < 200


def test_f61_a_slow_stream_is_not_thinned(session: Peer):
    session.send(call(1, "slow", {"steps": 5, "delay_s": 0.05}, meta={"progressToken": 0}))
    session.answer(1)
    assert [p["progress"] for p in progress_of(session)] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("token", [0, "", "5", 10**29 + 7, -1, 2**64])
def test_f62_a_token_is_echoed_with_its_type_and_digits(session: Peer, token):
    session.send(call(1, "slow", {"steps": 2}, meta={"progressToken": token}))
    session.answer(1)
    found = [p["progressToken"] for p in progress_of(session)]
    assert found == [token, token]
    assert {type(t) for t in found} == {type(token)}


@pytest.mark.parametrize("token", [True, 1.5, {}, [], None])
def test_f62_a_token_that_is_none_gets_no_progress(session: Peer, token):
    session.send(call(1, "slow", {"steps": 2}))
    session.send(call(2, "slow", {"steps": 2}, meta={"progressToken": token}))
    session.answer(1)
    session.answer(2)
    assert session.notices == []


def test_f63_ten_thousand_requests_are_answered_and_a_cancel_behind_them_acts():
    with Peer(reads=False) as peer:
        peer.send(initialize("2025-11-25", "i"), call("w", "wait"))
        calls = [call(n, "echo", {"text": str(n)}) for n in range(10_000)]
        for start in range(0, 10_000, 500):
            peer.send(*calls[start : start + 500])
        peer.send(cancel("w"))
        peer.wait_for_stderr(b"wait_stopped")  # While nothing of the output is read.
        peer.start_reading()
        for n in range(10_000):
            found = peer.answer(n)
            assert found["result"]["structuredContent"] == {"text": str(n)}
        peer.prove_alive()
        assert peer.resident_kib() < 200 * 1024


FLOODS = {
    "waiting": (call("f", "echo", {"text": "x"}), 64),
    "unread": (call("f", "echo", {"text": "x" * 1000}), 0),
    "lists": (request("f", "tools/list"), 0),
}


@pytest.mark.parametrize("name", FLOODS)
def test_f63_the_server_pauses_rather_than_grow_when_nobody_reads(name: str):
    message, stuck = FLOODS[name]
    with Peer(reads=False) as peer:
        peer.send(initialize("2025-11-25", "i"))
        peer.send(*(call(f"s{n}", "stuck", {"seconds": 60}) for n in range(stuck)))
        before = 40 * 1024  # KiB, about what it takes when idle
        sent = flood(peer, to_line(message), 150_000)
        assert 10_000 <= sent < 150_000
        assert peer.resident_kib() - before < 128 * 1024


def flood(peer: Peer, line: bytes, count: int) -> int:
    """Write lines with ids of their own until the pipe stays full; how many went in."""
    fd = peer.process.stdin.fileno()
    os.set_blocking(fd, False)
    for n in range(0, count, 100):
        block = b"".join(line.replace(b'"f"', b'"f%d"' % m) for m in range(n, n + 100))
        view = memoryview(block)
        while view:
            if not select.select([], [fd], [], 1.5)[1]:
                return n
            view = view[os.write(fd, view) :]
    return count


@pytest.mark.parametrize("name", ["nope", "", "Echo", "echo "])
def test_f67_an_unknown_tool_is_a_fault_in_both_eras(session: Peer, name: str):
    assert session.ask("tools/call", {"name": name})["error"]["code"] == -32602
    assert session.ask_modern("tools/call", {"name": name})["error"]["code"] == -32602


def test_f68_a_missing_resource_by_era(session: Peer):
    params = {"uri": "test://nope"}
    for ask, code in ((session.ask, -32002), (session.ask_modern, -32602)):
        error = ask("resources/read", params)["error"]
        assert (error["code"], error["data"]) == (code, params)


LISTS = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"]


@pytest.mark.parametrize("method", LISTS)
@pytest.mark.parametrize("cursor", ["", "nope", "AAAA", "é", "bm9wZQ", 7])
def test_f69_a_bad_cursor_is_invalid(session: Peer, method: str, cursor):
    assert session.ask(method, {"cursor": cursor})["error"]["code"] == -32602
    assert session.ask_modern(method, {"cursor": cursor})["error"]["code"] == -32602


def test_f69_pages_cover_the_list_once_and_the_last_has_no_cursor(session: Peer):
    for ask in (session.ask, session.ask_modern):
        seen, params = [], {}
        while params is not None:
            page = ask("resources/list", params)["result"]
            seen += [item["uri"] for item in page["resources"]]
            params = {"cursor": page["nextCursor"]} if "nextCursor" in page else None
        assert seen == [f"test://item/{n}" for n in range(1, 251)]


def test_f69_a_cursor_of_one_list_is_none_of_another(session: Peer):
    cursor = session.ask("resources/list")["result"]["nextCursor"]
    assert session.ask("prompts/list", {"cursor": cursor})["error"]["code"] == -32602


def test_f70_lists_are_the_same_each_time_and_on_each_connection(session: Peer):
    with Peer() as other:
        mine = session.ask_modern("tools/list")["result"]["tools"]
        theirs = other.ask_modern("tools/list")["result"]["tools"]
    assert mine == theirs == session.ask_modern("tools/list")["result"]["tools"]
    assert all(tool["inputSchema"]["type"] == "object" for tool in mine)
    assert not [t for t in mine if t["inputSchema"].keys() & {"anyOf", "oneOf", "allOf", "$ref"}]


@pytest.mark.parametrize("tool", ["fail", "refuse", "echo", "exit", "cancelled_inside"])
def test_f71_a_failed_tool_is_an_error_result_without_structured_content(session: Peer, tool: str):
    session.send(call(1, "slow"))
    result = session.ask("tools/call", {"name": tool})["result"]
    assert result["isError"] is True
    assert "structuredContent" not in result
    assert "secret detail" not in result["content"][0]["text"]
    assert session.answer(1)["result"]["isError"] is False
    session.prove_alive()


def test_f71_a_defect_is_named_by_an_incident_that_the_log_explains(session: Peer):
    text = session.ask("tools/call", {"name": "fail"})["result"]["content"][0]["text"]
    assert "incident-1" in text
    session.wait_for_stderr(b"incident-1")
    session.wait_for_stderr(b"secret detail")


def logs(peer: Peer) -> list[tuple[str, object]]:
    found = [m["params"] for m in peer.notices if m.get("method") == "notifications/message"]
    return [(p["level"], p["data"]) for p in found]


def test_f74_logs_follow_the_level_of_the_session(session: Peer):
    session.ask("logging/setLevel", {"level": "info"})
    session.ask("tools/call", {"name": "log_all"})
    expected = [("info", "a info"), ("warning", "a warning"), ("emergency", "a emergency")]
    assert logs(session) == expected


def test_f74_a_modern_call_hears_no_log_that_it_did_not_ask_for(session: Peer):
    session.ask("logging/setLevel", {"level": "debug"})
    session.ask_modern("tools/call", {"name": "log_all"})
    assert logs(session) == []
    meta = envelope(**{f"{KEY}logLevel": "warning"})
    session.ask_modern("tools/call", {"name": "log_all"}, meta)
    assert logs(session) == [("warning", "a warning"), ("emergency", "a emergency")]
