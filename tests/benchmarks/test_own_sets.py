"""The generated sets: the same each time, honest about what is unknown, and held by the product."""

from __future__ import annotations

import pytest

from benchmarks.quality import own, own_sets


def test_the_generator_makes_the_same_sets_each_time() -> None:
    for make in (own_sets.facts, own_sets.unknown, own_sets.changes):
        assert make() == make()


def test_no_fact_answers_an_unknown_question() -> None:
    asked = {fact.question for fact in own_sets.facts()}
    assert asked.isdisjoint(own_sets.unknown())
    assert len(set(own_sets.unknown())) == 100


def test_a_question_does_not_repeat_its_answer() -> None:
    for change in own_sets.changes():
        assert change.old.question == change.new.question
        assert change.old.text != change.new.text
        assert change.old.text.removesuffix(".") not in change.stated


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_mark_that_must_hold_does() -> None:
    with own.serving() as host:
        marks = list(own.all_marks(host))
    assert [mark for mark in marks if not mark.holds] == []
