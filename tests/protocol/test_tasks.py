"""The diagram of a task's states, and what a task is on the wire and in the store."""

from __future__ import annotations

from itertools import product

import pytest

from memrpc.protocol.tasks import (
    KEPT_MS,
    LOST_AFTER_MS,
    MOVES,
    Status,
    Task,
    call_of,
    created,
    detailed,
    from_text,
    new_task,
    to_text,
)
from tests.peer import envelope

ASKED = {"a": {"method": "roots/list", "params": {}}, "b": {"method": "roots/list", "params": {}}}
YES = {"action": "accept"}
ABLE = {"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}}
PARAMS = {"name": "t", "arguments": {"x": 1}, "_meta": envelope(ABLE, progressToken="p")}
TASK = Task("id", PARAMS, {}, 1_000, 1_000)
WAITING = TASK.move(Status.INPUT_REQUIRED, 2_000, outcome=ASKED)
ENDS = (Status.COMPLETED, Status.FAILED, Status.CANCELLED)


@pytest.mark.parametrize(("before", "after"), product(Status, Status))
def test_a_task_moves_where_the_diagram_leads_and_nowhere_else(before, after):
    """Source: the extension's state diagram; an end is an end."""
    moved = TASK._replace(status=before).move(after, 5_000)
    assert (moved is not None) == (after in MOVES[before])
    assert moved is None or (moved.status, moved.version, moved.updated_ms) == (after, 2, 5_000)


@pytest.mark.parametrize("end", ENDS)
def test_nothing_follows_an_end(end):
    assert MOVES[end] == frozenset()


def test_a_clock_that_goes_back_does_not_make_a_task_older():
    assert TASK.move(Status.WORKING, 500).updated_ms == 1_000


def test_answers_are_taken_one_by_one_and_the_last_sets_the_task_to_work():
    half = WAITING.answer({"a": YES}, 3_000)
    assert (half.status, half.outcome) == (Status.INPUT_REQUIRED, {"b": ASKED["b"]})
    whole = half.answer({"a": {"action": "decline"}, "b": YES}, 4_000)
    assert (whole.status, whole.outcome) == (Status.WORKING, None)
    assert whole.answers == {"a": YES, "b": YES}


@pytest.mark.parametrize("responses", [{}, {"c": YES}, {"a": 7}, {"a": None}, {"b": []}])
def test_what_answers_nothing_changes_nothing(responses):
    assert WAITING.answer(responses, 3_000) is None


@pytest.mark.parametrize("status", set(Status) - {Status.INPUT_REQUIRED})
def test_a_task_that_asks_nothing_takes_no_answer(status):
    assert TASK._replace(status=status).answer({"a": YES}, 3_000) is None


def test_only_a_task_that_works_can_be_lost():
    later = 1_000 + LOST_AFTER_MS
    assert not TASK.is_lost(later)
    assert TASK.is_lost(later + 1)
    assert not WAITING.is_lost(later * 100)


def test_a_handle_has_the_extension_s_members_and_no_others():
    times = {"createdAt": "1970-01-01T00:00:01.000Z", "lastUpdatedAt": "1970-01-01T00:00:01.000Z"}
    handle = {"taskId": "id", "status": "working", **times}
    intervals = {"ttlMs": KEPT_MS, "pollIntervalMs": 1_000}
    assert created(TASK) == {"resultType": "task", **handle, **intervals}
    assert detailed(TASK) == {**handle, **intervals}


def test_each_status_brings_its_own_member():
    brought = {
        status: detailed(TASK._replace(status=status, outcome={"x": 1})).keys()
        - detailed(TASK).keys()
        for status in Status
    }
    assert brought == {
        Status.WORKING: set(),
        Status.CANCELLED: set(),
        Status.INPUT_REQUIRED: {"inputRequests"},
        Status.COMPLETED: {"result"},
        Status.FAILED: {"error"},
    }


def test_the_time_to_live_grows_with_every_change():
    assert detailed(WAITING)["ttlMs"] == KEPT_MS + 1_000
    assert WAITING.expires_ms == 2_000 + KEPT_MS


@pytest.mark.parametrize("task", [TASK, WAITING, WAITING.answer({"a": YES, "b": YES}, 9_000)])
def test_a_task_is_kept_whole(task):
    assert from_text(to_text(task)) == task


def test_the_call_of_a_task_is_the_call_that_became_it():
    given = {**PARAMS, "inputResponses": {"a": YES}, "requestState": "v1.x.y"}
    call = call_of(TASK._replace(params=given))
    task = new_task("id", call, {"a": YES}, 1_000)
    assert task == TASK._replace(answers={"a": YES})
    again = call_of(task)
    assert (again.method, again.params) == ("tools/call", PARAMS)
    assert again.client.capabilities == ABLE
    assert again.revision is call.revision
