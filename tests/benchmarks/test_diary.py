"""The written diary through a spawned server: what a host shows its user."""

from __future__ import annotations

import pytest

from benchmarks.diary import __main__ as diary


def test_sixty_days_in_three_projects_are_asked_about_fifty_times() -> None:
    entries, questions = diary.entries(), diary.questions()
    assert len({entry.at[:10] for entry in entries}) == 60
    assert {entry.project for entry in entries} == {each.project for each in questions}
    assert len(questions) == 50
    assert len({each.text for each in questions}) == 50


def test_each_fact_stands_in_its_project() -> None:
    told = {each.project: "" for each in diary.questions()}
    for entry in diary.entries():
        told[entry.project] += entry.text
    for question in diary.questions():
        for fact in question.facts:
            assert any(each in told[question.project] for each in fact), question


def test_the_transcript_is_of_these_questions() -> None:
    text = diary.TRANSCRIPT.read_text(encoding="utf-8")
    asked = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert asked == [f"{each.project}: {each.text}" for each in diary.questions()]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_45_of_50_answers_show_the_fact_and_none_another_project() -> None:
    outcomes = diary.run()
    assert sum(each.is_right for each in outcomes) >= diary.LEAST_RIGHT
    assert sum(each.wrong_projects for each in outcomes) == 0
    assert max(each.tokens for each in outcomes) <= diary.MOST_TOKENS
