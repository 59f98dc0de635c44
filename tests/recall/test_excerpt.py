from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from memrpc.recall.excerpt import Excerpt, excerpt

from .shelves import any_text

FILLER = "Nothing of note happened on the way to the office that day. " * 20


@given(any_text, any_text, st.integers(1, 400))
def test_an_excerpt_is_a_span_of_the_text(text: str, question: str, max_chars: int) -> None:
    found = excerpt(text, question, max_chars)
    assert found.text == text[found.start : found.start + len(found.text)]
    assert len(found.text) == min(len(text), max_chars)
    assert found.truncated == (len(text) > max_chars)


def test_a_text_that_fits_comes_whole() -> None:
    assert excerpt("short", "anything", 5) == Excerpt("short", 0, truncated=False)


def test_an_excerpt_surrounds_the_match() -> None:
    text = FILLER + "The password of the router is on the fridge. " + FILLER
    found = excerpt(text, "where is the router's password?", 120)
    assert "password of the router is on the fridge" in found.text


def test_an_excerpt_counts_code_points_not_bytes() -> None:
    text = "🚀漢字。" * 200 + "密码在冰箱上。" + "🚀漢字。" * 200
    found = excerpt(text, "密码", 50)
    assert "密码在冰箱上" in found.text


def test_what_stands_in_every_stretch_does_not_draw_the_excerpt() -> None:
    text = "Alice spoke. " * 100 + "Alice moved to Lyon. " + "Alice spoke. " * 100
    assert "Lyon" in excerpt(text, "When did Alice go to Lyon?", 100).text


def test_one_rare_word_draws_the_excerpt_more_than_many_frequent_ones() -> None:
    text = "Alice and Bob met Carol. " * 40 + "Rain fell. " * 40 + "Lyon." + " Rain fell." * 40
    assert "Lyon" in excerpt(text, "Alice Bob Carol Lyon", 100).text


def test_an_excerpt_of_the_longest_event_is_found_at_once() -> None:
    text = "word and another " * 11_800
    started = time.perf_counter()
    excerpt(text, "another missing thing", 2_000)
    assert time.perf_counter() - started < 2
