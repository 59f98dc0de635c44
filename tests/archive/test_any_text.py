"""No text is an error, whatever it holds and however long it is."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st

from memrpc.archive import assertions, superseding
from memrpc.archive.model import Scope
from tests.archive.scenes import Archive
from tests.archive.statements import contradict
from tests.memory_file import open_database
from tests.recall.shelves import any_text

LONGEST = 200_000
told = Archive(open_database())
told.record("e1", "My favourite colour is blue. We moved from Lyon to Porto.")
told.record("e2", "用户服务器部署在腾讯云国内节点。データベースは大阪です。")
visible = any_text.filter(str.strip)


@settings(max_examples=60, deadline=None)
@given(visible, st.sampled_from([1, 2, 100, LONGEST]))
@example("a ", LONGEST)
@example("\ud800", 1)
@example("from to ", LONGEST)
@example("\u0e01", LONGEST)
def test_any_text_of_any_length_can_be_asked(text: str, times: int) -> None:
    asked = (text * times)[:LONGEST]
    answer = told.recall(asked, include_history=True)
    assert answer.scope == Scope()
    assert answer.reason is not None or answer.memories or answer.raw


@settings(max_examples=200, deadline=None)
@given(any_text, any_text)
@example("from " * 60, "from " * 60)
@example("is " * 100, "is 1 " * 60)
def test_any_two_texts_can_be_compared(one: str, other: str) -> None:
    assert contradict(one, other) is contradict(other, one)
    if superseding.names_an_end(one):
        assert superseding.ends(one, other) in {True, False}
    assert all(each.value for each in assertions.assertions(one))
