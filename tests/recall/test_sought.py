"""What a question asks for, looked for in one text."""

from __future__ import annotations

import pytest

from memrpc.recall.query import parse
from memrpc.recall.sought import Sought


@pytest.mark.parametrize(
    ("question", "text", "share"),
    [
        ("harbour crane", "The crane stands still.", 0.5),
        ("harbour crane", "Cranes of the harbours", 1.0),
        ("max_hits limit", "The limit is maxHits.", 1.0),
        ("max_hits limit", "The hits are at their max.", 0.0),
        ("投影仪", "会议室的投影仪在三楼", 1.0),
        ("", "Anything at all", 0.0),
    ],
)
def test_a_text_holds_a_share_of_the_terms(question: str, text: str, share: float) -> None:
    assert Sought(parse(question)).share(text) == share


def test_a_term_is_held_by_what_begins_with_it_only_where_that_is_wanted() -> None:
    question, text = parse("kubern cluster"), "The Kubernetes cluster is down."
    assert Sought(question, begins=True).share(text) == 1.0
    assert Sought(question).share(text) == 0.5
