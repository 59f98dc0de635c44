"""The seven schema files against the domain and against what hosts accept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest

from memrpc.archive import checkpoints, reading, resuming, rules, tokens
from memrpc.archive.answers import CheckpointState
from memrpc.archive.checkpoints import CheckpointInput
from memrpc.archive.model import (
    Category,
    Cue,
    CueKind,
    Detail,
    EmptyReason,
    Method,
    Role,
    Scope,
    SearchMode,
)
from memrpc.archive.reading import ReadInput
from memrpc.archive.resuming import ResumeInput
from memrpc.surface.instructions import ARCHIVE
from memrpc.surface.shapes import to_json
from tests.archive.scenes import NOW, Archive

FOLDER = Path(__file__).parents[2] / "schemas" / "tools" / "archive"
FILES = {path.stem: json.loads(path.read_text("utf-8")) for path in FOLDER.glob("*.json")}
TOOLS = [
    "memory_correct",
    "memory_forget",
    "memory_read",
    "memory_recall",
    "memory_record",
    "session_checkpoint",
    "session_resume",
]


def validate(name: str, part: str, value: object) -> None:
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    schema = FILES[name]["$defs"][part]
    jsonschema.Draft202012Validator(schema, format_checker=checker).validate(value)


def nodes(schema: dict) -> Iterator[dict]:
    yield schema
    for child in (*schema.get("properties", {}).values(), *schema.get("anyOf", ())):
        yield from nodes(child)
    if "items" in schema:
        yield from nodes(schema["items"])


def test_each_tool_has_its_file() -> None:
    assert sorted(FILES) == TOOLS


@pytest.mark.parametrize("name", TOOLS)
def test_a_file_is_a_whole_contract(name: str) -> None:
    file = FILES[name]
    assert file["$id"] == f"memrpc:/tools/{name}"
    assert len(file["description"]) <= 2_000
    assert file["x-memrpc"]["toolset"] == "core"
    assert set(file["x-memrpc"]["annotations"]) == {
        "readOnlyHint",
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
    }
    for part in ("input", "output"):
        jsonschema.Draft202012Validator.check_schema(file["$defs"][part])


@pytest.mark.parametrize("name", TOOLS)
def test_b76_an_input_has_no_root_combinator_and_no_reference(name: str) -> None:
    schema = FILES[name]["$defs"]["input"]
    assert schema["type"] == "object"
    assert set(schema) == {"type", "properties", "required"}
    assert "$ref" not in json.dumps(FILES[name]["$defs"])


@pytest.mark.parametrize("part", ["input", "output"])
@pytest.mark.parametrize("name", TOOLS)
def test_b77_every_property_is_described_and_every_array_has_items(name: str, part: str) -> None:
    for node in nodes(FILES[name]["$defs"][part]):
        assert not isinstance(node.get("type"), list)
        assert node.get("type") != "array" or node["items"]["type"]
        assert node.get("type") != "object" or node["properties"]
        assert set(node.get("required", ())) <= set(node.get("properties", {}))
        assert all(child.get("description") for child in node.get("properties", {}).values())
        assert node.get("type") != "object" or part == "input" or not node["additionalProperties"]


@pytest.mark.parametrize("name", TOOLS)
def test_each_example_is_valid(name: str) -> None:
    examples = FILES[name]["x-memrpc"]["examples"]
    assert examples
    for example in examples:
        validate(name, "input", example["input"])
        validate(name, "output", example["output"])


def test_b82_the_seven_tools_take_at_most_1500_tokens() -> None:
    listed = [
        {
            "name": name,
            "description": FILES[name]["description"],
            "inputSchema": FILES[name]["$defs"]["input"],
        }
        for name in TOOLS
    ]
    text = json.dumps(listed, separators=(",", ":"), ensure_ascii=False)
    assert tokens.counters_for("gpt-4o")[0].count(text) <= 1_500


def test_the_instructions_fit_every_host() -> None:
    assert len(ARCHIVE) <= 2_000
    assert all(name in ARCHIVE for name in TOOLS)


def properties(name: str) -> dict:
    return FILES[name]["$defs"]["input"]["properties"]


def test_the_closed_sets_are_the_domains() -> None:
    record, recall = properties("memory_record"), properties("memory_recall")
    assert record["role"]["enum"] == list(Role)
    assert record["category"]["enum"] == list(Category)
    assert record["cues"]["items"]["properties"]["kind"]["enum"] == list(CueKind)
    assert recall["detail"]["enum"] == list(Detail)
    assert recall["search_mode"]["enum"] == list(SearchMode)
    output = FILES["memory_recall"]["$defs"]["output"]["properties"]
    assert output["reason"]["enum"] == list(EmptyReason)


def test_the_limits_are_the_domains() -> None:
    recall, read = properties("memory_recall"), properties("memory_read")
    assert (recall["limit"]["minimum"], recall["limit"]["maximum"]) == (1, rules.MAX_RECALL)
    assert read["max_chars"]["maximum"] == rules.MAX_PAGE_CHARS
    assert properties("session_resume")["token_budget"]["maximum"] == rules.MAX_BUDGET_TOKENS
    assert properties("session_resume")["token_budget"]["default"] == 4_096
    assert all(properties(name)["project_id"]["default"] == "default" for name in TOOLS)


def test_b79_every_answer_is_what_its_output_schema_says(archive: Archive) -> None:
    cues = (Cue(CueKind.PHOTO, "p", "label"), Cue(CueKind.TEXT, "t"))
    receipt = archive.record("e1", "User likes dogs. Yesterday he slept. Is it so?", cues=cues)
    validate("memory_record", "output", to_json(receipt))
    pending = archive.commit("e2", "User likes tea. " * 300, method=Method.NONE)
    validate("memory_record", "output", to_json(pending))
    request = CheckpointInput(CheckpointState("goal", ("a",)), "e2")
    saved = checkpoints.save(archive.db, request, now=NOW, new_id=archive.new_id)
    validate("session_checkpoint", "output", to_json(saved))
    for budget in (0, 200, 4_096):
        answer = resuming.resume(
            archive.db,
            ResumeInput("dogs", token_budget=budget),
            now=NOW,
            counters=tokens.counters_for(None),
        )
        validate("session_resume", "output", to_json(answer))
    correction = archive.correct(receipt.memory_ids[0], "User likes cats.")
    validate("memory_correct", "output", to_json(correction))
    for fields in (
        {},
        {"include_history": True},
        {"limit": 1},
        {"scope": Scope("no", "one")},
        {"search_mode": SearchMode.DEEP},
        {"detail": Detail.GIST},
    ):
        for query in ("user likes", "dogs", "phenibut"):
            validate("memory_recall", "output", to_json(archive.recall(query, **fields)))
    for record_id in ("e1", "e2", *receipt.memory_ids, correction.correction_event_id):
        answer = reading.read(archive.db, ReadInput(record_id, max_chars=20))
        validate("memory_read", "output", to_json(answer))
    validate("memory_forget", "output", to_json(archive.forget("e1")))
