"""The better answers that the contract asks for, by the numbers of its list."""

from __future__ import annotations

import pytest

from memrpc.protocol.calls import Call, Client, Handshake
from memrpc.protocol.revisions import REVISIONS
from memrpc.workspace import entries, upkeep
from tests.workspace.conftest import DAY, Refused

ROOT_ANSWER = {"roots": [{"uri": "file:///srv/globex/widgets"}]}


def listed(tools, capabilities: dict, *, revision: str = "2025-11-25") -> list[str]:
    handshake = Handshake(REVISIONS[revision], Client(capabilities, {}))
    is_envelope = revision == "2026-07-28"
    call = Call(
        1,
        "tools/list",
        {},
        REVISIONS[revision],
        Client(capabilities, {}),
        None,
        None if is_envelope else handshake,
    )
    return [name for name, tool in tools.service.tools.items() if tool.is_listed(call)]


def test_h01_synthesize_is_listed_for_clients_that_sample(tools):
    with_it, without = listed(tools, {"sampling": {}}), listed(tools, {})
    assert set(with_it) - set(without) == {"synthesize"}
    assert "synthesize" in listed(tools, {}, revision="2026-07-28")


def test_h03_a_root_of_the_client_names_the_project(tools):
    tools.capabilities = {"roots": {}}
    tools.answers = [ROOT_ANSWER]
    tools.place = {}
    tools.remember("From a root", "The workspace of the client decides.")
    answer = tools.call("memory-read", query="workspace")
    assert answer["scope"] == {"owner": "globex", "repo": "widgets", "resolved_by": "roots"}
    assert answer["total"] == 1
    assert len(tools.asked) == 1


def test_h03_two_roots_are_listed_and_none_is_guessed(tools):
    tools.capabilities = {"roots": {}}
    second = {"uri": "file:///srv/acme/gadgets"}
    tools.answers = [{"roots": [*ROOT_ANSWER["roots"], second]}]
    tools.place = {}
    with pytest.raises(Refused) as refused:
        tools.call("memory-read")
    assert refused.value.details["candidates"] == ["globex/widgets", "acme/gadgets"]
    at_hand = tools.call("memory-read", current_file_path="/srv/acme/gadgets/src/a.py")
    assert at_hand["scope"]["repo"] == "gadgets"


def test_h04_a_bare_handoff_read_lists_the_handoffs_of_the_repository(tools):
    tools.task("Work")
    tools.call("claim-manage", task_code="TASK-001", agent="host")
    made = tools.call("handoff-write", from_agent="ann", to_agent="bob", summary="Go on with it")
    (row,) = tools.rows("handoff-read", "handoffs")
    assert (row["id"], row["summary"]) == (made["id"], "Go on with it")


def test_h08_importance_fades_after_real_disuse_only(tools):
    def fade() -> list[int]:
        act_now = tools.now_us()
        database = tools.application.database

        def work(db):
            from memrpc.workspace.model import Act

            act = Act("upkeep", "upkeep", "", act_now, tools.application.desk.new_id)
            upkeep.keep_up(db, act, keep_actions_us=3_650 * DAY)
            return [each.importance for each in entries.by_keys(db, entries.keys(db)).values()]

        return database.write_blocking(work)

    tools.remember("Fresh", "An important fact of today.", importance=5)
    used = tools.remember("Used", "Somebody has relied on this.", importance=5)
    tools.call("memory-write", id=used["id"], acknowledge="used")
    tools.ahead_us = DAY
    assert fade() == [5, 5]
    tools.ahead_us = 89 * DAY
    assert fade() == [5, 5]
    tools.ahead_us = 91 * DAY
    assert fade() == [4, 5]
    assert fade() == [4, 5]
    tools.ahead_us = 122 * DAY
    assert fade() == [3, 5]
    tools.call("memory-write", id="MEM-001", importance=5)
    tools.ahead_us = 123 * DAY
    assert fade() == [5, 5]


def test_h11_the_same_text_twice_is_a_conflict_among_many_more_important_ones(tools):
    tools.remember("Original", "Retries stop after the fifth attempt of a job.", importance=1)
    subjects = ("pigeons", "violins", "glaciers", "spoons", "lanterns", "meadows", "anchors")
    for number, subject in enumerate(subjects * 3):
        tools.remember(
            f"{subject} {number}", f"About {subject} in case {number} x{number}y", importance=5
        )
    with pytest.raises(Refused) as refused:
        tools.remember("Copy", "Retries stop after the fifth attempt of a job.")
    assert refused.value.details["reason"] == "MEMORY_CONFLICT"
    assert refused.value.details["conflicting_memory"]["code"] == "MEM-001"


def test_h11_what_everybody_knows_already_is_a_conflict_in_each_repository(tools):
    text = "Everybody indents makefiles with tabs."
    tools.remember("For all", text, owner="globex", repo="rules", is_global=True)
    with pytest.raises(Refused) as refused:
        tools.remember("Copy", text)
    assert refused.value.details["conflicting_memory"]["title"] == "For all"


def test_h11_identical_items_of_one_bulk_call_conflict_too(tools):
    item = {
        "type": "code_fact",
        "title": "Twice",
        "content": "The same text in one call, twice over.",
        "importance": 2,
    }
    answer = tools.call("memory-write", memories=[item, item])
    assert [each["code"] for each in answer["failed"]] == ["conflict"]
    assert answer["processed"] == 1


def test_h11_a_superseding_entry_is_no_conflict_and_archives_the_old_one(tools):
    old = tools.remember("We use Jina", "The web search goes through Jina for now.")
    tools.remember("We use Exa", "The web search goes through Exa for now.", supersedes=old["code"])
    rows = tools.rows("memory-read", query="web search")
    assert [row["title"] for row in rows] == ["We use Exa"]
    with_old = tools.rows("memory-read", query="web search", include_archived=True)
    assert {row["title"] for row in with_old} == {"We use Exa", "We use Jina"}


def test_h12_a_bulk_call_stores_the_good_items_and_lists_the_bad_ones(tools):
    good = {
        "type": "pattern",
        "title": "Good",
        "content": "A perfectly fine entry.",
        "importance": 2,
    }
    items = [
        {**good, "type": "bogus"},
        good,
        {"title": "No type"},
        {"id": "MEM-404", "title": "Unknown"},
    ]
    answer = tools.call("memory-write", memories=items)
    assert (answer["processed"], answer["total"]) == (1, 4)
    assert [each["index"] for each in answer["failed"]] == [0, 2, 3]
    with pytest.raises(Refused) as refused:
        tools.call("memory-write", memories=[items[0], items[2]])
    assert [each["index"] for each in refused.value.details["failed"]] == [0, 1]


def test_h13_a_free_code_names_a_new_entry(tools):
    made = tools.remember("Chosen", "This entry has a code of its own.", code="AUTH-1")
    assert made["code"] == "AUTH-1"
    tools.call("memory-write", code="AUTH-1", importance=5)
    assert tools.call("memory-read", code="AUTH-1")["memory"]["importance"] == 5
    with pytest.raises(Refused) as refused:
        tools.call("memory-write", code="AUTH-2", importance=5)
    assert refused.value.code == "not_found"


def test_h14_a_second_agent_is_told_who_holds_the_task(tools):
    tools.task("Contended")
    first = tools.call("claim-manage", task_code="TASK-001", agent="ann")
    with pytest.raises(Refused, match="claimed by ann") as refused:
        tools.call("claim-manage", task_code="TASK-001", agent="bob")
    assert refused.value.details["expires_at"] == first["expires_at"]
    again = tools.call("claim-manage", task_code="TASK-001", claim_token=first["claim_token"])
    assert again["id"] == first["id"]
    forced = tools.call("claim-manage", task_code="TASK-001", agent="bob", force=True)
    assert forced["agent"] == "bob"


def test_h15_open_dependencies_cycles_and_own_parents_are_refused(tools):
    tools.task("First")
    tools.task("Second", depends_on="TASK-001")
    start = {"code": "TASK-002", "status": "in_progress", "comment": "go"}
    with pytest.raises(Refused, match="TASK-001"):
        tools.call("task-write", **start)
    with pytest.raises(Refused, match="TASK-001"):
        tools.call("claim-manage", task_code="TASK-002")
    for wrong in (
        {"code": "TASK-001", "depends_on": "TASK-002"},
        {"code": "TASK-001", "parent_id": "TASK-001"},
    ):
        with pytest.raises(Refused, match="cycle"):
            tools.call("task-write", **wrong)
    tools.call("task-write", **start, force=True)
    cleared = tools.call("task-write", code="TASK-002", depends_on="")
    assert cleared["updatedFields"] == ["depends_on"]


def test_h15_a_dependency_that_ends_in_the_same_call_makes_no_cycle(tools):
    whole, part = tools.task("Whole")["id"], tools.task("Part")["id"]
    waiting = tools.task("Waiting", depends_on=whole)["id"]
    tools.call("task-write", id=part, parent_id=whole)
    tools.call("task-write", id=waiting, depends_on="", parent_id=part)
    assert tools.call("task-read", id=waiting)["parent_id"] == part


def test_h16_a_bulk_change_of_status_carries_a_comment_per_item(tools):
    tools.task("One")
    tools.task("Two")
    answer = tools.call(
        "task-write",
        tasks=[
            {"code": "TASK-001", "status": "in_progress", "comment": "begun"},
            {"code": "TASK-002", "status": "in_progress"},
        ],
    )
    assert [each["code"] for each in answer["results"]] == ["TASK-001"]
    assert "comment is required" in answer["failed"][0]["message"]
    detail = tools.call("task-read", code="TASK-001")
    assert [each["comment"] for each in detail["comments"]] == ["begun"]


@pytest.mark.parametrize(
    "query",
    ["redis add layer", "Where do we plan a caching layer with Redis?", "TASK-001", "layer"],
)
def test_h17_tasks_are_found_by_words_in_any_order(tools, query):
    tools.task("Add Redis layer", description="Put a cache in front of the catalogue.")
    tools.task("Write the handbook", description="Everything new drivers must know.")
    rows = tools.rows("task-read", "results", query=query)
    assert rows[0]["task_code"] == "TASK-001"


def test_h18_a_handoff_past_its_time_is_expired(tools):
    offer = {"from_agent": "a", "to_agent": "b", "summary": "x"}
    for expires_at, why in (
        ("2099-01-01", "zone"),
        ("2020-01-01T00:00:00Z", "passed"),
        ("9999-12-31T23:59:59-14:00", "not an ISO 8601 time"),  # It is in the year 10,000 of UTC.
    ):
        with pytest.raises(Refused, match=why):
            tools.call("handoff-write", **offer, expires_at=expires_at)
    made = tools.call("handoff-write", **offer, expires_at="2027-01-01T00:00:00Z")
    tools.ahead_us = 400 * DAY
    assert tools.call("handoff-read", id=made["id"])["status"] == "expired"
    assert tools.call("handoff-read", status="pending")["total"] == 0
    assert tools.call("handoff-read", status="expired")["total"] == 1
    with pytest.raises(Refused) as refused:
        tools.call("handoff-write", id=made["id"], status="accepted")
    assert refused.value.code == "invalid_state"


def test_h19_a_task_described_in_full_under_its_code_is_updated(tools):
    tools.task("Old title", code="T-1")
    answer = tools.call(
        "task-write", code="T-1", title="New title", phase="review", description="Anew."
    )
    assert set(answer["updatedFields"]) >= {"title", "phase", "description"}
    task = tools.call("task-read", code="T-1")
    assert (task["title"], task["tags"]) == ("New title", ["phase:review"])


def test_h20_a_standard_keeps_its_repository_and_author_when_it_is_updated_elsewhere(tools):
    rule = {"name": "Ruff", "content": "All Python code passes ruff.", "tags": ["lint"]}
    tools.call("standard-write", **rule, metadata={"by": "team"}, is_global=True, agent="ann")
    tools.call("standard-write", repo="elsewhere", id="STD-001", version="2.0.0", agent="bob")
    standard = tools.call("standard-read", id="STD-001")["standard"]
    shown = {name: standard[name] for name in ("owner", "repo", "agent", "version")}
    assert shown == {"owner": "acme", "repo": "harbor", "agent": "ann", "version": "2.0.0"}


def test_h30_the_graph_is_built_offline_and_lives_as_long_as_its_source(tools):
    made = tools.remember("Cache", "The `CacheKey` of src/cache.py ends with the tenant.")
    names = {each["name"] for each in tools.call("memory-read", id=made["id"])["kg"]["entities"]}
    assert names == {"CacheKey", "src/cache.py"}
    tools.ahead_us = 365 * DAY
    rows = tools.rows("memory-read", query="entity:CacheKey")
    assert [row["code"] for row in rows] == [made["code"]]
    tools.call("memory-write", id=made["id"], content="The key ends with the name of the tenant.")
    assert tools.call("memory-read", query="entity:CacheKey")["total"] == 0
