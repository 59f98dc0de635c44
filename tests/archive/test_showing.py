"""What stands around a memory's words in its source."""

from __future__ import annotations

from memrpc.archive import fitting, rules
from memrpc.archive.answers import RecallAnswer
from tests.archive.scenes import Archive, contents

OLD, NEW = "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"


def contexts(answer: RecallAnswer) -> list[str | None]:
    return [memory.context for memory in answer.memories]


def test_a_memory_comes_with_what_its_source_says_around_it(archive: Archive) -> None:
    text = "Samira replaced the stopcock. It is behind the coal hatch."
    archive.record("e", text)
    answer = archive.recall("stopcock")
    assert contents(answer) == ["Samira replaced the stopcock."]
    assert contexts(answer) == [text]


def test_what_is_the_whole_source_needs_no_context(archive: Archive) -> None:
    archive.record("e", "I like tea.")
    assert contexts(archive.recall("tea")) == [None]


def test_a_long_source_is_shown_around_the_memory(archive: Archive) -> None:
    archive.record("e", "Words before it. " * 100 + "The zebra sleeps. " + "Words after it. " * 100)
    (context,) = contexts(archive.recall("zebra"))
    assert context is not None
    assert len(context) == rules.MAX_CONTEXT_CHARS
    before, zebra, after = context.partition("The zebra sleeps.")
    assert zebra
    assert abs(len(before) - len(after)) <= 1


def test_the_context_shows_no_statement_that_no_longer_holds(archive: Archive) -> None:
    drawn = archive.record("e", "The port is 5432. The host is alpha.", occurred_at=OLD).memory_ids
    archive.correct(drawn[0], "The port is 5433.")
    assert contexts(archive.recall("host alpha")) == ["[…] The host is alpha."]


def test_a_past_view_shows_nothing_that_was_said_later(archive: Archive) -> None:
    archive.record("e", "We use Postgres since 2019. We hired Mika.", occurred_at=NEW)
    assert contexts(archive.recall("Postgres", as_of=OLD)) == [None]


def test_two_memories_of_one_source_share_its_context(archive: Archive) -> None:
    text = "Mia likes tea. Tom likes tea. Tom likes milk."
    archive.record("e", text)
    assert contexts(archive.recall("tea")) == [text, None]


def test_only_the_best_matches_have_a_context(archive: Archive) -> None:
    for number in range(8):
        archive.record(f"e{number}", f"I like tea number {number}. It is fine.")
    shown = contexts(archive.recall("tea"))
    assert [context is not None for context in shown] == [True] * 5 + [False] * 3


def test_the_context_goes_first_when_an_answer_grows(archive: Archive) -> None:
    for number in range(8):
        archive.record(f"e{number}", f"I like tea number {number}. It is fine.")

    def size(answer: RecallAnswer) -> int:
        return 100 + sum(1 for each in contexts(answer) if each)

    def counted(max_chars: int) -> int:
        answer = archive.recall("tea", max_chars=max_chars, measure=size)
        return sum(1 for each in contexts(answer) if each)

    least = 105 / fitting.ROOM_FOR_CONTEXT
    assert [counted(int(least) + 1), counted(int(least) - 1), counted(104)] == [5, 2, 0]
