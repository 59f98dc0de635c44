"""B90: not a byte of one scope shows in another, over every way of reading."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memrpc.app import Application
from memrpc.settings import load
from tests.surface.conftest import Refused

SECRET = "xylocarp"  # noqa: S105 -- a word to look for
NAMES = st.sampled_from(["default", "a", "b"])
ELSEWHERE = [("a", "b"), ("b", "a"), ("b", "b"), ("default", "default"), ("A", "A")]


@pytest.fixture
def told(served):
    scope = {"persona_id": "a", "project_id": "a"}
    receipt = served.record(f"The {SECRET} password is 7.", event_id="s", session_id="x", **scope)
    served.call(
        "session_checkpoint",
        state={"goal": f"guard the {SECRET}"},
        covered_event_id="s",
        session_id="x",
        **scope,
    )
    return served, receipt


@pytest.mark.parametrize(("persona", "project"), ELSEWHERE)
def test_b90_no_tool_shows_another_scope(told, persona, project):
    served, receipt = told
    scope = {"persona_id": persona, "project_id": project}
    shown = [served.call("memory_recall", query=f"{SECRET} password", **scope)]
    shown.append(served.call("session_resume", query=SECRET, **scope))
    for record_id in ("s", *receipt["memory_ids"]):
        for tool, arguments in (
            ("memory_read", {"record_id": record_id}),
            ("memory_forget", {"record_id": record_id}),
            ("memory_correct", {"memory_id": record_id, "content": "c", "reason": "r"}),
            ("session_checkpoint", {"state": {"goal": "g"}, "covered_event_id": record_id}),
        ):
            with pytest.raises(Refused) as caught:
                served.call(tool, **arguments, **scope)
            assert caught.value.code == "not_found"
            shown.append({"message": caught.value.message, "details": caught.value.details})
    with pytest.raises(Refused) as caught:
        served.record("other", event_id="s", **scope)
    assert caught.value.code == "conflict"
    shown.append({"message": caught.value.message, "details": caught.value.details})
    assert SECRET not in json.dumps(shown)


@pytest.mark.parametrize(("persona", "project"), ELSEWHERE)
def test_b90_no_resource_prompt_or_completion_shows_another_scope(told, persona, project):
    served, _ = told
    ask = served.peer.ask
    shown = [
        ask("resources/list"),
        ask("resources/read", {"uri": f"persona://{persona}/current"}),
        ask(
            "prompts/get",
            {
                "name": "start_session",
                "arguments": {"persona_id": persona, "project_id": project},
            },
        ),
        ask(
            "completion/complete",
            {
                "ref": {"type": "ref/prompt", "name": "start_session"},
                "argument": {"name": "project_id", "value": ""},
            },
        ),
    ]
    assert SECRET not in json.dumps(shown)


def test_b88_an_empty_recall_names_near_projects_and_nothing_of_them(served):
    for project in ("tianda-for-woocommerce", "Tianda", "another"):
        served.record("The shop sells tea.", project_id=project)
    found = served.call("memory_recall", query="tea", project_id="tianda")
    assert found["reason"] == "scope_empty"
    assert "Tianda" in found["near_projects"]
    assert "another" not in found["near_projects"]
    assert found["memories"] == found["raw"] == []


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    told=st.lists(st.tuples(NAMES, NAMES), min_size=1, max_size=6),
    asked=st.tuples(NAMES, NAMES),
)
def test_whatever_is_told_where_a_scope_shows_its_own_alone(tmp_path_factory, told, asked):
    """The domain's side of the wall, for any order of scopes."""
    from memrpc.archive import recalling, recording
    from memrpc.archive.model import Role, Scope
    from memrpc.archive.recalling import RecallInput
    from memrpc.archive.recording import RecordInput

    path = tmp_path_factory.mktemp("walls") / "m.db"
    application = Application(load({"db": str(path)}))
    try:
        for number, scope in enumerate(told):
            text = f"The cellar key number {number} hangs by the door of {'-'.join(scope)}."
            entry = RecordInput(f"e{number}", text, Role.USER, "Ann", scope=Scope(*scope))
            application.database.write_blocking(
                lambda db, entry=entry: recording.record(db, entry, now=1_000_000)
            )
        question = RecallInput("cellar key", limit=100, scope=Scope(*asked))
        found = application.database.read_blocking(
            lambda db: recalling.recall(db, question, now=2_000_000)
        )
    finally:
        application.close()
    ids = {raw.event_id for raw in found.raw} | {m.event_id for m in found.memories}
    assert ids == {f"e{n}" for n, scope in enumerate(told) if scope == asked}
