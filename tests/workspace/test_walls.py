"""Nothing of one owner's repository shows in another's, even where both have the same name."""

from __future__ import annotations

import json

import pytest

from tests.workspace.conftest import Refused

CANARY = "CANARY-7F39"
READS = (
    ("memory-read", {}),
    ("memory-read", {"query": CANARY}),
    ("memory-read", {"query": ""}),
    ("memory-read", {"query": "entity:Canary"}),
    ("memory-read", {"query": "tag:canary"}),
    ("memory-read", {"codes": ["MEM-001"]}),
    ("task-read", {"status": "all"}),
    ("task-read", {"query": CANARY}),
    ("task-read", {"issue_ref": "544"}),
    ("handoff-read", {}),
    ("handoff-read", {"query": CANARY}),
    ("handoff-read", {"claim": True, "active_only": False}),
    ("claim-manage", {"active_only": False}),
    ("standard-read", {}),
    ("standard-read", {"query": CANARY}),
    ("agent-context", {}),
    ("agent-context", {"query": CANARY}),
    ("synthesize", {"objective": f"What is {CANARY}?"}),
)


@pytest.fixture
def walled(tools):
    tools.remember("Key of Canary", f"The key of Canary is {CANARY}.", tags=["canary"])
    tools.task(f"Rotate {CANARY}", description=f"Rotate {CANARY}, see #544")
    tools.call("claim-manage", task_code="TASK-001", agent=f"agent-{CANARY}")
    tools.call("handoff-write", from_agent="a", to_agent="b", summary=f"About {CANARY}")
    tools.call(
        "standard-write",
        name=f"Rule {CANARY}",
        content=f"Never print {CANARY} anywhere.",
        tags=["canary"],
        metadata={"a": 1},
    )
    tools.call("repo-summarize", signals=[f"Guards {CANARY}"])
    return tools


@pytest.mark.parametrize(("tool", "arguments"), READS)
@pytest.mark.parametrize("place", [{"owner": "globex"}, {"repo": "globex/harbor"}, {"repo": "x"}])
def test_no_read_of_another_owner_shows_a_byte(walled, tool, arguments, place):
    result = walled.result(tool, **arguments, **place)
    asked = json.dumps(arguments)
    shown = json.dumps(result).replace(asked[1:-1], "")
    for needle in (
        (CANARY, "Canary") if CANARY not in asked else ("Key of Canary", "Rotate", "Rule")
    ):
        assert needle not in shown.replace("entity:Canary", "")


@pytest.mark.parametrize(
    ("tool", "handle"),
    [("memory-read", "id"), ("task-read", "id"), ("standard-read", "id"), ("handoff-read", "id")],
)
def test_an_id_of_another_repository_looks_as_if_it_did_not_exist(walled, tool, handle):
    rows = {
        "memory-read": lambda: walled.rows("memory-read", "top"),
        "task-read": lambda: walled.rows("task-read", "tasks"),
        "standard-read": lambda: walled.rows("standard-read", "standards"),
        "handoff-read": lambda: walled.rows("handoff-read", "handoffs"),
    }[tool]()
    with pytest.raises(Refused) as theirs:
        walled.call(tool, owner="globex", **{handle: rows[0]["id"]})
    with pytest.raises(Refused) as nobodys:
        walled.call(tool, owner="globex", **{handle: "00000000-0000-7000-8000-000000000000"})
    assert theirs.value.code == nobodys.value.code == "not_found"
    assert theirs.value.message.replace(rows[0]["id"], "") == nobodys.value.message.replace(
        "00000000-0000-7000-8000-000000000000", ""
    )


def test_no_write_of_another_owner_reaches_across(walled):
    for tool, arguments in (
        ("memory-write", {"id": "MEM-001", "title": "Taken"}),
        ("memory-delete", {"id": "MEM-001"}),
        ("task-write", {"code": "TASK-001", "title": "Taken"}),
        ("task-delete", {"code": "TASK-001"}),
        ("claim-manage", {"task_code": "TASK-001", "release": True, "force": True}),
        ("standard-write", {"id": "STD-001", "name": "Taken"}),
        ("standard-delete", {"id": "STD-001"}),
    ):
        with pytest.raises(Refused) as refused:
            walled.call(tool, owner="globex", **arguments)
        assert refused.value.code == "not_found"
    assert walled.call("memory-read")["total"] == 1
    assert walled.call("task-read", code="TASK-001")["title"] == f"Rotate {CANARY}"


def test_global_entries_and_tags_in_use_cross_repositories_by_design(walled):
    walled.remember("For all", "Everybody uses tabs in makefiles.", is_global=True)
    rows = walled.rows("memory-read", query="tabs in makefiles", owner="globex")
    assert [row["title"] for row in rows] == ["For all"]
    tagged = walled.rows("memory-read", query="key", owner="globex", current_tags=["canary"])
    assert [row["title"] for row in tagged] == ["Key of Canary"]


def test_a_bare_name_that_several_owners_use_is_not_guessed(tools):
    for owner in ("acme", "globex"):
        tools.remember(f"Of {owner}", f"This is what {owner} knows.", owner=owner, repo="widgets")
    with pytest.raises(Refused) as refused:
        tools.call("memory-read", owner=..., repo="widgets")
    assert refused.value.details["candidates"] == ["acme/widgets", "globex/widgets"]
    answer = tools.call("memory-read", owner="acme", repo="globex/widgets")
    assert answer["scope"]["owner"] == "globex"
