"""What a caller reads of tasks, claims and handoffs."""

from __future__ import annotations

import json

import pytest

from tests.workspace.conftest import DAY, Refused, Tools


def test_the_text_keeps_the_order_of_the_rows(tools: Tools):
    tools.task("Later work")
    tools.task("Work at hand")
    tools.call("task-write", code="TASK-002", status="in_progress", comment="go")
    text = tools.text("task-read")
    assert text.index("TASK-002") < text.index("TASK-001")
    for number, language in enumerate(("python", "go", "python")):
        tools.call(
            "standard-write",
            name=f"Rule {number}",
            content=f"Rule of its own kind, number {number * 7919}",
            tags=["a"],
            metadata={"by": "team"},
            language=language,
        )
    assert tools.text("standard-read").count("python:") == 1


def test_a_task_of_many_words_is_read_in_parts(tools: Tools):
    tools.task("Long work", description="".join(f"{n:06} " for n in range(2_000)))
    for number in range(30):
        tools.call("task-write", code="TASK-001", comment=f"{number} " + "said " * 400)
    read, offset = "", 0
    while offset is not None:
        page = tools.call("task-read", code="TASK-001", offset=offset)
        assert len(tools.text("task-read", code="TASK-001", offset=offset)) < 9_000
        assert (page["comments_count"], page["truncated"]) == (30, True)
        read, offset = read + page["description"], page.get("next_offset")
    assert read == "".join(f"{n:06} " for n in range(2_000))
    assert f"task://{page['id']}" in tools.text("task-read", code="TASK-001")


def test_an_issue_that_is_asked_for_is_a_sure_hit_and_does_not_dim_the_others(tools: Tools):
    tools.task("Mend the crane", description="As in #544.")
    tools.task("Paint issue 544 signs")
    first, second = tools.rows("task-read", "results", query="issue 544")
    named = ("TASK-001", "issue", 1.0, "high")
    assert (first["task_code"], first["match_reason"], first["score"], first["confidence"]) == named
    assert (second["match_reason"], second["score"]) == ("text", 1.0)
    (row,) = tools.rows("task-read", "results", issue_ref="#544")
    assert row["match_reason"] == "issue"


def test_a_task_forgets_the_issue_that_its_words_no_longer_name(tools: Tools):
    tools.task("Mend the crane", description="As in #544 and #545.")
    tools.call("task-write", code="TASK-001", comment="see #546")
    tools.call("task-write", code="TASK-001", description="As in #545.")
    (row,) = tools.rows("task-read", "results", query="crane")
    assert row["issue_refs"] == ["#545", "#546"]
    assert tools.call("task-read", issue_ref="544")["total"] == 0


def test_no_question_about_a_huge_issue_fails(tools: Tools):
    tools.task("Work")
    assert tools.call("task-read", query=f"issue {'9' * 40}")["total"] == 0


def test_a_renewal_takes_the_role_and_metadata_that_come_with_it(tools: Tools):
    tools.task("Work")
    held = tools.call("claim-manage", task_code="TASK-001", role="writer")
    token = {"task_code": "TASK-001", "claim_token": held["claim_token"]}
    renewed = tools.call("claim-manage", **token, role="reviewer", metadata={"branch": "b"})
    assert (renewed["role"], renewed["metadata"]) == ("reviewer", {"branch": "b"})
    assert tools.call("claim-manage", **token)["role"] == "reviewer"


def test_a_lease_that_is_over_is_no_claim_that_another_could_release(tools: Tools, other: Tools):
    tools.task("Work")
    tools.call("claim-manage", task_code="TASK-001")
    other.ahead_us = DAY
    with pytest.raises(Refused, match="No active claim"):
        other.call("claim-manage", task_code="TASK-001", release=True)


def test_words_find_a_claim_on_whichever_page_it_would_be(tools: Tools):
    for title in ("Mend the crane", "Paint signs", "Write the handbook"):
        task = tools.task(title)
        tools.call("claim-manage", task_code=task["code"])
    (row,) = tools.rows("claim-manage", "claims", query="crane", limit=1)
    assert row["task_code"] == "TASK-001"


def test_accepting_claims_the_task_for_the_callers_agent(tools: Tools):
    tools.task("Work")
    offer = {"from_agent": "ann", "to_agent": "bob", "summary": "Go on", "task_code": "TASK-001"}
    made = tools.call("handoff-write", **offer, context={"next_steps": ["measure", "cut"]})
    accepted = tools.call("handoff-write", id=made["id"], status="accepted")
    assert accepted["claim"]["agent"] == tools.client
    tools.call("task-write", code="TASK-001", status="completed", comment="done")
    comments = tools.call("task-read", code="TASK-001")["comments"]
    assert any("Next steps: measure; cut" in each["comment"] for each in comments)


def test_the_short_id_of_a_handoff_opens_it(tools: Tools):
    made = tools.call("handoff-write", from_agent="ann", to_agent="bob", summary="Go on")
    assert tools.call("handoff-read", id=made["id"][-8:])["id"] == made["id"]
    with pytest.raises(Refused, match="not found"):
        tools.call("handoff-read", id=made["id"][-8:], repo="depot", owner="globex")


def test_an_empty_list_of_tags_leaves_a_task_with_its_phase_alone(tools: Tools):
    tools.task("Work", tags=["a", "b"])
    tools.call("task-write", code="TASK-001", tags=[])
    assert tools.call("task-read", code="TASK-001")["tags"] == ["phase:execution"]


def test_a_bulk_item_may_name_a_sibling_that_stands_after_it(tools: Tools):
    part = {"phase": "p", "title": "Part", "description": "d", "parent_id": "WHOLE"}
    after = {"phase": "p", "title": "After", "description": "d", "depends_on": "PART"}
    whole = {"phase": "p", "title": "Whole", "description": "d", "code": "WHOLE"}
    circle = {**part, "code": "LOOP", "parent_id": "LOOP"}
    done = tools.call("task-write", tasks=[after, {**part, "code": "PART"}, whole, circle])
    assert [(each["index"], each["title"]) for each in done["results"]] == [
        (0, "After"),
        (1, "Part"),
        (2, "Whole"),
    ]
    assert [each["index"] for each in done["failed"]] == [3]
    assert tools.call("task-read", code="PART")["parent_code"] == "WHOLE"


def test_refusals_are_listed_in_the_order_of_the_items(tools: Tools):
    waits = {"phase": "p", "title": "Waits", "description": "d", "depends_on": "LATE"}
    late = {"phase": "p", "title": "x", "description": "d", "code": "LATE"}
    done = tools.call("task-write", tasks=[waits, late, {**late, "title": "Good", "code": "GOOD"}])
    assert [each["index"] for each in done["failed"]] == [0, 1]


def test_a_task_that_is_not_made_pending_says_why(tools: Tools):
    for number in range(11):
        tools.task(f"Pending {number}", status="pending")
    made = tools.result(
        "task-write", phase="p", title="One more", description="d", status="pending"
    )
    assert made["structuredContent"]["status"] == "backlog"
    assert "More than 10 tasks are pending" in made["content"][0]["text"]


def test_a_canceled_dependency_is_called_canceled(tools: Tools):
    tools.task("First")
    tools.task("Second", depends_on="TASK-001")
    tools.call("task-write", code="TASK-001", status="canceled", comment="no")
    with pytest.raises(Refused, match="depends on TASK-001, which is canceled"):
        tools.call("claim-manage", task_code="TASK-002")


def test_a_context_says_how_many_tasks_it_leaves_out(tools: Tools):
    for number in range(12):
        tools.task(f"Work {number}")
    assert tools.call("agent-context")["totals"] == {"tasks": 12}
    assert "(10 of 12; task-read lists all)" in tools.text("agent-context")
    tools.call("task-delete", codes=["TASK-001", "TASK-002"])
    assert "totals" not in tools.call("agent-context")


def test_a_take_over_stands_in_the_task_and_in_the_claims(tools: Tools, other: Tools):
    tools.task("Work")
    tools.call("claim-manage", task_code="TASK-001", agent="ann")
    tools.call("claim-manage", task_code="TASK-001", agent="ann")
    other.call("claim-manage", task_code="TASK-001", agent="bob", force=True)
    comments = other.call("task-read", code="TASK-001")["comments"]
    said = ["Claimed by bob, taken over from ann", "Claimed by ann"]
    assert [each["comment"] for each in comments] == said
    assert " by force, claim " in other.text("claim-manage", active_only=False)


@pytest.mark.parametrize(
    ("tool", "filters"),
    [
        ("task-read", {"phase": "", "status": ""}),
        ("standard-read", {"language": "", "version": ""}),
    ],
)
def test_an_empty_filter_filters_nothing(tools: Tools, tool, filters):
    tools.task("Work")
    tools.call("standard-write", name="Rule", content="Rule of all.", tags=["a"], metadata={"b": 1})
    assert tools.call(tool, **filters)["total"] == 1


def test_b80_long_handoffs_are_short_in_lists_and_whole_when_opened(tools: Tools):
    tools.task("Work")
    context = {"next_steps": ["x" * 5_000] * 3, "blockers": "y" * 400}
    offer = {"from_agent": "ann", "to_agent": "bob", "task_code": "TASK-001", "context": context}
    made = tools.call("handoff-write", **offer, summary="Go on " * 3_000)
    tools.call("claim-manage", task_code="TASK-001", metadata={"plan": "z" * 9_000})
    for tool, arguments in (
        ("handoff-read", {}),
        ("agent-context", {}),
        ("claim-manage", {}),
        ("task-read", {"code": "TASK-001"}),
    ):
        result = tools.result(tool, **arguments)
        assert len(json.dumps(result["structuredContent"])) < 8_000
        assert len(result["content"][0]["text"]) < 8_000
    whole = tools.call("handoff-read", id=made["id"])
    assert (whole["summary"], whole["context"]) == ("Go on " * 3_000, context)
    (row,) = tools.rows("handoff-read", "handoffs")
    assert row["context"]["blockers"] == "y" * 400


def test_the_end_of_a_ranking_says_that_it_looked_no_further(tools: Tools):
    task = {"phase": "p", "description": "Grease it."}
    items = [{**task, "title": f"Winch {number}"} for number in range(110)]
    assert not tools.result("task-write", tasks=items)["isError"]
    assert "Only the best" not in tools.text("task-read", query="winch", limit=10)
    last = tools.text("task-read", query="winch", limit=10, offset=90)
    assert "Only the best 100 are ranked" in last
