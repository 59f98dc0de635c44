"""Every field of every tool, wrong in each way: refused by name, and nothing written."""

from __future__ import annotations

import pytest

from memrpc.server import schema_files
from memrpc.server.contracts import load_contract
from tests.surface.conftest import Refused

GOOD = {
    "memory_record": {"event_id": "new", "text": "t", "role": "user", "source": "s"},
    "memory_recall": {"query": "anything"},
    "memory_read": {"record_id": "kept"},
    "memory_forget": {"record_id": "kept"},
    "memory_correct": {"memory_id": "kept", "content": "c", "reason": "r"},
    "session_checkpoint": {"state": {"goal": "g"}, "covered_event_id": "kept"},
    "session_resume": {},
}
REFUSALS = {"invalid_arguments", "limit_exceeded", "not_found"}


def wrong_values(schema: dict) -> list:
    """Values that break one rule of a property each."""
    wrong: list = [[1, {"x": 2}]] if schema["type"] != "array" else [7]
    if "enum" in schema:
        wrong.append("no such member")
    if schema.get("format") == "date-time":
        wrong += ["yesterday", "2026-05-20T08:29:42", "2026-13-01T00:00:00Z"]
    if "minimum" in schema:
        wrong += [schema["minimum"] - 1, "many"]
    if "maximum" in schema:
        wrong += [schema["maximum"] + 1, 2.5]
    if "maxItems" in schema:
        wrong.append([{"kind": "text", "key": "k"}] * (schema["maxItems"] + 1))
    return wrong


def cases():
    for name in schema_files.names("tools", "archive"):
        schema = load_contract("archive", name).input.text
        for field in schema["required"]:
            yield pytest.param(name, field, None, id=f"{name}-{field}-missing")
        for field, rules in schema["properties"].items():
            for value in wrong_values(rules):
                yield pytest.param(name, field, value, id=f"{name}-{field}-{str(value)[:24]}")


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One server for all of them: what one bad call broke, the next would show."""
    from tests.peer import Peer
    from tests.surface.conftest import Served, command

    path = tmp_path_factory.mktemp("bad") / "memory.db"
    with Peer(command(path, "--toolset", "core")) as peer:
        peer.handshake()
        served = Served(peer)
        kept = served.record("The kettle is blue.", event_id="kept")
        GOOD["memory_correct"]["memory_id"] = kept["memory_ids"][0]
        yield served


@pytest.mark.parametrize(("tool", "field", "value"), cases())
def test_a_wrong_argument_is_named_and_nothing_is_written(shared, tool, field, value):
    before = shared.call("memory_recall", query="kettle")["coverage"]
    arguments = {**GOOD[tool], field: value}
    with pytest.raises(Refused) as caught:
        shared.call(tool, **arguments)
    assert caught.value.code in REFUSALS
    assert field in caught.value.message
    assert shared.call("memory_recall", query="kettle")["coverage"] == before


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("memory_record", {**GOOD["memory_record"], "text": ""}, "invalid_arguments"),
        ("memory_record", {**GOOD["memory_record"], "text": "x" * 200_001}, "limit_exceeded"),
        ("memory_record", {**GOOD["memory_record"], "source": "  "}, "invalid_arguments"),
        ("memory_recall", {"query": "   "}, "invalid_arguments"),
        ("memory_correct", {"memory_id": "nope", "content": "c", "reason": "r"}, "not_found"),
        (
            "memory_correct",
            {"memory_id": "m", "content": "x" * 4_001, "reason": "r"},
            "limit_exceeded",
        ),
        ("session_checkpoint", {"state": {}, "covered_event_id": "kept"}, "invalid_arguments"),
        ("session_checkpoint", {"state": {"goal": "g"}, "covered_event_id": "no"}, "not_found"),
        ("memory_forget", {"record_id": ""}, "not_found"),
    ],
)
def test_a_refusal_has_its_code(shared, tool, arguments, code):
    with pytest.raises(Refused) as caught:
        shared.call(tool, **arguments)
    assert caught.value.code == code


def test_b78_arguments_are_read_the_way_hosts_write_them(shared):
    found = shared.call(
        "memory_recall", query="kettle", limit="5", include_history="true", wait_for_previous=True
    )
    assert [m["content"] for m in found["memories"]] == ["The kettle is blue."]
    state = '{"goal": "tea", "completed": "[\\"boiled\\"]"}'
    saved = shared.call("session_checkpoint", state=state, covered_event_id="kept")
    assert saved["state"]["completed"] == ["boiled"]


def test_b51_the_longest_text_is_kept_whole(shared):
    text = "日本語のテキスト。" * 22_223
    receipt = shared.record(text[:200_000], event_id="long")
    page = shared.call("memory_read", record_id="long", offset=199_990, max_chars=20_000)
    assert receipt["duplicate"] is False
    assert page["source_page"] == {
        "text": text[199_990:200_000],
        "offset": 199_990,
        "next_offset": None,
        "total_chars": 200_000,
    }
