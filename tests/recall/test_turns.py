from __future__ import annotations

import apsw
import pytest

from memrpc.recall import index
from memrpc.recall.model import Kind
from memrpc.recall.turns import ASKING_CHARS, asks

from .shelves import document, found

ASKED = "Where did you go in May?"


def others(db: apsw.Connection) -> None:
    for subject in range(50, 80):
        index.put(db, document(subject, "hello there"))


@pytest.mark.parametrize(
    "text", ["Where to?", "Nice! Where to?", "Really?!", '"Why?"', "哪里？", "أين؟", "Ok? 😀 "]
)
def test_who_ends_with_a_question_asks(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize(
    "text", ["", "To Lyon.", "Where to? I would go.", "See /find?q=1", "?" + "a" * 5]
)
def test_who_ends_with_anything_else_does_not_ask(text: str) -> None:
    assert not asks(text)


def test_a_long_text_says_more_than_its_last_question() -> None:
    said = "a" * (ASKING_CHARS - 1)
    assert asks(f"{said}?")
    assert not asks(f"a{said}?")


def test_an_answer_outranks_a_question_with_the_same_words(db: apsw.Connection) -> None:
    index.put(db, document(1, "Bob, did you like the old harbour of Lyon?", speaker="Ann"))
    index.put(db, document(2, "Bob, you would like the old harbour of Lyon.", speaker="Ann"))
    others(db)
    assert found(db, "Who likes the old harbour of Lyon?")[0] == 2


def test_who_asks_about_himself_finds_what_he_asked(db: apsw.Connection) -> None:
    index.put(db, document(1, "How do I reach the old harbour of Lyon?", role="user"))
    index.put(db, document(2, "Take the tram to the old harbour.", role="assistant"))
    others(db)
    assert found(db, "What did I ask about the old harbour?")[0] == 1
    assert found(db, "What was asked about the old harbour?")[0] == 2


def test_what_follows_a_question_is_about_what_it_asks(db: apsw.Connection) -> None:
    index.put(db, document(1, "I sailed to Lisbon.", before=("It is a famous harbour.",)))
    index.put(db, document(2, "I sailed to Athens.", before=("Is there a famous harbour?",)))
    others(db)
    assert found(db, "famous harbour") == [2, 1]


def test_a_turn_that_says_next_to_nothing_comes_last(db: apsw.Connection) -> None:
    before = ("It was closed.",)
    index.put(db, document(1, "That harbour is so very odd.", before=before))
    index.put(
        db, document(2, "That harbour reopens whenever thunderstorms disappear.", before=before)
    )
    index.put(db, document(3, "That harbour is so very odd.", before=before))
    others(db)
    assert found(db, "harbour")[0] == 2


def test_an_assistant_is_not_the_user_whatever_the_role_says(db: apsw.Connection) -> None:
    index.put(db, document(1, "Lyon is nice", role="user", speaker="Assistant"))
    index.put(db, document(2, "Lyon is nice", role="user", speaker="user"))
    index.put(db, document(3, "Lyon is nice", role="user", speaker="Assistant"))
    assert found(db, "what did I say of Lyon?")[0] == 2


def test_only_what_somebody_said_is_a_turn(db: apsw.Connection) -> None:
    index.put(db, index.Document(Kind.TASK, 1, 1, ASKED, before=(ASKED,)))
    index.put(db, document(1, ASKED, before=(ASKED,)))
    rows = db.execute("SELECT kind, asks, answers FROM units ORDER BY kind").fetchall()
    assert rows == [("event", 1, 1), ("task", 0, 0)]


def test_a_unit_from_before_turns_is_indexed_anew_as_what_it_is(db: apsw.Connection) -> None:
    index.put(db, document(1, ASKED))
    db.execute("UPDATE units SET asks = 0").fetchall()
    index.put(db, document(1, ASKED))
    assert db.execute("SELECT asks FROM units").get == 1
