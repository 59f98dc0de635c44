from __future__ import annotations

import pytest

from memrpc.archive import superseding
from memrpc.archive.answers import RecallAnswer
from memrpc.archive.model import Status
from tests.archive.scenes import Archive, contents, excerpts
from tests.archive.statements import contradict

BEFORE = "2026-01-01T00:00:00Z"
BETWEEN = "2026-02-01T00:00:00Z"
CHANGED = "2026-03-01T00:00:00Z"

STATED = [
    ("We use Jina for web search.", "Actually, we now use Exa instead of Jina for web search."),
    ("We use Jina for web search.", "We no longer use Jina; we use Exa now."),
    ("We use Jina for web search.", "Exa replaced Jina for web search."),
    ("We use Jina for web search.", "Jina has been replaced by Exa for web search."),
    ("Zora's car is a Fiat.", "Zora's car is a Toyota now, no longer a Fiat."),
    ("I like dogs.", "I now like cats instead of dogs."),
    ("We use Postgres for billing.", "We switched from Postgres to MySQL for billing."),
    ("I live in Lyon.", "I moved from Lyon to Porto."),
    ("I eat meat on Sundays.", "I no longer eat meat."),
    ("I eat meat.", "I don't eat meat anymore."),
    ("My favourite colour is blue.", "Actually, my favourite colour is green."),
    ("The staging port is 5432.", "Update: the staging port is now 5433, not 5432."),
    ("The deploy day is Friday.", "The deploy day has moved from Friday to Tuesday."),
    ("My dentist is Dr. Li.", "My dentist is Dr. Wu now."),
    ("The release branch is called stable.", "From now on the release branch is called main."),
    ("I drink coffee every morning.", "I drink tea instead of coffee every morning now."),
    ("我们用Jina做网页搜索。", "其实我们现在用Exa而不是Jina做网页搜索。"),
    ("我住在北京。", "我从北京搬到上海了。"),
    ("数据库端口是5432。", "数据库端口现在是5433，不是5432。"),
    ("我吃肉。", "我不再吃肉。"),
    ("私の好きな色は青です。", "実は、私の好きな色は今は緑です。"),
]
NOT_STATED = [
    ("We use Jina for reranking.", "Actually, we now use Exa instead of Jina for web search."),
    ("I have two dogs.", "I now like cats instead of dogs."),
    ("We like Postgres.", "We switched from Postgres to MySQL."),
    ("Mia lives in Lyon.", "I moved from Lyon to Porto."),
    ("I live in Lyon.", "Mia moved from Lyon to Porto."),
    ("She lives in Lyon.", "I moved from Lyon to Porto."),
    ("I moved to Lyon.", "I moved from Lyon to Porto."),
    ("My hometown is Lyon.", "I moved from Lyon to Porto."),
    ("I eat meat.", "I no longer eat meat on Fridays."),
    ("We use Jina for web search.", "We might use Exa instead of Jina for web search."),
    ("We use Jina for web search.", "We will switch from Jina to Exa for web search."),
    ("My favourite colour is blue.", "My favourite colour is green."),
    ("I like tea.", "Actually, I like coffee."),
    ("我们用Jina做网页搜索。", "我们打算用Exa而不是Jina做网页搜索。"),
]


@pytest.mark.parametrize(("old", "new"), STATED)
def test_a_statement_ends_what_it_says_to_be_so_no_more(old: str, new: str) -> None:
    is_named = superseding.names_an_end(new) and superseding.ends(new, old)
    assert is_named or contradict(new, old)


@pytest.mark.parametrize(("old", "new"), NOT_STATED)
def test_a_statement_ends_nothing_that_it_only_resembles(old: str, new: str) -> None:
    assert not (superseding.names_an_end(new) and superseding.ends(new, old))


def told(answer: RecallAnswer) -> list[str]:
    return [*contents(answer), *excerpts(answer)]


@pytest.mark.parametrize(("old", "new"), STATED)
def test_a_stated_change_is_told_before_what_it_ends_and_both_stay(
    archive: Archive, old: str, new: str
) -> None:
    archive.record("old", old, occurred_at=BEFORE)
    archive.record("new", new, occurred_at=CHANGED)
    answer = archive.recall(f"{old} {new}")
    assert [memory.content for memory in answer.memories] == [new, old]
    assert {memory.status for memory in answer.memories} == {Status.CURRENT}
    (warning,) = answer.warnings
    assert warning.startswith("These contradict each other, newest first: ")


def test_before_the_change_only_the_old_holds(archive: Archive) -> None:
    old, new = STATED[0]
    archive.record("old", old, occurred_at=BEFORE)
    archive.record("new", new, occurred_at=CHANGED)
    asked = "what do we use for web search"
    assert told(archive.recall(asked, as_of=BETWEEN)) == [old]
    assert told(archive.recall(asked, as_of=CHANGED)) == [new, old]


@pytest.mark.parametrize("new", [{"source": "Tom"}, {"occurred_at": "2025-01-01T00:00:00Z"}])
def test_nobody_else_and_nothing_earlier_ends_a_statement(archive: Archive, new: dict) -> None:
    archive.record("old", "I live in Lyon.", source="Mia", occurred_at=BEFORE)
    given = {"source": "Mia", "occurred_at": CHANGED} | new
    archive.record("new", "I moved from Lyon to Porto.", **given)
    assert archive.recall("Lyon").warnings == ()
