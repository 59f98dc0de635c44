"""What fails in memory servers today, tried on the workspace's tools."""

from __future__ import annotations

import json

import pytest

from tests.workspace.conftest import MINUTE, Refused

HITS = {
    "Rust is memory safe": ["memory:safe", "foo AND bar memory", "(rust", "rust)", "^rust"],
    "Run pre-edit-check before OC-41252 with gpt-4o": ["pre-edit", "OC-41252", "gpt-4o"],
    "Ubuntu 20.04 reaches 3 GB/s when a=b": ["ubuntu 20.04", "GB/s", "a=b"],
    "用户服务器部署在腾讯云国内节点": ["腾讯云", "服务器", "国内节点", "用户服"],
    "오늘 끝말잇기 게임을 했다고 적어 둔다": ["끝말잇기"],
    "今日は成語しりとりをしたと書いておく": ["しりとり"],
    "เราใช้ฐานข้อมูลที่กรุงเทพ": ["ฐานข้อมูล"],
}
SYNTAX = ['say "hi', "NEAR(", "*", '"', "'", "C++", "what's this?", "a" * 9_000, "a " * 5_000]


@pytest.mark.parametrize("content", HITS)
def test_b01_b02_b03_b06_b09_words_of_any_script_find_their_entry(tools, content):
    tools.remember("A fact to find", content)
    for query in HITS[content]:
        rows = tools.rows("memory-read", query=query)
        assert [row["title"] for row in rows] == ["A fact to find"], query


@pytest.mark.parametrize("query", SYNTAX)
def test_b01_no_query_text_reaches_fts5_as_syntax(tools, query):
    tools.remember("Rust", "Rust is memory safe by design.")
    tools.task("Learn Rust")
    for tool in ("memory-read", "task-read", "standard-read"):
        assert not tools.result(tool, query=query)["isError"]
    assert not tools.result("agent-context", query=query)["isError"]


def test_b05_an_empty_query_lists_the_newest_entries(tools):
    tools.remember("Older", "The older of two facts.")
    tools.remember("Newer", "Something else that came later.")
    for query in ("", "   "):
        rows = tools.rows("memory-read", query=query)
        assert [row["title"] for row in rows] == ["Newer", "Older"]


def test_b11_tags_are_compared_literally(tools):
    for number, tag in enumerate(["100%", "1000", "file_name", "fileXname", "my_tag"]):
        topic = ["pigeons", "harbours", "violins", "glaciers", "spoons"][number]
        tools.remember(f"Entry {tag}", f"Something about {topic} here.", tags=[tag])
    for tag in ("100%", "file_name", "my_tag"):
        rows = tools.rows("memory-read", query=f"tag:{tag}")
        assert [row["title"] for row in rows] == [f"Entry {tag}"]


def test_b13_what_is_not_known_is_answered_with_nothing_and_a_reason(tools):
    for word in ("alpha", "bravo", "charlie", "delta", "echo"):
        tools.remember(f"The {word} fact", f"{word} stands for something {word}-like.")
    answer = tools.call("memory-read", query="PHRASE_NOT_THERE_QQQQ phenibut")
    assert answer["rows"] == []
    assert answer["reason"] == "no_match"


@pytest.mark.parametrize(
    ("limit", "is_right"),
    [
        (0, False),
        (-1, False),
        (1, True),
        (100, True),
        (101, False),
        (2.5, False),
        ("10", True),
        (None, True),
    ],
)
def test_b18_a_limit_is_1_to_100_and_else_refused_with_its_range(tools, limit, is_right):
    for tool in ("memory-read", "task-read", "standard-read", "handoff-read", "claim-manage"):
        result = tools.result(tool, limit=limit)
        assert result["isError"] is not is_right, (tool, limit)


@pytest.mark.parametrize("offset", [-1, 1_000_001])
def test_b18_an_offset_out_of_range_is_refused(tools, offset):
    with pytest.raises(Refused, match="offset"):
        tools.call("memory-read", offset=offset)


@pytest.mark.parametrize("tool", ["memory-delete", "task-delete", "standard-delete"])
@pytest.mark.parametrize("arguments", [{}, {"ids": []}, {"code": ""}, {"ids": ["  "]}])
def test_b37_deleting_nothing_in_particular_deletes_nothing(tools, tool, arguments):
    tools.remember("Kept", "This entry has to stay.")
    tools.task("Kept as well")
    with pytest.raises(Refused) as refused:
        tools.call(tool, **arguments)
    assert refused.value.code == "invalid_arguments"
    assert tools.call("memory-read")["total"] == 1
    assert tools.call("task-read")["total"] == 1


@pytest.mark.parametrize(
    ("field", "value"), [("title", ""), ("title", "   "), ("content", ""), ("content", "9 letters")]
)
def test_b48_blank_texts_are_refused_and_nothing_is_written(tools, field, value):
    given = {"title": "A title", "content": "Long enough a content.", field: value}
    with pytest.raises(Refused, match=field):
        tools.call("memory-write", type="code_fact", importance=3, **given)
    assert tools.call("memory-read")["total"] == 0


def test_b55_a_link_to_what_is_not_there_fails_by_index_and_the_rest_is_stored(tools):
    items = [
        {"phase": "p", "title": "A good one", "description": "x", "code": "T-1"},
        {"phase": "p", "title": "Dangling", "description": "x", "depends_on": "T-404"},
        {"phase": "p", "title": "Refers", "description": "x", "decision_refs": ["MEM-404"]},
        {"phase": "p", "title": "A child", "description": "x", "parent_id": "T-1"},
    ]
    answer = tools.call("task-write", tasks=items)
    assert [each["index"] for each in answer["failed"]] == [1, 2]
    assert {each["code"] for each in answer["failed"]} == {"not_found"}
    assert [row["title"] for row in tools.rows("task-read", "tasks")] == ["A good one", "A child"]


def test_b56_opening_one_node_shows_a_relation_to_a_node_that_was_not_asked_for(tools):
    first = tools.task("First")
    second = tools.task("Second", depends_on=first["code"])
    link = {"from": second["code"], "to": first["code"], "type": "depends_on"}
    for code in (first["code"], second["code"]):
        assert link in tools.call("task-read", code=code)["kg"]["relations"]


def test_b78_arguments_arrive_as_hosts_write_them(tools):
    answer = tools.call(
        "memory-write",
        type="code_fact",
        title="Lenient",
        content="Arrays and numbers may come as text.",
        importance="4",
        tags='["a","b"]',
        metadata='{"x": 1}',
        is_global="false",
        wait_for_previous=True,
    )
    memory = tools.call("memory-read", id=answer["id"])["memory"]
    assert (memory["importance"], memory["tags"], memory["metadata"]) == (4, ["a", "b"], {"x": 1})
    refused = tools.result("memory-write", title="T", tags=7)
    assert "tags must be an array" in refused["content"][0]["text"]


def test_b79_json_true_gives_the_same_json_as_text(tools):
    tools.remember("Seen twice", "Both forms of the answer are the same.")
    result = tools.result("memory-read", query="seen", json=True)
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


def fill(tools, count: int) -> None:
    words = ("pigeon", "harbour", "violin", "glacier", "spoon", "lantern", "meadow")
    for start in range(0, count, 100):
        numbers = range(start, min(start + 100, count))
        items = [
            {
                "type": "code_fact",
                "title": f"Fact {n} " + "t" * 200,
                "content": f"n{n} {words[n % 7]} m{n * 7} " + f"w{n} " * 900,
                "importance": 1 + n % 5,
            }
            for n in numbers
        ]
        tools.call("memory-write", memories=items)


def test_b80_answers_stay_under_8000_characters_and_lead_on(tools):
    fill(tools, 200)
    for arguments in ({}, {"query": "pigeon"}, {"query": ""}):
        result = tools.result("memory-read", limit=100, **arguments)
        structured, text = result["structuredContent"], result["content"][0]["text"]
        assert len(text) <= 8_000
        assert len(json.dumps(structured, separators=(",", ":"), ensure_ascii=False)) <= 8_000
        assert structured["next_offset"] == structured["count"] > 5


def test_b80_paging_reaches_each_entry_once(tools):
    fill(tools, 60)
    seen, offset = [], 0
    while offset is not None:
        answer = tools.call("memory-read", limit=50, offset=offset)
        seen += [row[0] for row in answer["top"]["rows"]]
        offset = answer.get("next_offset")
    assert len(seen) == len(set(seen)) == 60


def test_b80_a_long_entry_is_read_page_by_page(tools):
    content = "".join(f"{n:05}…" for n in range(5_000))
    answer = tools.remember("Long", content)
    parts, offset = [], 0
    while offset is not None:
        page = tools.call("memory-read", id=answer["code"], offset=offset)
        parts.append(page["memory"]["content"])
        offset = page.get("next_offset")
    assert "".join(parts) == content
    assert len(parts) > 1


def test_b82_the_list_of_tools_is_the_same_each_time(tools):
    names = [name for name, tool in tools.service.tools.items() if tool]
    assert names == list(tools.application.service().tools)


def test_b88_an_unknown_repository_names_similar_ones(tools):
    tools.remember("Here", "Something is stored in this one.")
    answer = tools.call("memory-read", query="stored", repo="Harbor-2")
    assert answer["reason"] == "scope_empty"
    assert answer["near_repos"] == ["acme/harbor"]
    assert tools.call("memory-read", repo=" HARBOR ")["total"] == 1


def test_b94_a_dead_holder_cannot_finish_what_another_has_taken_over(tools, other):
    task = tools.task("Contended")["code"]
    late = tools.call("claim-manage", task_code=task, agent="ann")
    with pytest.raises(Refused) as refused:
        other.call("claim-manage", task_code=task, agent="ann")
    assert refused.value.details["holder"] == "ann"
    assert refused.value.details["expires_at"] == late["expires_at"]
    tools.ahead_us = other.ahead_us = 31 * MINUTE
    taken = other.call("claim-manage", task_code=task, agent="bob")
    finish = {"code": task, "status": "completed", "comment": "done"}
    with pytest.raises(Refused, match="stale") as refused:
        tools.call("task-write", agent="ann", claim_token=late["claim_token"], **finish)
    assert refused.value.details["holder"] == "bob"
    with pytest.raises(Refused, match="claimed by bob"):
        tools.call("task-write", agent="ann", **finish)
    done = other.call("task-write", agent="bob", claim_token=taken["claim_token"], **finish)
    assert done["coordinationCleanup"]["releasedClaims"] == 1


def test_a_token_is_stale_once_its_lease_is_over_though_nobody_has_taken_over(tools):
    task = tools.task("Left alone")["code"]
    held = tools.call("claim-manage", task_code=task, agent="ann")
    tools.ahead_us = 31 * MINUTE
    late = {"code": task, "agent": "ann", "claim_token": held["claim_token"], "comment": "late"}
    with pytest.raises(Refused, match="stale") as refused:
        tools.call("task-write", **late)
    assert "holder" not in refused.value.details
    renewed = tools.call(
        "claim-manage", task_code=task, agent="ann", claim_token=late["claim_token"]
    )
    assert renewed["claim_token"] == late["claim_token"]
    assert tools.call("task-write", **late)["success"]
