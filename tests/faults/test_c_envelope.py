"""Section C of the catalogue of stdio failures: the JSON-RPC envelope."""

from __future__ import annotations

import pytest

from memrpc.wire.codec import MAX_BATCH
from tests.peer import Peer, call, cancel, envelope, initialize, modern, request, to_line

SHARES_A_PROCESS = True


def code_of(message: dict) -> tuple[object, int]:
    return message["id"], message["error"]["code"]


@pytest.mark.parametrize("id_", ["null", "1.5", "1.0", "1e30", "true", "{}", "[1]"])
def test_c25_c26_an_id_that_is_neither_string_nor_integer_is_refused(session: Peer, id_: str):
    line = to_line(call("QQ", "echo", {"text": "x"})).replace(b'"QQ"', id_.encode())
    session.write_unseen(line)
    assert code_of(session.receive()[0]) == (None, -32600)
    session.prove_alive()


BIG = 10**29 + 7
IDS = ["1", 1, "", 0, -1, "ünï", 2**53 + 1, 2**63 - 1, -(2**63), 2**64 - 1, 2**64, BIG, -BIG]


@pytest.mark.parametrize("id_", IDS, ids=repr)
def test_c27_an_id_keeps_its_type_and_its_digits_in_both_eras(session: Peer, id_):
    session.send(request(id_, "ping"))
    assert session.answer(id_)["result"] == {}
    session.send(modern(id_, "tools/call", {"name": "echo", "arguments": {"text": "x"}}))
    assert session.answer(id_)["result"]["structuredContent"] == {"text": "x"}
    session.send(request(id_, "nope"))
    assert session.answer(id_)["error"]["code"] == -32601


@pytest.mark.parametrize("id_", IDS, ids=repr)
def test_c27_a_cancel_finds_the_id_whatever_its_size(session: Peer, id_):
    session.send(call(id_, "wait", meta={"progressToken": id_}))
    assert session.receive()[0]["params"]["progressToken"] == id_
    session.send(cancel(id_))
    session.wait_for_stderr(b"wait_stopped")
    session.prove_alive()


def test_b69_ids_as_the_field_sends_them(session: Peer):
    for id_ in (0, -1, "", "a"):
        session.send(request(id_, "ping"))
        assert session.answer(id_)["result"] == {}


def test_c29_a_duplicate_id_in_flight_is_refused_and_the_first_undisturbed(session: Peer):
    session.send(call(1, "slow"), request(1, "ping"), modern(1, "tools/list"))
    session.oracle.open[(int, 1)] = session.oracle.open[(int, 1)][:1]
    assert session.answer(1)["result"]["content"][0]["text"] == "done"
    assert [code_of(m) for m in session.notices] == [(None, -32600), (None, -32600)]
    session.send(request(1, "ping"))  # Used again after its answer.
    assert session.answer(1)["result"] == {}


def test_c29_a_string_and_a_number_are_different_ids(session: Peer):
    session.send(call(1, "slow"), call("1", "slow"))
    assert session.answer("1")["result"]["isError"] is False
    assert session.answer(1)["result"]["isError"] is False


@pytest.mark.parametrize("version", ['"1.0"', "2.0", "null", "2"])
def test_c30_a_wrong_jsonrpc_member_is_refused_under_the_requests_id(session: Peer, version: str):
    line = to_line(request(5, "ping")).replace(b'"2.0"', version.encode())
    session.write(line)
    assert code_of(session.receive()[0]) == (5, -32600)


def test_c30_a_missing_jsonrpc_member_is_refused(session: Peer):
    session.write(b'{"id":5,"method":"ping"}\n')
    assert code_of(session.receive()[0]) == (5, -32600)


@pytest.mark.parametrize("method", [7, None, [], {}, True])
def test_c31_a_method_that_is_no_string_is_refused(session: Peer, method):
    session.oracle.sent(request(5, "x"))
    session.write_unseen(to_line(request(5, method)))
    assert code_of(session.receive()[0]) == (5, -32600)


METHODS = ["", "x" * 1_000_000, "tools/nope", "rpc.x", "Ping"]


@pytest.mark.parametrize("method", METHODS, ids=["empty", "long", "slash", "rpc", "case"])
def test_c31_a_method_that_does_not_exist_is_not_found(session: Peer, method: str):
    session.send(request(5, method))
    assert code_of(session.answer(5)) == (5, -32601)


def test_c31_an_id_alone_is_no_message(session: Peer):
    session.oracle.sent(request(5, "x"))
    session.write_unseen(b'{"jsonrpc":"2.0","id":5}\n{"jsonrpc":"2.0"}\n{}\n')
    answers = [session.receive()[0] for _ in range(3)]
    assert [code_of(m) for m in answers] == [(5, -32600), (None, -32600), (None, -32600)]


@pytest.mark.parametrize(("params", "code"), [([], -32602), ("x", -32600), (7, -32600)])
def test_c32_params_that_are_no_object_are_refused(session: Peer, params, code: int):
    session.send(request(5, "ping", params))
    assert code_of(session.answer(5)) == (5, code)


def test_c32_null_counts_as_absent(session: Peer):
    session.write(b'{"jsonrpc":"2.0","id":5,"method":"tools/list","params":null}\n')
    assert "result" in session.answer(5)
    null = {"name": "slow", "arguments": None, "_meta": None}
    session.send(request(6, "tools/call", null), request(7, "tools/list", {"cursor": None}))
    assert session.answer(6)["result"]["isError"] is False
    assert "result" in session.answer(7)


def test_c32_null_counts_as_absent_in_whatever_a_params_shape_tells(session: Peer):
    ref = {"type": "ref/prompt", "name": "greet", "uri": None, "title": None}
    typed = {"ref": ref, "argument": {"name": "style", "value": ""}, "context": {"arguments": None}}
    assert "completion" in session.ask("completion/complete", typed)["result"]
    given = {"name": "greet", "arguments": {"name": "Ann", "style": None}}
    assert "messages" in session.ask("prompts/get", given)["result"]
    missing = session.ask("prompts/get", {"name": "greet", "arguments": {"name": None}})
    assert missing["error"]["code"] == -32602
    meta = envelope(**{"io.modelcontextprotocol/logLevel": None})
    assert "tools" in session.ask_modern("tools/list", meta=meta)["result"]
    wish = {"notifications": {"toolsListChanged": None, "resourceSubscriptions": None}}
    session.send(modern("ear", "subscriptions/listen", wish))
    assert session.receive()[0]["params"]["notifications"] == {}
    session.send(cancel("ear"))


@pytest.mark.parametrize("arguments", [[], "x", 7, True])
def test_c32_arguments_that_are_no_object_are_a_fault_of_the_message(session: Peer, arguments):
    session.send(request(5, "tools/call", {"name": "slow", "arguments": arguments}))
    assert code_of(session.answer(5)) == (5, -32602)


def test_c33_extra_members_are_ignored(session: Peer):
    session.send({**request(5, "ping"), "extra": 1, "auth": {}})
    assert session.answer(5)["result"] == {}


@pytest.mark.parametrize("text", [b"42", b'"x"', b"null", b"true", b"[]", b"[1]", b"1.5"])
def test_c34_what_is_no_object_is_refused(session: Peer, text: bytes):
    session.write(text + b"\n")
    assert code_of(session.receive()[0]) == (None, -32600)
    session.prove_alive()


@pytest.mark.parametrize("id_", ["999", '"srv-1"', '"init-1"', "null", "1.5"])
@pytest.mark.parametrize("body", ['"result":{}', '"error":{"code":-1,"message":"x"}', '"error":7'])
def test_c36_a_response_to_nothing_is_ignored(session: Peer, id_: str, body: str):
    session.write(f'{{"jsonrpc":"2.0","id":{id_},{body}}}\n'.encode())
    assert session.ask("ping")["result"] == {}
    assert session.notices == []


def test_c37_a_response_with_result_and_error_is_ignored(session: Peer):
    session.write(b'{"jsonrpc":"2.0","id":"srv-1","result":{},"error":{"code":1,"message":""}}\n')
    assert session.ask("ping")["result"] == {}
    assert session.notices == []


def test_c37_a_request_with_a_result_is_refused(session: Peer):
    session.send({**request(5, "ping"), "result": {}})
    assert code_of(session.answer(5)) == (5, -32600)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25"])
def test_a_batch_is_refused_where_the_revision_has_none(peer: Peer, version: str):
    peer.handshake(version)
    peer.write_unseen(to_line([request(1, "ping"), request(2, "ping")]))
    assert code_of(peer.receive()[0]) == (None, -32600)
    peer.prove_alive()


def test_a_batch_is_answered_in_one_line_where_the_revision_has_it(peer: Peer):
    peer.handshake("2025-03-26")
    peer.send(
        [
            request(1, "ping"),
            cancel(9),
            request(2, "nope"),
            7,
            call(3, "slow"),
            call(4, "wait"),
            cancel(4),
            request(BIG, "ping"),
            modern("m", "tools/list"),
            initialize("2025-06-18", "i"),
        ]
    )
    peer.oracle.session, peer.oracle.session_is_open = "2025-03-26", True
    answers = peer.receive()
    assert {m["id"] for m in answers} == {1, 2, 3, None, BIG, "m", "i"}
    refused = {m["id"]: m["error"]["code"] for m in answers if "error" in m}
    assert refused == {2: -32601, None: -32600, "m": -32600, "i": -32600}


@pytest.mark.parametrize("batch", [[cancel(1)], [cancel(1), {"jsonrpc": "2.0", "method": "x"}]])
def test_a_batch_that_owes_no_answer_gets_none(peer: Peer, batch: list):
    peer.handshake("2025-03-26")
    peer.send(batch)
    assert peer.ask("ping")["result"] == {}
    assert peer.notices == []


def test_an_empty_batch_gets_one_error(peer: Peer):
    peer.handshake("2025-03-26")
    peer.write(b"[]\n")
    assert code_of(peer.receive()[0]) == (None, -32600)


@pytest.mark.parametrize("version", ["2025-03-26", "2025-06-18"])
def test_a_batch_of_too_many_messages_gets_one_error_and_costs_no_memory(peer: Peer, version: str):
    peer.handshake(version)
    before_kib = peer.resident_kib()
    peer.write_unseen(b"[" + b"1," * 2_000_000 + b"1]\n")
    assert code_of(peer.receive()[0]) == (None, -32600)
    assert peer.resident_kib() - before_kib < 150 << 10
    peer.prove_alive()


def test_a_batch_of_as_many_messages_as_are_allowed_is_answered(peer: Peer):
    peer.handshake("2025-03-26")
    peer.send([request(each, "ping") for each in range(MAX_BATCH)])
    assert len(peer.receive()) == MAX_BATCH
