from __future__ import annotations

import pytest

from memrpc.archive import resuming
from memrpc.archive.answers import TokenMethod
from memrpc.archive.assertions import MAX_CHARS
from memrpc.archive.model import Method
from memrpc.archive.resuming import ResumeInput, TokenCounter
from tests.archive.scenes import SECOND, Archive, contents, excerpts
from tests.archive.statements import contradict

OLD, NEW, NEWEST = "2026-01-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-05-01T00:00:00Z"

CONTRARY = [
    ("My favourite colour is blue.", "My favourite colour is green."),
    ("I live in Lyon.", "I live in Porto with my sister."),
    ("The deadline for Orion is 3 March.", "Orion's deadline is 17 March."),
    ("We use Jina for web search.", "We use Exa for web search."),
    ("The invoice service stores its rows in Solr.", "The invoice service stores its rows in Exa."),
    ("The billing team deploys on Thursday.", "The billing team deploys on Monday."),
    ("I eat meat.", "I don't eat meat."),
    ("I love Chinese food.", "I hate Chinese food."),
    ("The API allows 100 requests per minute.", "The API allows 250 requests per minute."),
    ("The team lead is Anna.", "The team lead is Bernd."),
    ("The office is in Berlin.", "The office is in Munich."),
    ("The Orion project is led by Dana.", "The Orion project is led by Sam."),
    ("The weekly meeting is on Tuesday.", "The weekly meeting is on Friday at 10."),
    ("My dog is called Rex.", "My dog is called Bello."),
    ("Deploys happen on Friday.", "Deploys happen on Monday."),
    ("My flight leaves at 9:40.", "My flight leaves at 11:15."),
    ("Our build tool is make.", "Our build tool is ninja."),
    ("我住在北京。", "我住在上海。"),
    ("数据库的端口是5432。", "数据库端口现在是5433。"),
    ("私の好きな色は青です。", "私の好きな色は赤です。"),
]
COMPATIBLE = [
    ("I like tea.", "I like coffee."),
    ("We use Postgres.", "We use Redis."),
    ("We use Postgres for billing.", "We use MySQL for search."),
    ("The view is amazing.", "The view is stunning."),
    ("My kids are so excited.", "My kids are so happy."),
    ("The deadline is 3 March.", "The deadline is 3 March at noon."),
    ("The office was in Berlin.", "The office is in Munich."),
    ("I ran 5 km in the park.", "I ran 6 km in the park."),
    ("Mia lives in Lyon.", "Tom lives in Porto."),
    ("My favourite colour might be blue.", "My favourite colour is green."),
    ("The port is not 5432.", "The port is 5433."),
    ("我喜欢茶。", "我喜欢咖啡。"),
]


@pytest.mark.parametrize(("one", "other"), CONTRARY)
def test_statements_that_cannot_both_hold_are_recognised(one: str, other: str) -> None:
    assert contradict(one, other)
    assert contradict(other, one)


@pytest.mark.parametrize(("one", "other"), COMPATIBLE)
def test_statements_that_may_both_hold_are_left_alone(one: str, other: str) -> None:
    assert not contradict(one, other)


def test_a_long_text_is_not_read() -> None:
    padding = "x" * MAX_CHARS
    assert not contradict(f"The port is 1 {padding}", f"The port is 2 {padding}")


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 2, 0)])
def test_both_are_shown_newest_first_and_dated_with_a_warning(
    archive: Archive, order: tuple[int, ...]
) -> None:
    said = [("e0", "blue", OLD), ("e1", "green", NEW), ("e2", "red", NEWEST)]
    for place in order:
        event_id, colour, when = said[place]
        archive.record(event_id, f"My favourite colour is {colour}.", occurred_at=when)
    answer = archive.recall("what is my favourite colour, blue or what")
    assert [memory.event_id for memory in answer.memories] == ["e2", "e1", "e0"]
    assert [memory.occurred_at for memory in answer.memories] == [NEWEST, NEW, OLD]
    scores = [memory.score for memory in answer.memories]
    assert scores == sorted(scores, reverse=True)
    named = ", ".join(f"{each.memory_id} ({each.occurred_at})" for each in answer.memories)
    (warning,) = answer.warnings
    assert warning.startswith(f"These contradict each other, newest first: {named}. ")


def test_texts_without_memories_are_compared_too(archive: Archive) -> None:
    archive.commit("e0", "The staging port is 5432.", occurred_at=OLD, method=Method.NONE)
    archive.commit("e1", "The staging port is 5433.", occurred_at=NEW, method=Method.NONE)
    answer = archive.recall("staging port 5432")
    assert excerpts(answer) == ["The staging port is 5433.", "The staging port is 5432."]
    assert answer.warnings[0].startswith("These contradict each other, newest first: e1 (")


def test_what_one_speaker_says_of_himself_contradicts_no_other(archive: Archive) -> None:
    archive.record("e0", "I live in Lyon.", source="Mia")
    archive.record("e1", "I live in Porto.", source="Tom")
    assert archive.recall("who lives in Lyon or Porto").warnings == ()


def test_a_named_change_comes_before_what_it_may_end(archive: Archive) -> None:
    archive.record("e0", "Our vector store is Qdrant.", occurred_at=OLD)
    archive.record("e1", "We moved from Qdrant to pgvector.", occurred_at=NEW)
    answer = archive.recall("vector store Qdrant")
    assert [memory.event_id for memory in answer.memories] == ["e1", "e0"]
    assert len(answer.warnings) == 1


def test_a_corrected_statement_contradicts_nothing(archive: Archive) -> None:
    (old,) = archive.record("e0", "My favourite colour is blue.").memory_ids
    archive.correct(old, "My favourite colour is green.")
    answer = archive.recall("favourite colour", include_history=True)
    assert len(answer.memories) == 2
    assert answer.warnings == ()


def test_a_correction_speaks_for_whoever_it_corrects(archive: Archive) -> None:
    old = archive.record("old", "I live in Lyon.", source="Ann", occurred_at=OLD).memory_ids[0]
    once = archive.correct(old, "I live in Porto.", valid_at=NEW)
    archive.correct(once.replacement_id, "I live in Faro.", valid_at=NEW)
    archive.record("bob", "I live in Rome.", source="Bob", occurred_at=NEWEST)
    assert archive.recall("live in").warnings == ()
    archive.now += SECOND
    archive.record("new", "I live in Bern.", source="Ann")
    answer = archive.recall("live in")
    assert contents(answer)[0] == "I live in Bern."
    (warning,) = answer.warnings
    assert answer.memories[0].memory_id in warning
    assert archive.record("b", "We changed from Faro to Bern.", source="Ann")
    assert "I live in Faro." in contents(archive.recall("Faro"))
    assert archive.recall("Faro").warnings != ()


def test_what_was_corrected_once_and_said_twice_is_warned_of(archive: Archive) -> None:
    archive.record("first", "User likes tea.", occurred_at=OLD)
    second = archive.record("second", "User likes tea", source="notes", occurred_at=NEW)
    assert archive.recall("likes").warnings == ()
    archive.correct(second.memory_ids[0], "User likes coffee.")
    answer = archive.recall("likes")
    assert contents(answer) == ["User likes coffee.", "User likes tea."]
    (warning,) = answer.warnings
    assert "newest first" in warning


def test_a_correction_of_the_time_alone_contradicts_no_repetition(archive: Archive) -> None:
    first = archive.record("first", "User likes tea.", occurred_at=NEW)
    archive.record("second", "User likes tea.", occurred_at=NEWEST)
    archive.correct(first.memory_ids[0], "User likes tea.", valid_at=OLD)
    assert len(contents(archive.recall("likes"))) == 2
    assert archive.recall("likes").warnings == ()


def test_only_what_is_shown_is_warned_of(archive: Archive) -> None:
    for number in range(3):
        archive.record(f"e{number}", f"The staging port is {5432 + number}.")
    assert archive.recall("staging port", limit=1).warnings == ()
    (warning,) = archive.recall("staging port", limit=2).warnings
    assert warning.count("2026-06-01") == 2


def test_a_resumed_session_is_told_the_newest_first(archive: Archive) -> None:
    archive.record("e0", "My favourite colour is blue.", occurred_at=OLD)
    archive.record("e1", "My favourite colour is green.", occurred_at=NEW)
    counter = TokenCounter(TokenMethod("characters", exact=True), len)
    resume = ResumeInput("favourite colour blue", token_budget=100_000)
    with archive.db:
        answer = resuming.resume(archive.db, resume, now=archive.now, counters=[counter])
    assert answer.context.index("green") < answer.context.index("blue")


def test_nothing_recalled_is_nothing_to_compare(archive: Archive) -> None:
    archive.record("e0", "The port is 5432.")
    answer = archive.recall("zebra")
    assert (contents(answer), answer.warnings) == ([], ())
