from __future__ import annotations

import time

import apsw
import pytest
from hypothesis import HealthCheck, example, given, settings

from memrpc.recall.query import MAX_COMMON_TERMS, MAX_TERMS, expression, parse

from .shelves import any_text, fill, found

settings.register_profile(
    "recall", suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
recall_settings = settings(settings.get_profile("recall"), max_examples=150)


@recall_settings
@given(any_text)
@example('" OR own:x NEAR(a b) ^c* {own}:d \x00 "" AND NOT -')
@example("\ud800")
def test_no_text_is_an_error_or_syntax(db: apsw.Connection, text: str) -> None:
    terms = parse(text)
    assert len(terms.content) <= MAX_TERMS
    assert len(terms.common) <= MAX_COMMON_TERMS
    for chosen in (terms.content, terms.common):
        if chosen:
            sql = "SELECT rowid FROM unit_text WHERE unit_text MATCH ?"
            db.execute(sql, (expression(chosen, "e1z"),)).fetchall()


@recall_settings
@given(any_text)
def test_a_text_with_anything_in_it_finds_itself(db: apsw.Connection, text: str) -> None:
    fill(db, [text[:100]])
    assert parse(text[:100]).is_blank or found(db, text[:100]) == [0]


@pytest.mark.parametrize(
    "question",
    ["a " * 10_000, "猫" * 50_000, "x" * 1_000_000, "🚀" * 50_000, "a-" * 50_000, "\ufdfa" * 9_000],
    ids=["words", "run", "letters", "symbols", "joints", "ligatures"],
)
def test_b05_an_absurdly_long_question_is_answered_at_once(
    db: apsw.Connection, question: str
) -> None:
    fill(db, ["a cat sat on a mat", "猫が好き"])
    started = time.perf_counter()
    found(db, question)
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    ("question", "asks"),
    [("When did she move?", True), ("What year was it?", True), ("Whenever", False)],
)
def test_a_question_about_time_is_recognised(question: str, *, asks: bool) -> None:
    assert parse(question).asks_when == asks


def test_how_a_japanese_sentence_asks_weighs_less_than_what_it_asks_for() -> None:
    terms = parse("東京の首都はどこですか").content
    weights = {term.spellings[0][0]: term.weight for term in terms}
    assert weights["東京"] == weights["首都"] == 1.0
    assert weights["どこ"] < weights["都は"] < 1.0


def test_a_chinese_word_that_asks_weighs_less_than_the_others() -> None:
    weights = {term.spellings[0][0]: term.weight for term in parse("中国的首都是什么").content}
    assert weights["什么"] < weights["首都"] == 1.0


def test_a_japanese_verb_is_found_in_another_word_with_its_stem(db: apsw.Connection) -> None:
    fill(db, ["赤沢銅山を買収した。", "日立鉱山と改名した。", "銅の産出量が増えた。"])
    assert found(db, "何という名前に改められましたか")[0] == 1
