"""Following ``next_offset`` through all that matches a question."""

from __future__ import annotations

import pytest

from memrpc.archive.answers import RecallAnswer
from memrpc.archive.times import DAY_US
from tests.archive.scenes import Archive


def paged(archive: Archive, limit: int, **fields) -> list[str]:
    """What following ``next_offset`` to its end tells, with an answer's size as the server has."""
    told: list[str] = []
    offset: int | None = 0
    while offset is not None:
        answer = archive.recall(
            "pump leaks oil", measure=measured, limit=limit, offset=offset, **fields
        )
        merged = sorted((*answer.memories, *answer.raw), key=lambda match: -match.score)
        told += [match.event_id for match in merged]
        offset = answer.next_offset
    return told


def measured(answer: RecallAnswer) -> int:
    return len(str(answer))


@pytest.mark.parametrize("limit", [1, 7, 30, 100])
def test_pages_repeat_no_match_and_leave_none_out(archive: Archive, limit: int) -> None:
    ids = [f"e{number}" for number in range(130)]
    for number, event_id in enumerate(ids):
        archive.record(event_id, f"The pump number {number} leaks oil." + " x" * (number % 7 * 40))
    told = paged(archive, limit)
    assert len(told) == len(ids)
    assert set(told) == set(ids)


@pytest.mark.parametrize("limit", [10, 45])
def test_a_deeper_page_does_not_turn_the_ones_before_round(archive: Archive, limit: int) -> None:
    ids = [f"e{number}" for number in range(220)]
    for number, event_id in enumerate(ids):
        archive.now += DAY_US
        archive.record(event_id, f"Pump w{number}x leaks oil near gate g{number}y.")
    told = paged(archive, limit)
    assert len(told) == len(ids)
    assert set(told) == set(ids)


def test_many_parts_of_few_long_texts_do_not_hide_the_others(archive: Archive) -> None:
    ids = [f"e{number}" for number in range(60)]
    for event_id in ids:
        archive.record(event_id, "The pump leaks oil and water from the gasket. " * 80)
    assert sorted(paged(archive, 10)) == sorted(ids)
