from __future__ import annotations

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memrpc.recall import index, proposing, search
from memrpc.recall.model import EmptyReason, Kind, SearchRequest

from .shelves import document, fill, found, refill

WORDS = "rust memory safe Lyon cat データ 猫 user_profile the of when"
words = st.sampled_from(WORDS.split())
sentences = st.lists(words, min_size=1, max_size=6).map(" ".join)


@pytest.mark.parametrize(
    ("question", "hits"),
    [
        ("memory:safe", [0]),
        ('say "hi', []),
        ("foo AND bar", []),
        ("(rust", [0]),
        ("rust)", [0]),
        ("NEAR(", []),
        ("*", []),
        ("^rust", [0]),
        ("own:rust", [0]),
        ("rust NOT memory", [0]),
    ],
)
def test_b01_no_query_text_reaches_fts5_as_syntax(
    db: apsw.Connection, question: str, hits: list[int]
) -> None:
    fill(db, ["Rust is memory safe"])
    assert found(db, question) == hits


@pytest.mark.parametrize(
    ("question", "hits"),
    [
        ("pre-edit", [0]),
        ("OC-41252", [0]),
        ("gpt-4o", [0]),
        ("state-of-the-art", []),
        ("2026-05-08", []),
    ],
)
def test_b02_hyphens_join_words_and_mean_nothing_else(
    db: apsw.Connection, question: str, hits: list[int]
) -> None:
    fill(db, ["run pre-edit-check before OC-41252 with gpt-4o"])
    assert found(db, question) == hits


@pytest.mark.parametrize(
    ("question", "hits"),
    [("ubuntu 20.04", [0]), ("GB/s", [0]), ("a=b", [0]), ("C++", []), ("what's this?", [])],
)
def test_b03_dots_slashes_and_signs_are_no_syntax(
    db: apsw.Connection, question: str, hits: list[int]
) -> None:
    fill(db, ["ubuntu 20.04 reaches 3 GB/s when a=b"])
    assert found(db, question) == hits


@pytest.mark.parametrize("question", ["", "   ", '"', '""', "-", "\n\t", "'", "...", "\x00"])
def test_b05_a_question_without_a_word_finds_nothing(db: apsw.Connection, question: str) -> None:
    fill(db, ["a cat", "s"])
    assert search.search(db, SearchRequest(question, 1)).reason is EmptyReason.NO_MATCH


@pytest.mark.parametrize("question", ["腾讯云", "服务器", "国内节点", "用户服"])
def test_b06_chinese_words_are_found_inside_a_sentence(db: apsw.Connection, question: str) -> None:
    fill(db, ["用户服务器部署在腾讯云国内节点", "今天天气很好"])
    assert found(db, question) == [0]


@pytest.mark.parametrize(
    ("question", "hits"), [("끝말잇기", [0]), ("しりとり", [1]), ("ฐานข้อมูล", [2])]
)
def test_b09_korean_japanese_and_thai_words_are_found(
    db: apsw.Connection, question: str, hits: list[int]
) -> None:
    fill(
        db,
        ["오늘 끝말잇기 게임을 했다", "今日は成語しりとりをした", "เราใช้ฐานข้อมูลที่กรุงเทพ"],
    )
    assert found(db, question) == hits


@pytest.mark.parametrize(("question", "hits"), [("100%", [0]), ("file_name", [1]), ("my_tag", [])])
def test_b11_wildcards_of_sql_are_plain_characters(
    db: apsw.Connection, question: str, hits: list[int]
) -> None:
    fill(db, ["done to 100%", "see file_name", "done to 1000", "see fileXname"])
    assert found(db, question) == hits


@pytest.mark.parametrize(
    "question", ["PHRASE_NOT_THERE_QQQQ", "phenibut", "what is it that they have?"]
)
def test_b13_what_is_not_known_finds_nothing(db: apsw.Connection, question: str) -> None:
    fill(
        db, [f"The {thing} of that house is old, it is what they said" for thing in _THINGS.split()]
    )
    result = search.search(db, SearchRequest(question, 1))
    assert (result.hits, result.reason) == ((), EmptyReason.NO_MATCH)


_THINGS = (
    "roof door floor stairs garden fence kitchen window lamp table chair mirror clock sofa carpet "
    "oven sink pipe wall cellar"
)


def test_too_small_a_part_of_the_question_is_below_relevance(db: apsw.Connection) -> None:
    fill(db, ["a table in the garden"])
    question = "table tennis championship quarterfinal referee controversy Stockholm 1987"
    assert search.search(db, SearchRequest(question, 1)).reason is EmptyReason.BELOW_RELEVANCE
    assert found(db, question, floor=0.0) == [0]


def test_function_words_alone_ask_for_all_of_them(db: apsw.Connection) -> None:
    fill(db, ["To be or not to be", "to be"])
    assert found(db, "to be or not") == [0]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(sentences, max_size=6), st.lists(sentences, max_size=6), sentences)
def test_another_scope_changes_neither_hits_nor_scores(
    db: apsw.Connection, own: list[str], others: list[str], question: str
) -> None:
    refill(db, [document(n, text) for n, text in enumerate(own)])
    alone = search.search(db, SearchRequest(question, 1))
    for subject, text in enumerate(others):
        index.put(db, document(1_000 + subject, text, scope=11))
    assert search.search(db, SearchRequest(question, 1)) == alone


def test_only_the_kinds_asked_for_are_searched(db: apsw.Connection) -> None:
    index.put(db, document(1, "zebra"))
    assert found(db, "zebra", kinds=(Kind.TASK,)) == []
    assert found(db, "zebra", kinds=(Kind.TASK, Kind.EVENT)) == [1]


def test_only_allowed_subjects_are_hits(db: apsw.Connection) -> None:
    fill(db, ["zebra one", "zebra two", "zebra three"])
    assert sorted(found(db, "zebra", within={Kind.EVENT: {0, 2}})) == [0, 2]
    assert found(db, "zebra", within={Kind.EVENT: set()}) == []
    assert len(found(db, "zebra", within={Kind.MEMORY: set()})) == 3


@pytest.mark.parametrize("limit", [1, 2, 100, 300])
def test_b18_the_limit_is_honoured(db: apsw.Connection, limit: int) -> None:
    fill(db, ["zebra"] * 250)
    assert len(found(db, "zebra", limit=limit)) == min(limit, 250)


def test_a_long_text_is_one_hit_with_the_span_of_its_best_chunk(db: apsw.Connection) -> None:
    text = "padding words here. " * 60 + "The zebra lives in Lyon. " + "more padding. " * 60
    index.put(db, document(1, text))
    (hit,) = search.search(db, SearchRequest("zebra in Lyon", 1)).hits
    assert "zebra" in text[hit.start : hit.start + hit.length]


def test_a_hit_says_where_it_matched(db: apsw.Connection) -> None:
    index.put(db, document(1, "Rust", speaker="Ann", before=("which language?",)))
    (hit,) = search.search(db, SearchRequest("Ann language Rust", 1)).hits
    assert hit.matched_by == ("text", "context", "date_or_speaker")


class Unwanted(Exception):
    pass


def test_a_search_that_is_not_wanted_any_more_stops_between_stages(db: apsw.Connection) -> None:
    def raise_unwanted() -> None:
        raise Unwanted

    fill(db, ["zebra"])
    with pytest.raises(Unwanted):
        found(db, "zebra", checkpoint=raise_unwanted)


def test_in_a_large_collection_common_words_propose_nothing_but_still_count(
    db: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(db, ["red zebra", "blue zebra", *["red house"] * 9, *["green tree"] * 40])
    monkeypatch.setattr(proposing, "SCORED_UNITS", 5)
    assert found(db, "red zebra") == [0, 1]
    assert found(db, "red")[:1] != []


def test_as_many_words_propose_as_are_in_few_enough_units(
    db: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(db, ["zebra", "yak", "yak", *["red house"] * 9, *["green tree"] * 40])
    monkeypatch.setattr(proposing, "SCORED_UNITS", 3)
    assert set(found(db, "zebra yak red")) == {0, 1, 2}
    monkeypatch.setattr(proposing, "SCORED_UNITS", 2)
    assert found(db, "zebra yak red") == [0]


def test_in_an_exact_search_every_word_proposes(
    db: apsw.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(db, ["red zebra", "blue zebra", *["red house"] * 9, *["green tree"] * 40])
    monkeypatch.setattr(proposing, "SCORED_UNITS", 5)
    assert len(found(db, "red zebra", limit=20, exact=True)) == 11
