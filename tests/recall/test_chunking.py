from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrpc.recall.chunking import CHUNK_CHARS, WHOLE_CHARS, chunks


@given(st.text(st.sampled_from("ab .,\n。\U0001f680"), max_size=5_000))
def test_chunks_cover_the_text_without_gaps_or_overlaps(text: str) -> None:
    found = list(chunks(text))
    assert "".join(each.text for each in found) == text
    assert all(text[each.start :].startswith(each.text) for each in found)
    assert all(len(each.text) <= CHUNK_CHARS for each in found)


@pytest.mark.parametrize(("length", "count"), [(0, 1), (WHOLE_CHARS - 1, 1), (WHOLE_CHARS, 1)])
def test_a_text_that_fits_is_one_chunk(length: int, count: int) -> None:
    assert len(list(chunks("x" * length))) == count


def test_a_long_text_is_cut_where_a_paragraph_ends() -> None:
    first = "word " * 100 + "\n\n"
    found = list(chunks(first + "other " * 100))
    assert found[0].text == first


def test_a_pause_near_the_beginning_does_not_make_a_tiny_chunk() -> None:
    found = list(chunks("Title\n\n" + "word " * 300))
    assert min(len(each.text) for each in found[:-1]) >= 400


def test_a_long_chinese_text_is_cut_after_a_full_stop() -> None:
    found = list(chunks(("字" * 49 + "。") * 20))
    assert all(each.text.endswith("。") for each in found)
