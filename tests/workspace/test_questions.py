"""Forty questions in plain words about the least important of 400 entries."""

from __future__ import annotations

import json
import re
from pathlib import Path

import anyio
import pytest

from memrpc.app import now_us
from memrpc.recall.query import COMMON_WORDS
from memrpc.recall.stemming import stem
from memrpc.store import jobs
from memrpc.workers import embedding
from memrpc.workspace import entry_search, entry_writing
from memrpc.workspace.composing import EntryDraft
from memrpc.workspace.entry_search import EntryQuestion
from memrpc.workspace.model import EntryType
from tests.memory_file import open_database
from tests.workspace.conftest import Workspace

FILE = Path(__file__).with_name("questions.json")
SET = json.loads(FILE.read_text(encoding="utf-8"))
WANTED = 28
NONSENSE = ("zzqq flurble", "phenibut", "xylophone quasar dentistry", "PHRASE_NOT_THERE_QQQQ")


@pytest.fixture(scope="module")
def harbor():
    db = open_database()
    workspace = Workspace(db)
    for entry in SET["entries"]:
        draft = EntryDraft(**{**entry, "type": EntryType(entry["type"])})
        workspace.do(entry_writing.create, draft, workspace.act())
    yield workspace
    db.close()


def asked(workspace: Workspace, question: str) -> list[str]:
    answer = entry_search.search(
        workspace.db, workspace.repo(), EntryQuestion(question, limit=3), now=workspace.now
    )
    return [hit.entry.title for hit in answer.hits]


def content_words(text: str) -> set[str]:
    words = re.findall(r"\w+", text.casefold())
    return {stem(word) for word in words if word not in COMMON_WORDS}


def test_each_question_shares_at_most_half_of_its_content_words_with_its_entry():
    known = {entry["title"]: entry for entry in SET["entries"]}
    assert len(known) == 400
    for item in SET["questions"]:
        entry, words = known[item["title"]], content_words(item["question"])
        shared = words & content_words(f"{entry['title']} {entry['content']}")
        assert 2 * len(shared) <= len(words), item
        assert entry["importance"] <= 2


def test_h09_questions_in_plain_words_find_unimportant_entries(harbor):
    found = [item["title"] in asked(harbor, item["question"]) for item in SET["questions"]]
    print(f"found {sum(found)} of {len(found)} in the top 3 with full text alone")  # noqa: T201 -- the figure is the point
    assert sum(found) >= WANTED


@pytest.mark.parametrize("question", NONSENSE)
def test_h10_nonsense_finds_nothing(harbor, question):
    assert asked(harbor, question) == []


async def embed_everything(application) -> None:
    """Run the embedding jobs until no text lacks a vector."""
    database, embedders = application.database, application.embedders
    lacking = await database.read(lambda db: embedding.lacks(db, embedders))
    await database.write(lambda db: embedding._owe(db, lacking, now_us()))
    while (lease := await database.write(_claimed)) is not None:
        await embedding.embed(lease, database, embedders, now_us)


def _claimed(db):
    return jobs.claim(db, [embedding.JOB_KIND], owner="test", now=now_us())


@pytest.mark.slow
def test_h09_the_embedder_answers_no_fewer_questions(tools, harbor):
    if tools.application.embedders.builtin is None:
        pytest.skip("no embedder is installed")
    for start in range(0, len(SET["entries"]), 100):
        tools.call("memory-write", memories=SET["entries"][start : start + 100])
    anyio.run(embed_everything, tools.application)
    found = []
    for item in SET["questions"]:
        rows = tools.rows("memory-read", query=item["question"], limit=3)
        found.append(item["title"] in [row["title"] for row in rows])
    print(f"found {sum(found)} of {len(found)} in the top 3 with the embedder")  # noqa: T201 -- the figure is the point
    alone = [item["title"] in asked(harbor, item["question"]) for item in SET["questions"]]
    assert sum(found) >= sum(alone)
    for question in NONSENSE:
        assert tools.rows("memory-read", query=question) == []
