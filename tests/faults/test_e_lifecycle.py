"""Section E of the catalogue of stdio failures: lifecycle and era."""

from __future__ import annotations

import itertools

import pytest

from tests import official
from tests.peer import (
    FIXTURE,
    INITIALIZED,
    Peer,
    call,
    envelope,
    initialize,
    modern,
    note,
    request,
)

LEGACY = sorted(official.HANDSHAKE, reverse=True)
KEY = "io.modelcontextprotocol/"


def error_of(message: dict) -> tuple[int, object]:
    return message["error"]["code"], message["error"].get("data")


def test_e44_a_request_without_a_session_is_refused_and_the_process_stays_usable(peer: Peer):
    assert peer.ask("tools/list")["error"]["code"] == -32602
    assert peer.ask("nope")["error"]["code"] == -32601
    assert peer.ask("ping")["result"] == {}
    assert "protocolVersion" in peer.handshake()
    assert "result" in peer.ask("tools/list")


def test_e45_ping_before_initialize_is_answered(peer: Peer):
    assert peer.ask("ping")["result"] == {}


def test_e46_requests_between_the_result_and_initialized_are_served(peer: Peer):
    peer.send(initialize("2025-06-18", 1))
    peer.answer(1)
    assert peer.ask("logging/setLevel", {"level": "info"})["result"] == {}
    assert "result" in peer.ask("tools/list")


def test_e47_pipelined_messages_are_all_answered_with_initialize_first(peer: Peer):
    peer.send(initialize("2025-06-18", 1), INITIALIZED, request(2, "tools/list"), call(3, "slow"))
    assert peer.receive()[0]["id"] == 1
    assert "result" in peer.answer(2)
    assert "result" in peer.answer(3)


@pytest.mark.parametrize("version", LEGACY)
def test_e48_a_handshake_version_is_echoed(peer: Peer, version: str):
    assert peer.handshake(version)["protocolVersion"] == version


@pytest.mark.parametrize("version", ["2026-07-28", "2099-01-01", "1999-01-01", "DRAFT-2026-v1"])
def test_e48_any_other_version_gets_the_newest_handshake(peer: Peer, version: str):
    assert peer.handshake(version)["protocolVersion"] == "2025-11-25"


@pytest.mark.parametrize("version", ["1.0.0", "", "latest", 42, None, ["2025-11-25"], {}])
def test_e48_what_is_no_version_fails_with_what_is_supported(peer: Peer, version):
    peer.oracle.sent(request(1, "initialize"))
    body = {"protocolVersion": version, "capabilities": {}, "clientInfo": {}}
    peer.oracle.open.clear()
    peer.send(request(1, "initialize", body))
    code, data = error_of(peer.answer(1))
    assert (code, data) == (-32602, {"supported": LEGACY, "requested": version})
    assert peer.handshake()["protocolVersion"] == "2025-11-25"


def test_e48_a_missing_version_fails_with_what_is_supported(peer: Peer):
    code, data = error_of(peer.ask("initialize", {"capabilities": {}}))
    assert (code, data) == (-32602, {"supported": LEGACY, "requested": None})


VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "2099-01-01"]


@pytest.mark.parametrize("version", VERSIONS)
def test_b71_each_version_as_hosts_send_it(peer: Peer, version: str):
    expected = version if version in LEGACY else "2025-11-25"
    assert peer.handshake(version)["protocolVersion"] == expected


def test_e49_a_second_initialize_starts_over(peer: Peer):
    peer.handshake("2025-03-26")
    assert peer.ask("resources/subscribe", {"uri": "test://item/1"})["result"] == {}
    peer.send(call("old", "slow", {"steps": 20}))
    assert peer.handshake("2025-11-25")["protocolVersion"] == "2025-11-25"
    assert peer.answer("old")["result"]["isError"] is False
    peer.send(call("c", "change", {"kind": "resource", "uri": "test://item/1"}))
    peer.answer("c")
    assert not [m for m in peer.notices if "updated" in m.get("method", "")]
    peer.write(b"[]\n")
    assert peer.receive()[0]["error"]["code"] == -32600


def test_e50_discover_then_initialize_and_again_in_one_process(peer: Peer):
    for _ in range(2):
        assert "result" in peer.ask_modern("server/discover")
        assert peer.handshake("2025-11-25")["protocolVersion"] == "2025-11-25"
    assert peer.handshake("2024-11-05")["protocolVersion"] == "2024-11-05"
    peer.prove_alive()


def test_e50_a_discover_without_envelope_pins_nothing(peer: Peer):
    assert peer.ask("server/discover")["error"]["code"] == -32602
    assert peer.ask_modern("tools/list")["result"]["resultType"] == "complete"
    assert peer.handshake()["protocolVersion"] == "2025-11-25"


META_FAULTS = {
    "no capabilities": ({f"{KEY}protocolVersion": "2026-07-28"}, -32602),
    "no version": ({f"{KEY}clientCapabilities": {}}, -32602),
    "only client info": ({f"{KEY}clientInfo": {"name": "x", "version": "1"}}, -32602),
    "version no string": (envelope() | {f"{KEY}protocolVersion": 20260728}, -32602),
    "capabilities no object": (envelope() | {f"{KEY}clientCapabilities": []}, -32602),
    "level unknown": (envelope() | {f"{KEY}logLevel": "verbose"}, -32602),
    "level no string": (envelope() | {f"{KEY}logLevel": ["info"]}, -32602),
    "unknown version": (envelope() | {f"{KEY}protocolVersion": "2099-01-01"}, -32022),
    "handshake version": (envelope() | {f"{KEY}protocolVersion": "2025-11-25"}, -32022),
}


@pytest.mark.parametrize("name", META_FAULTS)
def test_e52_an_envelope_with_a_fault_is_refused_with_its_code(peer: Peer, name: str):
    meta, code = META_FAULTS[name]
    found, data = error_of(peer.ask_modern("tools/list", meta=meta))
    assert found == code
    if code == -32022:
        assert data == {"supported": ["2026-07-28"], "requested": meta[f"{KEY}protocolVersion"]}
    peer.prove_alive()


REMOVED = [
    "initialize",
    "ping",
    "logging/setLevel",
    "resources/subscribe",
    "resources/unsubscribe",
    "tasks/get",
    "roots/list",
]


@pytest.mark.parametrize("method", REMOVED)
def test_a_method_that_2026_07_28_lacks_is_not_found_with_an_envelope(peer: Peer, method: str):
    peer.handshake()
    assert peer.ask_modern(method)["error"]["code"] == -32601


@official.needs_schemas
@pytest.mark.parametrize("version", official.REVISIONS)
def test_e53_e54_every_result_has_the_shape_of_its_revision(peer: Peer, version: str):
    """The oracle holds each line to the closed official schema of the revision."""
    is_modern = version == official.ENVELOPE
    if not is_modern:
        peer.handshake(version)
    ask = peer.ask_modern if is_modern else peer.ask
    for method, params in READS:
        assert "result" in ask(method, params), method
    rich = ask("tools/call", {"name": "rich"})["result"]["content"]
    assert [block["type"] for block in rich] == KINDS[version]
    listed = {tool["name"]: tool for tool in ask("tools/list")["result"]["tools"]}
    assert ("execution" in listed["echo"]) == (version == "2025-11-25")
    assert ("outputSchema" in listed["echo"]) == (version >= "2025-06-18")
    assert ("annotations" in listed["echo"]) == (version >= "2025-03-26")
    missing = ask("resources/read", {"uri": "test://item/999"})
    assert error_of(missing) == (-32602 if is_modern else -32002, {"uri": "test://item/999"})


READS = [
    ("tools/list", {}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "test://item/7"}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "greet", "arguments": {"name": "Ann"}}),
    (
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "name", "value": ""}},
    ),
    ("tools/call", {"name": "echo", "arguments": {"text": "x"}}),
    ("tools/call", {"name": "numbers"}),
    ("tools/call", {"name": "either"}),
    ("tools/call", {"name": "fail"}),
    ("tools/call", {"name": "refuse"}),
    ("tools/call", {"name": "echo"}),
]
_NEWEST = ["text", "image", "audio", "resource", "resource_link"]
KINDS = {
    "2024-11-05": ["text", "image", "resource", "resource", "text"],
    "2025-03-26": ["text", "image", "audio", "resource", "text"],
    "2025-06-18": _NEWEST,
    "2025-11-25": _NEWEST,
    "2026-07-28": _NEWEST,
}


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25", "2026-07-28"])
def test_e54_structured_content_satisfies_the_schema_that_was_listed(peer: Peer, version: str):
    from jsonschema import Draft202012Validator

    is_modern = version == official.ENVELOPE
    if not is_modern:
        peer.handshake(version)
    ask = peer.ask_modern if is_modern else peer.ask
    for tool in ask("tools/list")["result"]["tools"]:
        if tool["name"] not in {"echo", "numbers", "either"} or "outputSchema" not in tool:
            continue
        result = ask("tools/call", {"name": tool["name"], "arguments": {"text": "x"}})["result"]
        Draft202012Validator(tool["outputSchema"]).validate(result["structuredContent"])
        assert is_modern or tool["outputSchema"]["type"] == "object"


def test_e55_nothing_is_sent_on_its_own_before_initialized(peer: Peer):
    peer.send(initialize("2025-11-25", 1, {"roots": {}}))
    peer.answer(1)
    assert peer.ask("resources/subscribe", {"uri": "test://item/1"})["result"] == {}
    peer.send(call(2, "change", {"kind": "tools"}), call(3, "ask", {"what": ["roots"]}))
    peer.send(call(4, "change", {"kind": "resource", "uri": "test://item/1"}))
    peer.answer(4)
    assert [m for m in peer.notices if "method" in m] == []
    peer.send(INITIALIZED)
    asked = next(m for m in iter(lambda: peer.receive()[0], None) if m.get("method"))
    assert asked["method"] == "roots/list"
    peer.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"roots": []}})
    assert peer.answer(3)["result"]["structuredContent"] == {"answers": {"roots": {"roots": []}}}


def test_e55_an_ask_that_was_never_sent_is_never_cancelled(peer: Peer):
    peer.send(initialize("2025-11-25", 1, {"roots": {}}))
    peer.answer(1)
    peer.send(call(2, "ask", {"what": ["roots"], "timeout_s": 0.05}))
    assert peer.answer(2)["result"]["isError"]
    assert peer.notices == []


def test_e56_initialize_is_answered_while_the_rest_still_loads():
    with Peer(FIXTURE) as peer:
        peer.send(initialize("2025-11-25", 1), modern(2, "server/discover"))
        assert peer.receive()[0]["id"] == 1
        assert peer.receive()[0]["id"] == 2


def test_b72_a_modern_client_with_string_ids_never_initializes(peer: Peer):
    found = peer.ask_modern("server/discover")["result"]
    assert found["supportedVersions"] == ["2026-07-28"]
    assert found["_meta"][f"{KEY}serverInfo"]["name"] == "fixture"
    listed = peer.ask_modern("tools/list")["result"]
    assert {"resultType", "ttlMs", "cacheScope"} <= listed.keys()
    called = peer.ask_modern("tools/call", {"name": "echo", "arguments": {"text": "x"}})["result"]
    assert called["resultType"] == "complete"


@pytest.mark.parametrize("order", itertools.permutations(["old", "new", "modern"]), ids="-".join)
def test_both_eras_in_one_process_in_any_order(peer: Peer, order):
    for step in order * 2:
        if step == "modern":
            result = peer.ask_modern("tools/call", {"name": "numbers"})["result"]
            assert result["structuredContent"] == [1, 2, 3]
        else:
            version = "2024-11-05" if step == "old" else "2025-11-25"
            assert peer.handshake(version)["protocolVersion"] == version
            result = peer.ask("tools/call", {"name": "numbers"})["result"]
            assert ("structuredContent" in result) == (step == "new")
            assert "resultType" not in result


def test_b83_a_declared_list_exists_and_an_undeclared_one_does_not():
    with Peer((*FIXTURE, "bare")) as peer:
        assert set(peer.handshake()["capabilities"]) == {"tools", "logging"}
        for method in ("resources/list", "prompts/list", "completion/complete", "resources/read"):
            assert peer.ask(method)["error"]["code"] == -32601
            assert peer.ask_modern(method)["error"]["code"] == -32601


def test_b83_unknown_references_and_levels_are_invalid(session: Peer):
    argument = {"name": "x", "value": ""}
    for method, params in (
        (
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "nope"}, "argument": argument},
        ),
        ("completion/complete", {"ref": {"type": "ref/nope", "name": "x"}, "argument": argument}),
        ("completion/complete", {"ref": {"type": "ref/resource"}, "argument": argument}),
        ("completion/complete", {}),
        ("logging/setLevel", {"level": "verbose"}),
        ("logging/setLevel", {}),
        ("prompts/get", {"name": "nope"}),
        ("prompts/get", {"name": "greet"}),
        ("prompts/get", {"name": "greet", "arguments": {"name": 7}}),
        ("resources/read", {}),
        ("resources/read", {"uri": 7}),
        ("tools/call", {}),
        ("tools/call", {"name": 7}),
    ):
        assert session.ask(method, params)["error"]["code"] == -32602, (method, params)


def test_2025_11_25_metadata_with_the_reserved_prefix_is_no_envelope(session: Peer):
    meta = {f"{KEY}related-task": {"taskId": "t"}}
    result = session.ask("tools/call", {"name": "slow", "_meta": meta})["result"]
    assert "resultType" not in result


def test_an_initialize_with_an_envelope_stamped_on_is_a_handshake(peer: Peer):
    message = initialize("2025-06-18", 1)
    message["params"]["_meta"] = envelope()
    peer.send(message, note("notifications/initialized"))
    assert peer.answer(1)["result"]["protocolVersion"] == "2025-06-18"
