"""What a caller reads: plain wording, a next step in each refusal, text and JSON in one order."""

from __future__ import annotations

import json

import pytest

from tests.workspace.conftest import DAY, Refused, Tools

FACT = "The harbour closes its gates at ten in the evening."


@pytest.mark.parametrize(
    ("tool", "field"),
    [("memory-write", "memories"), ("standard-write", "standards")],
)
def test_an_empty_bulk_call_names_its_own_list(tools: Tools, tool, field):
    with pytest.raises(Refused, match=f"{field} takes 1 to 500 items") as refused:
        tools.call(tool, **{field: []})
    assert refused.value.details == {"field": field}


def test_an_item_that_is_no_object_fails_alone(tools: Tools):
    entry = {"type": "code_fact", "title": "Gates", "content": FACT, "importance": 3}
    written = tools.call("memory-write", memories=[7, entry, None, "x"])
    assert [each["index"] for each in written["results"]] == [1]
    assert [each["index"] for each in written["failed"]] == [0, 2, 3]
    task = {"phase": "p", "title": "Work", "description": "Do it."}
    assert tools.call("task-write", tasks=[[], task])["createdCount"] == 1


@pytest.mark.parametrize(
    ("tool", "code"),
    [("memory-delete", "MEM-001"), ("task-delete", "TASK-001"), ("standard-delete", "STD-001")],
)
def test_naming_nothing_is_answered_with_a_code_of_the_same_kind(tools: Tools, tool, code):
    with pytest.raises(Refused, match=code):
        tools.call(tool)


def test_more_handles_than_a_call_may_name_are_refused_with_the_limit(tools: Tools):
    with pytest.raises(Refused, match="at most 500"):
        tools.call("memory-read", ids=[f"MEM-{n}" for n in range(501)])


def test_one_thing_is_named_in_the_singular(tools: Tools):
    tools.remember("Gates", FACT)
    assert "### Results: 1 memory for" in tools.text("memory-read", query="harbour")
    tools.task("Work")
    tools.call("claim-manage", task_code="TASK-001")
    assert tools.text("claim-manage").startswith('1 claim in "harbor"')
    deleted = tools.result("memory-delete", id="MEM-001")["content"][0]["text"]
    assert deleted.startswith('Deleted 1 memory from "harbor": MEM-001.')


def test_a_recap_says_what_it_leaves_out(tools: Tools):
    assert "Nothing is stored here yet." in tools.text("memory-read")
    tools.remember("Done", "Wrote the harbour's handbook in one go.", type="task_archive")
    tools.remember("Gates", FACT)
    tools.call("memory-delete", id="MEM-002")
    text = tools.text("memory-read")
    assert "Nothing is stored" not in text
    assert "Not listed: task_archive: 1, archived: 1; query and include_archived finds" in text


def test_what_one_repository_knows_for_all_stands_in_the_recap_of_each(tools: Tools):
    tools.remember("Older", "The older of our two facts, on ropes.", importance=2)
    tools.remember("Ours", FACT, importance=2)
    for number in range(3):
        tools.call(
            "memory-write",
            repo="globex/depot",
            type="decision",
            title=f"For all {number}",
            content=f"Everybody signs commits, rule {number * 7919}.",
            importance=(5, 3, 1)[number],
            is_global=True,
        )
    listed = [
        row["title"]
        for offset in range(6)
        for row in tools.rows("memory-read", "top", limit=1, offset=offset)
    ]
    assert listed == ["For all 0", "For all 1", "Ours", "Older", "For all 2"]
    assert tools.call("memory-read")["total"] == 5
    decisions = tools.call("agent-context")["decisions"]
    assert [each["title"] for each in decisions] == ["For all 0", "For all 1", "For all 2"]


def test_a_hit_of_another_repository_says_whose_it_is_and_how_to_open_it(tools: Tools):
    entry = tools.call(
        "memory-write",
        repo="globex/depot",
        type="code_fact",
        title="Vault",
        content="The quokka keeps the keys of the vault.",
        importance=3,
        tags=["keys"],
    )
    tools.remember("Ours", FACT)
    found = tools.call("memory-read", query="quokka", current_tags=["keys"])
    opened = {"id": entry["id"], "code": "MEM-001", "repo": "globex/depot"}
    assert found["elsewhere"] == [opened]
    text = tools.text("memory-read", query="quokka", current_tags=["keys"])
    assert f'memory-read id:"{entry["id"]}" repo:"globex/depot"' in text
    shown = tools.call("memory-read", id=entry["id"], repo="globex/depot")
    assert shown["memory"]["title"] == "Vault"


def test_several_tasks_or_standards_name_what_was_not_found(tools: Tools):
    tools.task("Work")
    assert tools.call("task-read", codes=["TASK-001", "TASK-9"])["missing"] == ["TASK-9"]
    tools.call("standard-write", name="Rule", content=FACT, tags=["a"], metadata={"by": "x"})
    assert tools.call("standard-read", codes=["STD-001", "STD-9"])["missing"] == ["STD-9"]
    assert "Not found: STD-9." in tools.text("standard-read", codes=["STD-001", "STD-9"])


def test_a_page_past_the_end_does_not_say_that_nothing_is_known(tools: Tools):
    tools.remember("Gates", FACT)
    assert "No more memories" in tools.text("memory-read", query="harbour", offset=5)
    assert "No memories found" in tools.text("memory-read", query="zzz")


@pytest.mark.parametrize(
    ("tool", "arguments", "why"),
    [
        ("task-read", {"issue_ref": "9" * 40}, "is no issue"),
        ("task-write", {"code": "TASK-001", "est_tokens": 10**30}, "est_tokens must be at most"),
        ("task-write", {"code": "TASK-001", "doc_path": "x" * 501}, "doc_path has 501"),
        ("memory-write", {"id": "MEM-001", "role": "x" * 501}, "role has 501"),
        ("standard-write", {"code": "STD-001", "version": "x" * 501}, "version has 501"),
        ("claim-manage", {"task_code": "TASK-001", "role": "x" * 501}, "role has 501"),
        ("claim-manage", {"release": True}, "send task_id or task_code"),
        ("synthesize", {"objective": "Why"}, "objective must have at least 5"),
        ("standard-read", {"tags": list("ab" * 51)}, "tags has 102 items and the limit is 100"),
        ("memory-read", {"query": "x", "current_tags": ["a"] * 101}, "current_tags has 101 items"),
        ("memory-write", {"id": "MEM-001", "completed_at": "2026-05-20T08:29:42"}, "no time zone"),
    ],
)
def test_a_value_out_of_bounds_is_refused_with_its_field(tools: Tools, tool, arguments, why):
    tools.task("Work")
    tools.remember("Gates", FACT)
    tools.call("standard-write", name="Rule", content=FACT, tags=["a"], metadata={"by": "x"})
    with pytest.raises(Refused, match=why):
        tools.call(tool, **arguments)


def test_a_repository_sent_as_an_object_in_a_text_is_understood(tools: Tools):
    scope = tools.call("memory-read", owner=..., repo='{"owner": "acme", "repo": "harbor"}')[
        "scope"
    ]
    assert (scope["owner"], scope["repo"]) == ("acme", "harbor")


def test_b88_a_name_with_a_letter_too_many_finds_its_neighbour(tools: Tools):
    tools.remember("Gates", FACT)
    assert tools.call("memory-read", repo="harbour")["near_repos"] == ["acme/harbor"]


@pytest.mark.parametrize("filters", [{}, {"include_archived": True}, {"query": "type:code_fact"}])
def test_a_list_without_words_counts_what_its_pages_show(tools: Tools, filters):
    kinds = ({}, {"is_global": True}, {"ttlDays": 1}, {"repo": "globex/depot", "is_global": True})
    for number, more in enumerate(kinds):
        tools.remember(f"Entry {number}", f"Of its own kind, number {number * 7919}.", **more)
    tools.remember("Away", "Something that was put away again.")
    tools.call("memory-delete", code="MEM-004")
    tools.ahead_us = 2 * DAY
    asked = {"query": "", **filters}
    total = tools.call("memory-read", **asked)["total"]
    pages = [tools.rows("memory-read", limit=1, offset=n, **asked) for n in range(total + 1)]
    titles = [row["title"] for page in pages for row in page]
    assert total == len(titles)
    away = ["Away"] if "include_archived" in filters else []
    assert titles == [*away, "Entry 3", "Entry 1", "Entry 0"]


def test_deleting_many_names_each_once(tools: Tools):
    codes = [tools.task(f"Work {number}")["code"] for number in range(12)]
    text = tools.result("task-delete", codes=codes)["content"][0]["text"]
    assert text.startswith('Deleted 12 tasks from "harbor": TASK-001, ')
    assert (text.count("TASK-011"), "…" in text, "Asked for" in text) == (1, True, False)


def test_standards_change_in_a_bulk_call_as_they_are_made(tools: Tools):
    rule = {"name": "Rule", "content": FACT, "tags": ["a"], "metadata": {"by": "x"}}
    change = {"code": "STD-001", "version": "2.0.0"}
    done = tools.call("standard-write", standards=[rule, change, {"code": "STD-9", "version": "3"}])
    assert [each["operation"] for each in done["results"]] == ["create", "update"]
    assert done["results"][1]["updatedFields"] == ["version"]
    assert [each["index"] for each in done["failed"]] == [2]


def test_a_new_rationale_leaves_the_rest_of_a_decision_as_it_was(tools: Tools):
    said = {"context": "Sessions were lost.", "rationale": "It survives a deploy."}
    tools.call(
        "memory-write",
        type="decision",
        title="Use Redis",
        alternatives=["memcached", "files"],
        tags=["cache"],
        **said,
    )
    tools.call("memory-write", id="MEM-001", importance=2)
    done = tools.call("memory-write", id="MEM-001", rationale="It is what we know.")
    assert done["updatedFields"] == ["content"]
    memory = tools.call("memory-read", id="MEM-001")["memory"]
    assert (memory["importance"], memory["tags"]) == (2, ["cache", "decision"])
    assert memory["content"] == (
        "## Context\nSessions were lost.\n\n## Rationale\nIt is what we know.\n\n"
        "## Alternatives\n- memcached\n- files"
    )
    tools.call("memory-write", id="MEM-001", alternatives=["a table"])
    tools.call("memory-write", id="MEM-001", content="Redis it is, for good.")
    tools.call("memory-write", id="MEM-001", context="Sessions were lost twice.")
    content = tools.call("memory-read", id="MEM-001")["memory"]["content"]
    assert content == "Redis it is, for good.\n\n## Context\nSessions were lost twice."


@pytest.mark.parametrize("arguments", [{"acknowledge": "used"}, {"status": "archived"}, {}])
def test_a_change_of_no_memory_in_particular_is_told_to_name_one(tools: Tools, arguments):
    with pytest.raises(Refused, match="to change or acknowledge one send its id or code"):
        tools.call("memory-write", **arguments)
    with pytest.raises(Refused, match="context must have at least 10 characters"):
        tools.call("memory-write", type="decision", title="Short", context="x")


def test_the_text_of_a_detail_shows_its_metadata_and_of_a_claim_when_it_ended(tools: Tools):
    tools.remember("Gates", FACT, metadata={"by": "harbour master"})
    assert 'Metadata: {"by":"harbour master"}' in tools.text("memory-read", id="MEM-001")
    tools.task("Work", decision_refs=["MEM-001"])
    assert 'Metadata: {"decision_refs":["MEM-001"]}' in tools.text("task-read", code="TASK-001")
    tools.call("claim-manage", task_code="TASK-001")
    tools.call("claim-manage", task_code="TASK-001", release=True)
    (row,) = tools.rows("claim-manage", "claims", active_only=False)
    assert f"ended {row['released_at']}" in tools.text("claim-manage", active_only=False)


def test_b80_bulk_answers_of_any_size_fit_a_host_and_name_all_that_was_done(tools: Tools):
    def sizes(tool: str, **arguments) -> tuple[dict, str]:
        result = tools.result(tool, **arguments)
        text, structured = result["content"][0]["text"], result.get("structuredContent", {})
        assert len(text) < 33_000
        assert len(json.dumps(structured, separators=(",", ":"))) < 33_000
        return structured, text

    items = [
        {"phase": "p", "title": f"Work {n} {'x' * 60}", "description": "d"} for n in range(500)
    ]
    made, text = sizes("task-write", tasks=items)
    codes = [f"TASK-{n:03}" for n in range(1, 501)]
    assert [each["code"] for each in made["results"]] + made["otherCodes"] == codes
    assert all(code in text for code in codes)
    changed, _ = sizes("task-write", ids=codes, priority=1)
    assert (changed["codes"], changed["updatedCount"]) == (codes, 500)
    good = {"code": "TASK-001", "priority": 2}
    partly, text = sizes("task-write", tasks=[good, *[{"title": "x" * 5_000}] * 499])
    assert (len(partly["failed"]), "399 more failed" in text) == (100, True)
    deleted, text = sizes("task-delete", codes=codes)
    assert deleted["deletedCodes"] == codes
    assert all(code in text for code in codes)


def test_b80_several_long_contents_come_as_beginnings_that_say_where_to_read_on(tools: Tools):
    content = "".join(f"{n:06} " for n in range(5_000))
    tools.remember("Long", content)
    rule = {"name": "Long rule", "tags": ["a" * 100] * 30, "metadata": {"by": "x"}}
    tools.call("standard-write", content=content, **rule)
    for tool, key, code in (
        ("memory-read", "memories", "MEM-001"),
        ("standard-read", "standards", "STD-001"),
    ):
        answer = tools.call(tool, ids=[code])
        (at,) = answer["continued"]
        assert at["code"] == code
        one = tools.call(tool, id=code, offset=at["next_offset"])
        rest = next(each["content"] for each in one.values() if "content" in each)
        assert content.startswith(answer[key][0]["content"] + rest)
        assert len(json.dumps(answer)) < 9_000
    with pytest.raises(Refused, match=r"tags\[0\] has 101 characters and the limit is 100"):
        tools.remember("Tagged", FACT, tags=["x" * 101])
