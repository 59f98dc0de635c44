from __future__ import annotations

import json

import pytest

from memrpc.archive import recalling
from memrpc.archive.answers import RecallAnswer
from memrpc.archive.model import Method
from memrpc.archive.recalling import RecallInput
from memrpc.surface.shapes import to_json
from tests.archive.scenes import Archive, contents, excerpts


def measure(answer: RecallAnswer) -> int:
    return len(json.dumps(to_json(answer), ensure_ascii=False, separators=(",", ":")))


def recall(archive: Archive, query: str, **fields) -> RecallAnswer:
    request = RecallInput(query, **fields)
    answer = recalling.recall(archive.db, request, now=archive.now, measure=measure)
    assert measure(answer) <= request.max_chars or len(answer.memories + answer.raw) == 1
    return answer


def test_a_small_answer_stays_whole(archive: Archive) -> None:
    archive.record("e", "I like tea.")
    answer = recall(archive, "tea")
    assert (contents(answer), answer.truncated, answer.next_offset) == (["I like tea."], None, None)


def test_excerpts_shrink_before_anything_goes(archive: Archive) -> None:
    for number in range(10):
        text = f"Is tea number {number} good? " + "Does it matter at all? " * 100
        archive.commit(f"e{number}", text, method=Method.NONE)
    answer = recall(archive, "tea number")
    assert len(answer.raw) == 10
    assert {len(excerpt) for excerpt in excerpts(answer)} == {500}
    assert all("tea number" in excerpt for excerpt in excerpts(answer))
    assert all(event.truncated for event in answer.raw)
    assert answer.truncated is None


def test_long_contents_are_cut_next(archive: Archive) -> None:
    for number in range(3):
        archive.record(f"e{number}", f"Tea number {number} is " + "very " * 700 + "good.")
    answer = recall(archive, "tea number")
    assert [len(content) for content in contents(answer)] == [2_000] * 3
    assert [memory.truncated for memory in answer.memories] == [True] * 3
    assert answer.truncated is None


def test_b80_then_the_tail_goes_and_the_answer_says_where_it_continues(archive: Archive) -> None:
    for number in range(100):
        archive.record(f"e{number}", f"Tea number {number} is " + "very " * 790 + "good.")
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        answer = recall(archive, "tea number", limit=100, offset=offset)
        seen += [memory.event_id for memory in answer.memories]
        assert answer.truncated is (True if answer.next_offset else None)
        offset = answer.next_offset
    assert sorted(seen) == sorted({f"e{number}" for number in range(100)})


@pytest.mark.parametrize("text", ["\x01" * 1_500 + " tea is good", 'tea "\\' * 900])
def test_one_record_always_stays(archive: Archive, text: str) -> None:
    archive.record("e", text)
    answer = recall(archive, "tea", max_chars=900)
    assert len(answer.memories + answer.raw) == 1


def test_nothing_is_cut_within_a_code_point(archive: Archive) -> None:
    for number in range(9):
        archive.record(f"e{number}", f"Tea number {number} is " + "😀" * 3_000)
    answer = recall(archive, "tea number")
    json.dumps(to_json(answer)).encode("utf-8", "strict")
