from __future__ import annotations

import dataclasses
import threading

import pytest
from hypothesis import HealthCheck, given, settings

from memrpc.recall import vectors
from memrpc.recall.embedders import BuiltIn, built_in
from memrpc.recall.meaning import Embedders, Meaning, Reach
from memrpc.recall.model import EmptyReason, SearchRequest
from memrpc.recall.search import search
from memrpc.store.errors import InvalidArguments
from tests.recall.meanings import TOY, ToyEncoder, broken, embed_all, loaded, toy
from tests.recall.shelves import SCOPE, any_text, document, fill

TEXTS = ["the vessel is red", "a dog ran home", "one bird sang"]


@pytest.fixture
def embedders() -> Embedders:
    return Embedders(builtin=loaded())


def ask(db, embedders, question, reach=Reach.FAST, **rest):
    meaning = Meaning(embedders, question, reach)
    return search(db, SearchRequest(question, SCOPE, meaning=meaning, **rest)), meaning


def test_a_text_is_found_by_its_meaning_and_the_hit_says_so(db, embedders):
    fill(db, TEXTS)
    embed_all(db, embedders)
    result, meaning = ask(db, embedders, "boat")
    assert [hit.subject for hit in result.hits][:1] == [0]
    assert result.hits[0].matched_by == ("meaning",)
    assert (meaning.eligible, meaning.scanned, meaning.pending) == (3, 3, 0)


def test_a_hit_by_words_and_meaning_names_both(db, embedders):
    fill(db, TEXTS)
    embed_all(db, embedders)
    result, _ = ask(db, embedders, "red boat")
    assert result.hits[0].matched_by == ("text", "meaning")


def test_without_vectors_the_answer_is_that_of_the_words(db, embedders):
    fill(db, TEXTS)
    result, meaning = ask(db, embedders, "red boat")
    assert result == search(db, SearchRequest("red boat", SCOPE))
    assert (meaning.eligible, meaning.scanned, meaning.pending) == (0, 0, 3)


def test_texts_that_are_pending_still_compete(db, embedders):
    fill(db, TEXTS)
    embed_all(db, embedders)
    fill(db, [*TEXTS, "a red boat stopped"])
    result, meaning = ask(db, embedders, "red boat")
    assert {hit.subject for hit in result.hits} >= {0, 3}
    assert meaning.pending == 1


def test_what_is_like_nothing_finds_nothing_with_vectors_too(db, embedders):
    fill(db, TEXTS)
    embed_all(db, embedders)
    result, _ = ask(db, embedders, "zxqv wkjh")
    assert (result.hits, result.reason) == ((), EmptyReason.BELOW_RELEVANCE)


def test_a_restriction_binds_what_meaning_proposes(db, embedders):
    fill(db, [*TEXTS, "that boat is old"])
    embed_all(db, embedders)
    result, _ = ask(db, embedders, "boat", within={"event": {3}})
    assert [hit.subject for hit in result.hits] == [3]


def test_meaning_never_leaves_its_scope(db, embedders):
    fill(db, TEXTS)
    fill(db, [], scope=2)
    from memrpc.recall import index

    index.put(db, document(50, "vessel", scope=2))
    embed_all(db, embedders)
    result, _ = ask(db, embedders, "boat")
    assert 50 not in {hit.subject for hit in result.hits}


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(question=any_text, text=any_text)
def test_no_text_is_an_error_with_vectors_either(db, embedders, question, text):
    from memrpc.recall import index

    index.put(db, document(1, text))
    embed_all(db, embedders)
    ask(db, embedders, question, Reach.DEEP)


def test_deep_compares_all_where_the_others_take_the_newest(db):
    few = Embedders(builtin=loaded(), recent=1)
    fill(db, [f"word{n}" for n in range(1_100)])
    embed_all(db, few)
    assert ask(db, few, "word5", Reach.SEMANTIC)[1].scanned == 1_100 - 1_024
    assert ask(db, few, "word5", Reach.DEEP)[1].scanned == 1_100


def test_a_fast_search_does_not_wait_for_a_model_and_begins_to_load_it(db):
    encoder = ToyEncoder()
    fill(db, TEXTS)
    embed_all(db, Embedders(builtin=loaded(encoder=encoder)))
    may_load, is_loading = threading.Event(), threading.Event()

    def load() -> ToyEncoder:
        is_loading.set()
        may_load.wait(10)
        return encoder

    embedder = BuiltIn(TOY, load)
    result, meaning = ask(db, Embedders(builtin=embedder), "red boat")
    assert result.hits[0].matched_by == ("text",)
    assert meaning.scanned == 0
    assert is_loading.wait(10)
    may_load.set()
    embedder.query("now it is there")
    assert ask(db, Embedders(builtin=embedder), "boat")[0].hits[0].subject == 0


def test_a_semantic_search_waits_for_the_model(db):
    encoder = ToyEncoder()
    fill(db, TEXTS)
    embed_all(db, Embedders(builtin=loaded(encoder=encoder)))
    result, _ = ask(db, Embedders(builtin=toy(encoder=encoder)), "boat", Reach.SEMANTIC)
    assert result.hits[0].subject == 0


def test_a_model_that_cannot_be_loaded_leaves_full_text_and_says_why(db):
    fill(db, TEXTS)
    embed_all(db, Embedders(builtin=loaded()))
    result, meaning = ask(db, Embedders(builtin=broken()), "red boat", Reach.SEMANTIC)
    assert [hit.subject for hit in result.hits] == [0]
    assert meaning.warnings == ["The weights are gone. Full text alone was searched."]


def test_the_old_set_serves_until_the_new_one_has_more(db, monkeypatch):
    other = dataclasses.replace(TOY, id="toy:2", weights="cd" * 32)
    old_encoder = ToyEncoder("old")
    monkeypatch.setattr(
        "memrpc.recall.meaning.BUILT_IN", {"builtin:toy": (TOY, lambda: old_encoder)}
    )
    fill(db, TEXTS)
    embed_all(db, Embedders(builtin=loaded(encoder=ToyEncoder("old"))))
    new_encoder = ToyEncoder("new")
    changed = Embedders(builtin=loaded(other, new_encoder))
    new_encoder.read.clear()
    embed_all(db, changed, limit=1)
    result, meaning = ask(db, changed, "boat", Reach.SEMANTIC)
    assert (result.hits[0].subject, meaning.eligible) == (0, 3)
    assert "boat" not in new_encoder.read
    embed_all(db, changed)
    result, meaning = ask(db, changed, "boat", Reach.SEMANTIC)
    assert (result.hits[0].subject, meaning.eligible) == (0, 3)
    assert "boat" in new_encoder.read


def test_an_embedder_nobody_knows_is_refused_with_the_names_there_are():
    with pytest.raises(InvalidArguments, match="builtin:use3"):
        built_in("builtin:nonsense")
    assert built_in("none") is None


def test_the_share_of_a_question_reaches_the_floor_at_the_models_floor(db, embedders):
    from memrpc.recall.fusion import FLOOR_SHARE, Alike
    from memrpc.recall.model import DEFAULT_FLOOR

    alike = Alike(TOY, 0.5, TOY.chance, {1: TOY.floor, 2: TOY.chance, 3: 1.0, 4: -1.0}, {})
    assert FLOOR_SHARE == DEFAULT_FLOOR
    assert alike.relevance(1, 0.0) == pytest.approx(FLOOR_SHARE)
    assert alike.relevance(2, 0.3) == pytest.approx(0.3)
    assert alike.relevance(4, 0.3) == 0
    assert alike.relevance(99, 0.3) == 0.3
    assert alike.relevance(3, 0.3) == pytest.approx(1.3 - TOY.chance)


def test_every_statement_about_vectors_can_be_prepared_and_the_frequent_ones_scan_nothing(db):
    import apsw

    statements = {
        name: value
        for name, value in vars(vectors).items()
        if name.isupper() and isinstance(value, str) and " " in value
    }
    assert len(statements) > 20
    frequent = {vectors.SOURCE, vectors.OWED, vectors.IS_CURRENT, vectors.BLOCKS, vectors.HELD}
    frequent |= {vectors.WITH_ROOM, vectors.PLACES, vectors.PLACES_OF_UNITS}
    unbound = apsw.allow_missing_dict_bindings(True)
    try:
        for sql in statements.values():
            plan = [row[3] for row in db.execute(f"EXPLAIN QUERY PLAN {sql}", {}).fetchall()]
            scans = [each for each in plan if each.startswith("SCAN") and "json_each" not in each]
            assert sql not in frequent or scans == []
    finally:
        apsw.allow_missing_dict_bindings(unbound)


def test_the_endpoints_set_serves_once_it_has_nearly_as_much_and_the_answer_says_so_until(db):
    from memrpc.recall.embedding_endpoint import EndpointEmbedder
    from memrpc.recall.endpoint import Endpoint
    from memrpc.recall.vectors import Origin, Purpose
    from tests.recall.meanings import embed_for

    there = EndpointEmbedder(Endpoint("http://127.0.0.1:1/v1"), "toy")
    both = Embedders(builtin=loaded(), configured=there)
    origin = Origin(Purpose.CONFIGURED, there.id, TOY.dimension, "", TOY.usual, TOY.spread)
    fill(db, [f"word{n}" for n in range(20)])
    embed_all(db, both)

    def serving(limit: int) -> tuple[str, list[str]]:
        embed_for(db, origin, ToyEncoder("there"), limit=limit)
        meaning = Meaning(both, "word3", Reach.SEMANTIC, asked=ToyEncoder("there")(["word3"])[0])
        search(db, SearchRequest("word3", SCOPE, meaning=meaning))
        search(db, SearchRequest("word4", SCOPE, meaning=meaning))
        return next(iter(meaning._questions)), meaning.warnings

    told = "has not embedded enough of these texts yet. The built-in vectors were searched."
    assert serving(17) == (TOY.id, [f"{there.id} {told}"])
    assert serving(1) == (there.id, [])
