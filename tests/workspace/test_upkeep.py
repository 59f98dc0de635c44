"""Expiry, the daily job, redaction, a rebuild; and what is asked of the client."""

from __future__ import annotations

import json

import pytest

from memrpc.cli import run as main
from memrpc.recall import vocabulary
from memrpc.server.faults import Refusal, RefusedError
from memrpc.store import audit, jobs, purge
from memrpc.workers import keeping_up
from memrpc.workspace import actions, entry_writing, redacting, scope, upkeep_due
from memrpc.workspace.composing import EntryDraft
from tests.workspace.conftest import DAY, Refused, Tools

VAULT = "Zebulon Quartermain keeps the vault key in the heliotrope drawer."
LEDGER = "Ask Perpetua Oglethorpe about the marzipan ledger."


async def run_upkeep(tools: Tools) -> None:
    database = tools.application.database
    lease = await database.write(
        lambda db: jobs.claim(db, [upkeep_due.JOB_KIND], owner="test", now=tools.now_us())
    )
    assert lease is not None
    new_id = tools.application.desk.new_id
    await keeping_up.keep_up(lease, database, tools.now_us, new_id, 30)


def keep_up(tools: Tools) -> None:
    import anyio

    anyio.run(run_upkeep, tools)


def test_an_expired_entry_is_hidden_at_once_and_archived_by_the_daily_job(tools):
    made = tools.remember("Short-lived", "This is true for one day only.", ttlDays=1)
    assert tools.call("memory-read", query="true for one day")["total"] == 1
    tools.ahead_us = 2 * DAY
    assert tools.call("memory-read", query="true for one day")["total"] == 0
    assert tools.call("memory-read")["total"] == 0
    assert tools.call("memory-read", id=made["id"])["memory"]["status"] == "active"
    keep_up(tools)
    assert tools.call("memory-read", id=made["id"])["memory"]["status"] == "archived"
    tools.call("memory-write", id=made["id"], status="active", ttlDays=5)
    assert tools.call("memory-read")["total"] == 1


def test_the_daily_job_owes_itself_for_the_next_day_and_prunes_the_log(tools):
    tools.remember("Something", "Something that is logged.")
    for days in (2, 40):
        tools.ahead_us = days * DAY
        keep_up(tools)
    actions = tools.application.database.read_blocking(
        lambda db: db.execute("SELECT count(*) FROM actions").get
    )
    assert actions == 0
    owed = tools.application.database.read_blocking(
        lambda db: jobs.next_due(db, [upkeep_due.JOB_KIND])
    )
    assert owed > tools.now_us()


def test_a_deleted_task_is_gone_and_its_comments_stay_in_the_log(tools):
    made = tools.task("Gone")
    tools.call("task-write", code=made["code"], comment="One last remark.")
    tools.call("task-delete", code=made["code"])
    with pytest.raises(Refused):
        tools.call("task-read", code=made["code"])
    before = tools.application.database.read_blocking(
        lambda db: db.execute("SELECT before FROM actions WHERE operation = 'delete'").get
    )
    assert json.loads(before)["comments"][0]["text"] == "One last remark."
    assert tools.task("Next")["code"] == "TASK-002"


def redactions_logged(db) -> set[str]:
    found = actions.of_repo(db, scope.find(db, "acme", "harbor"), limit=50, offset=0)
    return {each.subject_id for each in found if each.operation == "redact"}


def test_redact_erases_an_entry_and_a_task_to_the_last_byte(tools, database, capsys):
    entry = tools.remember("Keeper", VAULT)
    tools.call("memory-write", id=entry["id"], tags=["heliotrope"])
    task = tools.task("Inquire", description=LEDGER)
    tools.call("claim-manage", task_code=task["code"], metadata={"about": LEDGER})
    tools.call("handoff-write", from_agent="host", summary=LEDGER, task_code=task["code"])
    tools.call("task-write", code=task["code"], status="completed", comment=LEDGER)
    gone = tools.task("Deleted", description=LEDGER)
    tools.call("task-delete", code=gone["code"])
    kept = tools.remember("Kept", "An innocent neighbour of the two.")
    tools.close()
    for subject in (entry["id"], task["id"], gone["id"]):
        assert main(["redact", subject, "--db", str(database), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["erasure"] == "complete"
    assert main(["stats", "--db", str(database), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pending_purges"] == 0
    for text in ("Zebulon Quartermain heliotrope", "Perpetua Oglethorpe marzipan"):
        found = audit.audit(database, text, vocabularies=vocabulary.VOCABULARIES)
        assert found == [], text
    reopened = Tools(database)
    assert [row["code"] for row in reopened.rows("memory-read", "top")] == [kept["code"]]
    logged = reopened.application.database.read_blocking(redactions_logged)
    assert {entry["id"], task["id"], gone["id"]} <= logged
    reopened.close()


def test_a_redaction_owes_the_purge_of_its_bytes_in_the_same_transaction(workspace):
    def remember(db, repo):
        draft = EntryDraft(type="code_fact", title="Key", content=VAULT, importance=3)
        return entry_writing.create(db, repo, draft, workspace.act())

    entry = workspace.do(remember)
    workspace.do(lambda db, _: redacting.redact(db, entry.id, workspace.act()))
    assert jobs.is_owed(workspace.db, purge.JOB_KIND, purge.JOB_SUBJECT)


def test_redacting_what_is_not_there_is_refused(tools, database):
    tools.remember("Here", "So that there is a database at all.")
    tools.close()
    assert main(["redact", "nobody", "--db", str(database)]) == 1


def test_reindex_rebuilds_what_the_workspace_searches_and_the_graph(tools, database):
    decision = tools.remember("Redis", "We cache in `RedisCache`.", type="decision")
    tools.task("Add a cache", decision_refs=[decision["code"]])
    before = tools.call("task-read", code="TASK-001")["kg"]
    tools.close()
    assert main(["reindex", "--db", str(database)]) == 0
    reopened = Tools(database)
    assert reopened.call("memory-read", query="redis cache")["total"] == 1
    assert reopened.call("memory-read", query="entity:RedisCache")["total"] == 1
    assert reopened.call("task-read", query="add cache")["total"] == 1
    assert reopened.call("task-read", code="TASK-001")["kg"] == before
    reopened.close()


def text_reply(text: str) -> dict:
    content = {"type": "text", "text": text}
    return {"role": "assistant", "content": content, "model": "m-1", "stopReason": "endTurn"}


def test_an_answer_without_an_end_is_cut(tools):
    tools.capabilities = {"sampling": {}}
    tools.answers = [text_reply("y" * 500_000)]
    assert tools.call("synthesize", objective="anything")["answer"] == "y" * 20_000


def test_synthesize_answers_from_evidence_in_a_bounded_loop_of_reading(tools):
    tools.remember("Sessions", "Sessions live in Redis and survive a deploy.")
    tools.capabilities = {"sampling": {"tools": {}}}
    use = {"type": "tool_use", "id": "u1", "name": "memory-read", "input": {"query": "sessions"}}
    wrong = {"type": "tool_use", "id": "u2", "name": "memory-write", "input": {}}
    reply = {"role": "assistant", "content": [use, wrong], "model": "m-1", "stopReason": "toolUse"}
    tools.answers = [reply, text_reply("In Redis [MEM-001].")]
    answer = tools.call("synthesize", objective="Where do sessions live?")
    assert answer["answer"] == "In Redis [MEM-001]."
    assert (answer["model"], answer["iterations"]) == ("m-1", 2)
    assert [call["name"] for call in answer["toolCalls"]] == ["memory-read", "memory-write"]
    first, second = (params for _, params in tools.asked)
    assert "[MEM-001] Sessions" in first["messages"][0]["content"]["text"]
    results = second["messages"][2]["content"]
    assert "MEM-001" in results[0]["content"][0]["text"]
    assert results[1]["isError"] is True


def test_synthesize_takes_the_tools_away_in_the_last_round(tools):
    tools.capabilities = {"sampling": {"tools": {}}}
    tools.answers = [text_reply("Nothing is stored.")]
    tools.call("synthesize", objective="What is known?", max_iterations=1)
    ((_, params),) = tools.asked
    assert "tools" not in params


def test_synthesize_asks_no_more_often_than_it_was_allowed_to(tools):
    tools.capabilities = {"sampling": {"tools": {}}}
    use = {"type": "tool_use", "id": "u1", "name": "task-read", "input": {}}
    reply = {"role": "assistant", "content": [use], "model": "m-1", "stopReason": "toolUse"}
    tools.answers = [reply, reply, text_reply("One round too late.")]
    with pytest.raises(Refused) as refused:
        tools.call("synthesize", objective="What is known?", max_iterations=2)
    assert refused.value.code == "unavailable"
    assert len(tools.asked) == 2


@pytest.mark.parametrize(
    "asked",
    [
        {"owner": "globex", "repo": "vault", "query": "handles"},
        {"query": "owner:globex repo:vault handles"},
        {"query": "repo:globex/vault handles"},
    ],
)
def test_the_models_tools_read_the_repository_of_the_call_alone(tools, asked):
    tools.remember("Vault", "The vault has brass handles.", owner="globex", repo="vault")
    tools.capabilities = {"sampling": {"tools": {}}}
    use = {"type": "tool_use", "id": "u1", "name": "memory-read", "input": asked}
    reply = {"role": "assistant", "content": [use], "model": "m-1", "stopReason": "toolUse"}
    tools.answers = [reply, text_reply("Nothing is known.")]
    tools.call("synthesize", objective="Which handles are there?")
    (_, second) = (params for _, params in tools.asked)
    shown = second["messages"][2]["content"][0]["content"][0]["text"]
    assert "acme/harbor" in shown
    assert "brass" not in shown


def test_synthesize_without_a_model_gives_the_evidence(tools):
    tools.remember("Sessions", "Sessions live in Redis and survive a deploy.")
    answer = tools.call("synthesize", objective="Where do sessions live?")
    assert (answer["answer"], answer["stopReason"]) == (None, "no_sampling")
    assert [each["code"] for each in answer["evidence"]] == ["MEM-001"]


def test_synthesize_gives_the_evidence_where_the_client_refuses_to_ask(tools):
    tools.remember("Sessions", "Sessions live in Redis and survive a deploy.")
    tools.capabilities = {"sampling": {}}
    tools.answers = [RefusedError(Refusal("unavailable", "The user said no."))] * 2
    objective = {"objective": "Where do sessions live?"}
    answer = tools.call("synthesize", **objective)
    assert (answer["answer"], answer["stopReason"]) == (None, "refused")
    assert [each["code"] for each in answer["evidence"]] == ["MEM-001"]
    text = tools.result("synthesize", **objective)["content"][0]["text"]
    assert "This client refused to ask its model" in text


def test_synthesize_says_where_no_answer_came_in_time(tools):
    tools.capabilities = {"sampling": {}}
    tools.answers = [RefusedError(Refusal("unavailable", "Too late.", retryable=True))]
    with pytest.raises(Refused, match="Too late"):
        tools.call("synthesize", objective="Where do sessions live?")


def test_an_empty_answer_of_the_model_is_an_error_that_may_be_tried_again(tools):
    tools.capabilities = {"sampling": {}}
    tools.answers = [text_reply("  ")]
    with pytest.raises(Refused) as refused:
        tools.call("synthesize", objective="What is known?")
    assert refused.value.code == "unavailable"


@pytest.mark.parametrize(
    "content",
    [
        {"phase": [], "description": {}},
        {"phase": "build", "description": 5},
        {"phase": "build"},
        {"phase": "build", "description": "x", "priority": 9},
    ],
)
def test_a_form_that_comes_back_with_something_else_makes_no_task(tools, content):
    tools.capabilities = {"elicitation": {}}
    tools.answers = [{"action": "accept", "content": content}]
    with pytest.raises(Refused, match="invalid_arguments: The form came back with something else"):
        tools.call("task-write", interactive=True, title="From a form")
    assert tools.rows("task-read", "tasks") == []


def test_an_interactive_task_asks_for_what_is_missing_only(tools):
    tools.capabilities = {"elicitation": {"form": {}}}
    filled = {"phase": "execution", "description": "Context, steps, acceptance.", "priority": 5}
    tools.answers = [{"action": "accept", "content": filled}]
    made = tools.call("task-write", interactive=True, title="From a form")
    assert (made["title"], made["phase"], made["priority"]) == ("From a form", "execution", 5)
    ((method, params),) = tools.asked
    assert method == "elicitation/create"
    assert params["requestedSchema"]["required"] == ["phase", "description"]
    assert "title" not in params["requestedSchema"]["properties"]


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_a_form_that_the_user_does_not_accept_writes_nothing(tools, action):
    tools.capabilities = {"elicitation": {"form": {}}}
    tools.answers = [{"action": action}]
    with pytest.raises(Refused, match=action):
        tools.call("task-write", interactive=True)
    assert tools.call("task-read")["total"] == 0


def test_a_refused_form_and_a_client_without_forms_name_the_plain_arguments(tools):
    with pytest.raises(Refused, match="phase, title and description"):
        tools.call("task-write", interactive=True)
    tools.capabilities = {"elicitation": {"form": {}}}
    tools.answers = [RefusedError(Refusal("unavailable", "The client did not answer in time"))]
    with pytest.raises(Refused):
        tools.call("task-write", interactive=True)
