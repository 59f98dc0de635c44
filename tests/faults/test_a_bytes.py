"""Section A of the catalogue of stdio failures: bytes, lines, encoding."""

from __future__ import annotations

import time

import pytest

from tests.peer import FIXTURE, INITIALIZED, Peer, call, initialize, modern, request, to_line

MIB = 1024 * 1024


def parse_error(message: dict) -> bool:
    return message["id"] is None and message["error"]["code"] == -32700


def test_a01_a_garbage_line_gets_one_parse_error(session: Peer):
    session.write(b"this is not json\n")
    assert parse_error(session.receive()[0])
    session.prove_alive()


def test_a01_a_broken_response_is_not_answered(session: Peer):
    session.write(b'{"jsonrpc":"2.0","id":1,"result":{"x":NaN}}\n')
    session.write(b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"' + b'\xff"}}\n')
    assert session.ask("ping")["result"] == {}
    assert session.notices == []


def test_a01_errors_stop_after_sixteen_bad_lines_and_start_again_after_a_good_one(session: Peer):
    session.write(b"garbage\n" * 100)
    assert session.ask("ping")["result"] == {}
    assert len(session.notices) == 16
    assert all(map(parse_error, session.notices))
    session.write(b"garbage\n")
    assert parse_error(session.receive()[0])


def test_a01_a_request_is_answered_however_many_bad_lines_came_before(session: Peer):
    session.write(b"garbage\n" * 40)
    session.write(to_line({"jsonrpc": "1.0", "id": "late", "method": "ping"}))
    assert session.answer("late")["error"]["code"] == -32600


def test_a02_a_parse_error_does_not_carry_the_id_of_the_request_before(session: Peer):
    session.send(request(77, "ping"))
    session.write(b"garbage\n")
    assert session.answer(77)["result"] == {}
    assert parse_error(session.receive()[0])


@pytest.mark.parametrize("text", [b'{"jsonrpc":"2.0","id":1,"meth', b"{", b"\xe2\x80", b'"'])
def test_a03_truncated_json_at_the_end_is_refused_and_the_exit_is_clean(peer: Peer, text: bytes):
    peer.handshake()
    peer.write(text)
    code, seconds = peer.end()
    assert [m["error"]["code"] for m in peer.rest()] == [-32700]
    assert code == 0
    assert seconds < 2
    assert b"Traceback" not in peer.stderr


def test_a04_a_last_line_without_line_feed_is_served_before_the_exit(peer: Peer):
    peer.handshake()
    peer.write(to_line(call("last", "echo", {"text": "x"})).rstrip(b"\n"))
    code, _ = peer.end()
    assert [m["id"] for m in peer.rest()] == ["last"]
    assert code == 0


def test_a05_crlf_ends_a_line_and_a_lone_cr_does_not(session: Peer):
    session.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r\n')
    session.write(b'{"jsonrpc":"2.0",\r"id":2,\r"method":"ping"}\n')
    assert session.answer(1)["result"] == session.answer(2)["result"] == {}


def test_a06_a_byte_order_mark_at_the_start_is_stripped(peer: Peer):
    peer.write_unseen(b"\xef\xbb\xbf")
    peer.send(initialize("2025-06-18", 1))
    assert peer.answer(1)["result"]["protocolVersion"] == "2025-06-18"


def test_a07_blank_lines_are_ignored_without_spinning(session: Peer):
    session.write(b"\n \n\r\n\t\n" * 5000)
    assert session.ask("ping")["result"] == {}
    assert session.notices == []


def test_a09_a_character_split_across_reads_stays_whole(session: Peer):
    line = to_line(call(1, "echo", {"text": "日本★🎉"}))
    for byte in line:
        session.write_unseen(bytes([byte]))
    session.oracle.sent(call(1, "echo"))
    assert session.answer(1)["result"]["structuredContent"] == {"text": "日本★🎉"}


def test_a09_a_character_across_the_buffer_boundary_stays_whole(session: Peer):
    for shift in range(4):
        text = "x" * shift + "★" * 100_000
        session.send(call(shift, "echo", {"text": text}))
        assert session.answer(shift)["result"]["structuredContent"] == {"text": text}


def test_a10_invalid_utf8_is_refused_and_not_executed(session: Peer):
    good = to_line(call(1, "echo", {"text": "QQ"}))
    session.write_unseen(good.replace(b"QQ", b"Q\xff"))
    session.oracle.sent(call(1, "echo"))
    assert session.answer(1)["error"]["code"] == -32700
    session.prove_alive()


def test_a10_an_id_that_is_not_utf8_is_never_invented(session: Peer):
    session.write_unseen(b'{"jsonrpc":"2.0","id":"a\xff","method":"ping"}\n')
    session.write_unseen(b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}\n')
    assert parse_error(session.receive()[0])
    assert parse_error(session.receive()[0])


@pytest.mark.parametrize("byte", [b"\x00", b"\t", b"\x01", b"\x1f"])
def test_a12_a_raw_control_character_is_refused(session: Peer, byte: bytes):
    good = to_line(call(1, "echo", {"text": "QQ"}))
    session.write_unseen(good.replace(b"QQ", b"Q" + byte))
    session.oracle.sent(call(1, "echo"))
    assert session.answer(1)["error"]["code"] == -32700


def test_a12_an_escaped_nul_survives(session: Peer):
    session.send(call(1, "echo", {"text": "a\u0000b"}))
    assert session.answer(1)["result"]["structuredContent"] == {"text": "a\u0000b"}


def test_a13_content_length_framing_is_refused_and_does_not_switch_anything(session: Peer):
    body = to_line(request(5, "ping"))
    session.write_unseen(b"Content-Length: %d\r\n\r\n" % len(body))
    session.write(body)
    assert session.answer(5)["result"] == {}
    assert [parse_error(m) for m in session.notices] == [True]


@pytest.mark.parametrize("size", [MIB, 16 * MIB - 200])
def test_a14_a_huge_line_is_served(session: Peer, size: int):
    text = "x" * size
    session.send(call(1, "echo", {"text": text}))
    assert session.answer(1, 60)["result"]["structuredContent"]["text"] == text
    session.prove_alive()


def test_a14_a_line_above_the_limit_is_answered_once_and_costs_no_memory(session: Peer):
    session.prove_alive()
    before = session.resident_kib()
    for _ in range(40):
        session.write_unseen(b"x" * MIB)
    session.write_unseen(b"\n")
    assert session.receive()[0]["error"]["code"] == -32600
    assert session.resident_kib() - before < 48 * 1024
    session.prove_alive()


@pytest.mark.parametrize(
    ("head", "tail", "id_"),
    [
        (b'{"jsonrpc":"2.0","id":7,"method":"m","params":{"x":"', b'"}}', 7),
        (b'{"method":"m","params":{"x":"', b'"},"jsonrpc":"2.0","id":"a\\"b"}', 'a"b'),
        (b'{"jsonrpc": "2.0", "method": "m", "params": {"x": "', b'"}, "id": 0}', 0),
        (b'{"method":"m","params":{"x":"', b'","id":9}}', None),
        (b'{"method":"m","params":{"x":"', b'"},"id":1.5}', None),
        (b'{"result":{"x":"', b'"},"jsonrpc":"2.0","id":"srv-1"}', None),
        (b'{"jsonrpc":"2.0","id":7,"result":{"x":"', b'"}}', None),
    ],
)
def test_a14_a_request_above_the_limit_is_answered_under_its_id(
    session: Peer, head: bytes, tail: bytes, id_
):
    if id_ is not None:
        session.oracle.sent(request(id_, "m"))
    session.write_unseen(head + b"x" * (17 * MIB) + tail + b"\n")
    message = session.receive()[0]
    assert (message["id"], message["error"]["code"]) == (id_, -32600)
    assert type(message["id"]) is type(id_)
    session.prove_alive()


def test_a16_two_documents_on_one_line_execute_neither(session: Peer):
    first, second = to_line(request(1, "ping")), to_line(request(2, "ping"))
    session.write_unseen(first.rstrip(b"\n") + second)
    session.write_unseen(first.rstrip(b"\n") + b" trailing\n")
    assert parse_error(session.receive()[0])
    assert parse_error(session.receive()[0])
    session.prove_alive()
    assert session.notices == []


def test_a17_of_duplicate_keys_the_last_counts(session: Peer):
    session.write(b'{"jsonrpc":"2.0","id":1,"id":2,"method":"nope","method":"ping"}\n')
    assert session.receive() == [{"jsonrpc": "2.0", "id": 2, "result": {}}]


ENCODINGS = {
    "cp1252": {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"},
    "posix": {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_a18_the_platform_encoding_does_not_matter(name: str):
    with Peer(env=ENCODINGS[name]) as peer:
        peer.handshake()
        peer.send(call(1, "echo", {"text": "★🎉тест"}))
        assert peer.answer(1)["result"]["structuredContent"] == {"text": "★🎉тест"}


test_b60_utf8_both_ways_under_any_locale = test_a18_the_platform_encoding_does_not_matter


@pytest.mark.parametrize("size", [70_000, 300_000])
def test_b52_a_long_line_in_many_small_writes_is_parsed(session: Peer, size: int):
    line = to_line(call(1, "echo", {"text": "y" * size}))
    for start in range(0, len(line), 4093):
        session.write_unseen(line[start : start + 4093])
    session.oracle.sent(call(1, "echo"))
    assert len(session.answer(1)["result"]["structuredContent"]["text"]) == size


def test_b52_two_requests_in_one_write_are_both_answered(session: Peer):
    session.send(request(1, "ping"), request(2, "ping"))
    assert session.answer(2)["result"] == session.answer(1)["result"] == {}


def test_line_separators_leave_escaped_and_do_not_end_a_line(session: Peer):
    session.send(call(1, "echo", {"text": "a\u2028b\u2029c"}))  # The oracle refuses raw ones.
    assert session.answer(1)["result"]["structuredContent"] == {"text": "a\u2028b\u2029c"}


def test_start_up_in_one_write_with_everything_behind_it():
    with Peer(FIXTURE) as peer:
        started = time.monotonic()
        calls = [call(n, "echo", {"text": str(n)}) for n in range(50)]
        peer.send(initialize("2025-03-26", "i"), INITIALIZED, *calls, modern("m", "tools/list"))
        assert peer.receive()[0]["id"] == "i"
        assert {peer.answer(n)["id"] for n in range(50)} == set(range(50))
        assert "result" in peer.answer("m")
        assert time.monotonic() - started < 10
