"""The state matrices, each cell of them, and the checks of single values."""

from __future__ import annotations

import itertools

import pytest

from memrpc.store.errors import DomainError, InvalidArguments, InvalidState, LimitExceeded
from memrpc.workspace import rules
from memrpc.workspace.model import HandoffStatus, TaskStatus
from memrpc.workspace.rules import Gate, Move

STATUSES = tuple(TaskStatus)
WORK, DONE, CANCELED = TaskStatus.IN_PROGRESS, TaskStatus.COMPLETED, TaskStatus.CANCELED
REFUSED = {(before, DONE) for before in STATUSES if before not in (WORK, DONE)}
STARTING = {(before, WORK) for before in STATUSES if before is not WORK}


def move(before, after, **facts) -> Move:
    return Move("TASK-001", before, after, **{"has_comment": True, **facts})


@pytest.mark.parametrize(("before", "after"), itertools.product(STATUSES, STATUSES))
def test_each_cell_of_the_matrix_has_the_gates_of_its_kind(before, after):
    gates = rules.TASK_MOVES[before, after]
    if before is after:
        assert gates is Gate.FREE
    elif (before, after) in REFUSED:
        assert gates is Gate.PATH
    else:
        finishes, starts = after is DONE, (before, after) in STARTING
        assert Gate.COMMENT in gates
        assert (Gate.DEPENDENCY in gates) is (finishes or starts)
        assert (Gate.CHILDREN in gates) is finishes


@pytest.mark.parametrize(("before", "after"), sorted(REFUSED))
def test_a_task_is_completed_from_in_progress_only(before, after):
    with pytest.raises(InvalidState, match="in_progress"):
        rules.check_move(move(before, after), force=False)
    rules.check_move(move(before, after), force=True)


def test_a_change_of_status_needs_a_comment():
    with pytest.raises(InvalidArguments, match="comment is required"):
        rules.check_move(move(TaskStatus.BACKLOG, WORK, has_comment=False), force=False)


def test_an_open_dependency_keeps_a_task_from_starting_and_from_finishing():
    for before, after in ((TaskStatus.PENDING, WORK), (WORK, DONE)):
        with pytest.raises(InvalidState, match="TASK-009"):
            rules.check_move(move(before, after, open_dependency="TASK-009"), force=False)
        rules.check_move(move(before, after, open_dependency="TASK-009"), force=True)


def test_open_children_keep_a_task_from_finishing_and_are_named():
    waiting = move(WORK, DONE, open_children=("TASK-002", "TASK-003"))
    with pytest.raises(InvalidState, match="TASK-002, TASK-003"):
        rules.check_move(waiting, force=False)
    rules.check_move(move(WORK, CANCELED, open_children=("TASK-002",)), force=False)


def test_a_new_task_starts_in_the_backlog_or_pending():
    assert rules.TASK_STARTS == (TaskStatus.BACKLOG, TaskStatus.PENDING)
    for status in set(STATUSES) - set(rules.TASK_STARTS):
        with pytest.raises(InvalidArguments):
            rules.check_start(status)


@pytest.mark.parametrize(
    ("before", "after"), itertools.product(tuple(HandoffStatus), tuple(HandoffStatus))
)
def test_a_handoff_is_answered_once(before, after):
    is_answer = before is HandoffStatus.PENDING and after is not HandoffStatus.PENDING
    if is_answer:
        rules.check_handoff_move(before, after, "h")
    else:
        with pytest.raises(InvalidState):
            rules.check_handoff_move(before, after, "h")


@pytest.mark.parametrize(
    "title", ["[agent: x] Use Redis", "[2026-05-01] Use Redis", " [role:dev, source_x] Redis"]
)
def test_a_title_that_repeats_metadata_is_refused(title):
    with pytest.raises(InvalidArguments, match="bare title"):
        rules.check_title(title)


@pytest.mark.parametrize("title", ["[WIP] Use Redis", "Use Redis [agent: x]"])
def test_other_brackets_in_a_title_are_no_metadata(title):
    assert rules.check_title(title) == title


@pytest.mark.parametrize("code", ["", "  ", "A B", "x" * 21, "a\nb"])
def test_a_code_is_a_handle_without_spaces(code):
    with pytest.raises(InvalidArguments, match="code"):
        rules.check_code(code)


def test_b48_blank_and_short_texts_are_refused_by_name_and_limit():
    cases = (
        ("title", "  ", rules.ENTRY_TITLE_CHARS),
        ("content", "nine char", rules.CONTENT_CHARS),
    )
    for field, value, bounds in cases:
        with pytest.raises(InvalidArguments, match=rf"{field} must have at least {bounds[0]}"):
            rules.check_text(value, field, bounds)
    with pytest.raises(LimitExceeded, match="50,000"):
        rules.check_text("x" * 50_001, "content", rules.CONTENT_CHARS)


def test_a_handoff_of_nothing_is_refused():
    with pytest.raises(DomainError, match="unfinished work"):
        rules.check_handoff_reason(None, has_task=False, context={"next_steps": []})
    rules.check_handoff_reason(None, has_task=False, context={"blockers": ["no key"]})
