"""What hosts and budgets demand of the served contracts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from jsonschema import Draft202012Validator

from memrpc.archive.tokens import O200K, encoding
from memrpc.server import schema_files
from memrpc.server.contracts import Contract, load_contract
from tests.workspace.conftest import Tools, modes_of

NAMES = schema_files.names("tools", "workspace")
COMBINATORS = {"anyOf", "oneOf", "allOf", "not", "if", "$ref"}
ALL_TOKENS, CORE_TOKENS, CODEBASE_RESERVE = 5_000, 1_500, 500
MAX_DESCRIPTION = 2_000


def subschemas(schema: dict, path: str = "") -> Iterator[tuple[str, dict]]:
    yield path, schema
    for name, item in schema.get("properties", {}).items():
        yield from subschemas(item, f"{path}/{name}")
    if isinstance(schema.get("items"), dict):
        yield from subschemas(schema["items"], f"{path}[]")


def served(contract: Contract) -> list[dict]:
    entry = contract.listing()
    return [entry["inputSchema"], entry["outputSchema"]]


@pytest.mark.parametrize("name", NAMES)
def test_b76_b77_each_served_schema_passes_the_rules_of_every_host(name):
    for root in served(load_contract("workspace", name)):
        assert root["type"] == "object"
        assert not COMBINATORS & root.keys()
        assert set(root.get("required", ())) <= root["properties"].keys()
        for path, schema in subschemas(root):
            assert "$ref" not in schema, path
            assert not isinstance(schema.get("type"), list), path
            assert schema.get("type") != "array" or "items" in schema, path
            assert schema.get("type") != "object" or "properties" in schema, path
        for path, schema in subschemas(root):
            described = [each.get("description") for each in schema.get("properties", {}).values()]
            assert all(described), path
            assert all(len(key) <= 64 for key in schema.get("properties", {})), path


@pytest.mark.parametrize("name", NAMES)
def test_each_mode_is_strict_and_the_served_output_holds_them_all(name):
    served_properties = load_contract("workspace", name).output.text["properties"]
    for mode, schema in modes_of(name).items():
        assert schema["additionalProperties"] is False, mode
        assert schema["properties"].keys() <= served_properties.keys(), mode
        assert set(schema["required"]) <= schema["properties"].keys(), mode
        Draft202012Validator.check_schema(schema)


@pytest.mark.parametrize("name", NAMES)
def test_b75_names_and_descriptions_fit_every_host(name):
    contract = load_contract("workspace", name)
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name)
    assert len(contract.description) <= MAX_DESCRIPTION
    assert contract.title


def test_b75_no_two_names_of_a_toolset_are_equal_once_a_host_rewrites_them(database):
    for toolset in ("core", "work", "all"):
        tools = Tools(database, toolset=toolset)
        names = list(tools.service.tools)
        tools.close()
        assert len({re.sub(r"[-.]", "_", name) for name in names}) == len(names)


def cost(tools: Tools, keys: tuple[str, ...] | None = None) -> int:
    entries = [tool.contract.listing() for tool in tools.service.tools.values()]
    shown = [entry if keys is None else {key: entry[key] for key in keys} for entry in entries]
    text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    return len(encoding(O200K).encode_ordinary(text))


def test_b82_the_tools_of_a_toolset_fit_their_budget(database):
    listed = ("name", "description", "inputSchema")
    for toolset, budget in (("core", CORE_TOKENS), ("all", ALL_TOKENS)):
        tools = Tools(database, toolset=toolset)
        has_codebase = "codebase-read" in tools.service.tools
        reserve = CODEBASE_RESERVE if toolset == "all" and not has_codebase else 0
        tokens, whole = cost(tools, listed), cost(tools)
        tools.close()
        print(f"{toolset}: {tokens} tokens, {whole} with output schemas")  # noqa: T201 -- the issue asks for it
        assert tokens + reserve <= budget, toolset


@pytest.mark.parametrize("name", NAMES)
def test_another_spelling_of_a_parameter_is_understood_and_not_listed(name):
    contract = load_contract("workspace", name)
    listed = contract.listing()["inputSchema"]["properties"]
    assert contract.unlisted <= contract.input.text["properties"].keys()
    assert not contract.unlisted & listed.keys()
    assert "owner" in contract.unlisted


@pytest.mark.parametrize("name", NAMES)
def test_a_tool_says_whether_it_destroys_and_whom_it_asks(name):
    """What is left out a host reads as destructive and as open to the world."""
    hints = schema_files.read("tools", "workspace", f"{name}.json")["x-memrpc"]["annotations"]
    assert hints["openWorldHint"] is (name == "synthesize")
    destroys = hints.get("destructiveHint", not hints.get("readOnlyHint"))
    assert destroys is name.endswith("-delete")
