"""When a question is answered with nothing."""

from __future__ import annotations

import apsw
import pytest

from memrpc.recall import fusion, index, query, ranking, search
from memrpc.recall.lexical import Collection, WeighedTerm
from memrpc.recall.model import EmptyReason, SearchRequest
from tests.recall.shelves import document, fill

FACTS = [
    *(
        f"{name} goes to the dentist on {day}."
        for name, day in (("Mara", "Monday"), ("Tom", "Friday"))
    ),
    *(f"The shop number {number} sells bread." for number in range(20)),
]


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("When does Mara go to the dentist?", None),
        ("When does Adaeze go to the dentist?", EmptyReason.BELOW_RELEVANCE),
        ("when does adaeze go to the dentist?", None),
        ("Adaeze at the dentist", None),
    ],
)
def test_a_question_about_somebody_unknown_asks_for_more_than_its_other_words(
    db: apsw.Connection, question: str, reason: EmptyReason | None
) -> None:
    fill(db, FACTS)
    floor = 0.4
    assert search.search(db, SearchRequest(question, 1, floor=floor)).reason is reason


@pytest.mark.parametrize(
    ("speaker", "reason"), [("Mara", None), ("Tom", EmptyReason.BELOW_RELEVANCE)]
)
def test_a_question_that_names_a_speaker_is_not_about_a_stranger(
    db: apsw.Connection, speaker: str, reason: EmptyReason | None
) -> None:
    index.put(db, document(1, "The dentist gave me an apple.", speaker=speaker))
    for subject in range(2, 20):
        index.put(db, document(subject, f"Mara, shop {subject} sells bread.", speaker="Ina"))
    question = "What did Mara get from the dentist Adaeze?"
    assert search.search(db, SearchRequest(question, 1)).reason is reason


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("When does Adaeze go to Lyon?", {"adaeze", "lyon"}),
        ("Search Modbus Gateway Settings", set()),
        ("what is our SLA", set()),
        ("Wann geht die Frau mit dem Hund zum Zahnarzt und ist es die Praxis?", set()),
        ("what did Zoë’s friend Ina say", {"ina"}),
    ],
)
def test_names_are_what_has_a_capital_amid_an_english_sentence(
    question: str, names: set[str]
) -> None:
    assert query.parse(question).names == names


def test_fewer_units_are_asked_for_less_within_bounds() -> None:
    asked = [fusion.leniency(units) for units in (0, 1, 40, 120, 500, 1_000, 1_000_000)]
    assert asked == sorted(asked, reverse=True)
    assert asked[0] == asked[2] == pytest.approx(0.29, abs=0.01)
    assert asked[-2:] == [0.0, 0.0]


@pytest.mark.parametrize(("held", "is_doubted"), [(1, True), (0, False)])
def test_a_question_of_which_no_word_is_held_is_not_doubted(held: int, *, is_doubted: bool) -> None:
    terms = query.parse("when does Adaeze see the dentist")
    collection = Collection("event", "e1", units=20, tokens=200)
    content = [
        WeighedTerm.of(term, (held if ("dentist",) in term.spellings else 0,), collection)
        for term in terms.content
    ]
    assert ranking._names_a_stranger(content, terms) is is_doubted
