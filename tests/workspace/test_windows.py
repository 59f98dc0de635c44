"""A time phrase in a question restricts what may be a hit before anything is ranked."""

from __future__ import annotations

import pytest

from memrpc.workspace import entry_search, entry_writing, windows
from memrpc.workspace.composing import EntryDraft
from memrpc.workspace.entry_search import EntryQuestion
from memrpc.workspace.model import EntryType
from memrpc.workspace.searching import OUTSIDE_WINDOW
from tests.workspace.conftest import DAY, NOW


def write(workspace, title: str, content: str, *, days_ago: int) -> None:
    workspace.now = NOW - days_ago * DAY
    draft = EntryDraft(type=EntryType.CODE_FACT, title=title, content=content, importance=3)
    workspace.do(entry_writing.create, draft, workspace.act())
    workspace.now = NOW


def ask(workspace, query: str):
    return workspace.do(entry_search.search, EntryQuestion(query, limit=1), now=NOW)


def test_a_better_hit_outside_of_the_window_takes_nobodys_place(workspace):
    write(workspace, "Old", "The token cache is the token cache of tokens.", days_ago=30)
    write(workspace, "New", "Someone emptied a cache while the token was read.", days_ago=1)
    assert [hit.entry.title for hit in ask(workspace, "token cache").hits] == ["Old"]
    answer = ask(workspace, "token cache last 3 days")
    assert [hit.entry.title for hit in answer.hits] == ["New"]
    assert answer.total == 1


def test_an_answer_that_only_the_window_keeps_out_is_said_to_be_there(workspace):
    write(workspace, "Old", "The token cache is filled at the start.", days_ago=30)
    answer = ask(workspace, "token cache last 3 days")
    assert (answer.hits, answer.reason) == ((), OUTSIDE_WINDOW)


@pytest.mark.parametrize(
    "query",
    ["before 9999-12-31 tea", "after 0001-01-01 tea", "last 99999999 weeks tea", "since 0000 tea"],
)
def test_a_phrase_that_leads_out_of_all_years_is_no_defect(query):
    text, window = windows.extract(query, NOW)
    assert "tea" in text
    assert window is None or window.phrase
