from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrpc.archive import masking

texts = st.text(alphabet="abc ", max_size=30)
quotes = st.sets(st.text(alphabet="abc", min_size=1, max_size=4), max_size=4)


@given(texts, quotes)
def test_a_blanked_text_keeps_its_length_and_loses_the_quotes(text: str, dead: set[str]) -> None:
    blanked = masking.blank(text, dead)
    assert len(blanked) == len(text)
    assert not any(quote in blanked for quote in dead)


@given(texts, quotes)
def test_a_shown_text_holds_no_quote(text: str, dead: set[str]) -> None:
    assert not any(quote in masking.show(text, dead) for quote in dead)


@given(st.text(), st.integers(0, 20), st.integers(0, 20))
def test_without_quotes_the_text_is_shown_as_it_is(text: str, start: int, length: int) -> None:
    assert masking.show(text, set(), start, start + length) == text[start : start + length]


@pytest.mark.parametrize(
    ("start", "end", "shown"),
    [(0, 20, "I […] now"), (3, 20, "[…] now"), (0, 4, "I […]"), (9, 12, "now"), (3, 5, "[…]")],
)
def test_a_cut_through_a_quote_shows_the_mark(start: int, end: int, shown: str) -> None:
    assert masking.show("I am old now", {"am old"}, start, end) == shown


def test_overlapping_quotes_leave_no_rest() -> None:
    assert masking.show("a b c d", {"a b", "b c"}) == "[…] d"


def test_a_statement_that_is_said_thousands_of_times_is_covered_at_once() -> None:
    text = "I eat. " * 28_000
    begun = time.process_time()
    for _ in range(10):
        blanked = masking.blank(text, ["I eat."])
    assert time.process_time() - begun < 3
    assert blanked == "       " * 28_000
