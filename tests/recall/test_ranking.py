from __future__ import annotations

import apsw
import pytest

from memrpc.recall import index
from memrpc.recall.lexical import Candidate, Collection, Question, WeighedTerm
from memrpc.recall.model import SearchRequest
from memrpc.recall.query import parse
from memrpc.recall.ranking import FARTHEST
from memrpc.recall.search import search

from .shelves import DAY_US, document, fill, found


def test_more_of_the_question_ranks_higher(db: apsw.Connection) -> None:
    fill(db, ["a cat", "a cat on a mat", "a mat and a cat and a hat"])
    assert found(db, "cat hat")[0] == 2


def test_a_rare_word_outweighs_a_frequent_one(db: apsw.Connection) -> None:
    fill(db, ["red car", "red house", "red tree", "green zebra"])
    assert found(db, "red zebra")[0] == 3


def best_score(db: apsw.Connection, question: str, units: int) -> float:
    """What the best hit gets where there are so many units."""
    db.execute("UPDATE collections SET units = ?", (units,)).fetchall()
    return search(db, SearchRequest(question, 1)).hits[0].score


def test_in_a_large_collection_words_weigh_no_more_than_in_a_small_one(db: apsw.Connection) -> None:
    fill(db, ["the zebra of the harbour", "a harbour", "a hat"])
    assert best_score(db, "zebra harbour", 3) < FARTHEST
    assert best_score(db, "zebra harbour", 1_000_000) == pytest.approx(FARTHEST)


def test_of_a_sentence_without_spaces_the_best_is_as_far_as_it_is(db: apsw.Connection) -> None:
    fill(db, ["会议室的投影仪密码是七三一九", "新仓库在青岛港"])
    assert best_score(db, "投影仪的密码是多少", 1_000_000) > FARTHEST


def test_the_named_speaker_comes_first(db: apsw.Connection) -> None:
    index.put(db, document(1, "I went to Lyon", speaker="Ann"))
    index.put(db, document(2, "I went to Lyon", speaker="Bob"))
    for subject in range(3, 30):
        index.put(db, document(subject, "hello there", speaker="Cy"))
    assert found(db, "When did Bob go to Lyon?")[0] == 2
    assert found(db, "When did Ann go to Lyon?")[0] == 1


def test_what_the_named_speaker_said_outranks_what_was_said_about_them(
    db: apsw.Connection,
) -> None:
    index.put(db, document(1, "Bob has been in Lyon", speaker="Ann"))
    index.put(db, document(2, "I was in Lyon", speaker="Bob"))
    for subject in range(3, 30):
        index.put(db, document(subject, "hello there", speaker="Cy"))
    assert found(db, "Was Bob in Lyon?")[0] == 2


def test_i_means_the_user(db: apsw.Connection) -> None:
    index.put(db, document(1, "Lyon is nice", role="assistant", occurred_at=DAY_US))
    index.put(db, document(2, "Lyon is nice", role="user"))
    fill(db, [])
    assert found(db, "what did I say of Lyon?")[0] == 2


def test_a_question_about_time_prefers_what_tells_a_time(db: apsw.Connection) -> None:
    index.put(db, document(1, "Lyon was really very nice", occurred_at=DAY_US))
    index.put(db, document(2, "Lyon was nice last summer", occurred_at=DAY_US))
    assert found(db, "when was Lyon?")[0] == 2


def test_a_session_that_is_about_it_lifts_its_turns(db: apsw.Connection) -> None:
    for subject, session, text in [
        (1, "a", "the zebra ran"),
        (2, "b", "the zebra ran"),
        (3, "b", "a zebra eats grass"),
        (4, "b", "a zebra has stripes"),
        *[(number, "c", "hello there") for number in range(5, 40)],
    ]:
        index.put(db, document(subject, text, session=session))
    hits = found(db, "zebra ran")
    assert hits.index(2) < hits.index(1)


def test_on_a_tie_the_newer_one_comes_first(db: apsw.Connection) -> None:
    index.put(db, document(1, "I like tea", occurred_at=2 * DAY_US))
    index.put(db, document(2, "I like tea", occurred_at=3 * DAY_US))
    assert found(db, "tea") == [2, 1]


def test_a_date_is_found_by_its_parts_and_by_its_month(db: apsw.Connection) -> None:
    index.put(db, document(1, "hello", occurred_at=1_683_540_000_000_000))
    for question in ("2023-05-08", "May 2023", "8 May"):
        assert found(db, question) == [1]


def test_an_answer_is_found_by_the_words_of_its_question(db: apsw.Connection) -> None:
    index.put(db, document(1, "Blue.", before=("What is your favourite colour?",)))
    index.put(db, document(2, "It rains."))
    assert found(db, "favourite colour") == [1]


def worth(question: str, own: str) -> float:
    """BM25 of a text of average length, where all terms of the question are equally rare."""
    collection = Collection("event", "e1", 100, 400)
    weighed = [WeighedTerm.of(term, (1,), collection) for term in parse(question).content]
    candidate = Candidate(1, "event", 1, 0, 0, 0, "", "", "", 0, 0, 0, 4, own, *[""] * 6)
    return Question(weighed, [], frozenset()).lexical(candidate, mean_tokens=4)[0]


def test_repeating_a_pair_of_a_sentence_adds_less_than_repeating_a_word() -> None:
    words = worth("zebra", "zebra " * 8) / worth("zebra", "zebra")
    pairs = worth("投影仪的密码是多少", "密码 " * 8) / worth("投影仪的密码是多少", "密码")
    assert 1 < pairs < words
