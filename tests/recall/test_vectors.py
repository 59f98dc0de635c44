from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memrpc.recall import index, likeness, vectors
from memrpc.recall.likeness import BlockCache, Scope
from memrpc.recall.meaning import Embedders
from memrpc.recall.vectors import Purpose
from memrpc.store.migrate import migrate
from tests.recall.meanings import DIMENSION, TOY, embed_all, loaded, origin_of, slots_of
from tests.recall.shelves import SCOPE, document, fill, refill


@pytest.fixture
def embedders() -> Embedders:
    return Embedders(builtin=loaded())


def held(db, scope=SCOPE) -> int:
    (only,) = vectors.sets(db)
    return vectors.held(db, only, "event", scope)


def compare(db, embedders, question, scope=SCOPE, most=None, allowed=None):
    (only,) = vectors.sets(db)
    query = embedders.builtin.query(question)
    wanted = Scope("event", scope, most, allowed)
    return likeness.compare(db, embedders.cache, only, query, wanted, lambda: None)


def test_each_indexed_text_gets_one_vector(db, embedders):
    fill(db, ["the cat sat", "a dog ran", "one bird"])
    assert embed_all(db, embedders) == 3
    assert held(db) == 3
    assert embed_all(db, embedders) == 0


def test_the_set_records_who_made_it(db, embedders):
    fill(db, ["the cat sat"])
    embed_all(db, embedders, now=77)
    (only,) = vectors.sets(db)
    assert only.origin == origin_of(TOY)
    assert (only.purpose, only.used_at) == (Purpose.BUILTIN, 77)


def test_the_nearest_text_is_found_without_a_common_word(db, embedders):
    fill(db, ["the vessel is red", "a dog ran home", "one bird sang"])
    embed_all(db, embedders)
    found = compare(db, embedders, "boat")
    units = dict(db.execute("SELECT unit_id, subject FROM units").fetchall())
    cosines = found.of(db, list(units))
    assert units[max(cosines, key=cosines.get)] == 0


def test_the_scan_is_the_dot_product_up_to_what_a_byte_can_tell(db, embedders):
    texts = [f"word{n} and word{n * 7 % 50} with word{n * 3 % 20}" for n in range(1_500)]
    fill(db, texts)
    embed_all(db, embedders)
    found = compare(db, embedders, "word7 and word3")
    rows = dict(db.execute("SELECT unit_id, subject FROM units").fetchall())
    cosines = found.of(db, list(rows))
    exact = embedders.builtin.documents(texts, lambda: None) @ embedders.builtin.query(
        "word7 and word3"
    )
    assert max(abs(cosines[unit] - exact[subject]) for unit, subject in rows.items()) < 0.01
    assert found.scanned == 1_500
    assert found.mean == pytest.approx(exact.mean(), abs=1e-3)
    assert found.spread == pytest.approx(exact.std(), abs=1e-3)


def test_a_removed_text_leaves_zeros_where_its_vector_was(db, embedders):
    fill(db, ["the cat sat", "a dog ran"])
    embed_all(db, embedders)
    (before,) = slots_of(db)
    size = likeness.packed(np.ones((1, DIMENSION), np.float32), [1])[0]
    index.remove(db, "event", 0)
    (after,) = slots_of(db)
    assert before[: len(size)] != bytes(len(size))
    assert after[: len(size)] == bytes(len(size))
    assert after[len(size) :] == before[len(size) :]
    assert db.execute("SELECT count(*) FROM unit_sources").get == 1
    assert db.execute("SELECT count(*) FROM unit_vectors").get == 1


def test_the_last_vector_of_a_block_takes_the_block_along(db, embedders):
    fill(db, ["the cat sat"])
    embed_all(db, embedders)
    index.remove(db, "event", 0)
    assert slots_of(db) == []
    assert db.execute("SELECT count(*) FROM vector_blocks").get == 0


def test_a_changed_text_loses_its_vector_at_once_and_is_owed_again(db, embedders):
    fill(db, ["the cat sat", "a dog ran"])
    embed_all(db, embedders)
    index.put(db, document(0, "the boat stopped"))
    assert held(db) == 1
    assert embed_all(db, embedders) == 1
    assert held(db) == 2


def test_text_that_means_the_same_to_the_index_is_still_another_text(db, embedders):
    """Our choice: what is forgotten in a neighbour must not stay in what is kept for embedding."""
    index.put(db, document(1, "so it goes", before=("Hello!",)))
    index.put(db, document(1, "so it goes", before=("hello",)))
    assert db.execute("SELECT text FROM unit_sources").get == "hello\nso it goes"


def test_what_comes_later_in_a_session_does_not_ask_for_a_new_vector(db, embedders):
    index.put(db, document(0, "the cat sat"))
    embed_all(db, embedders)
    index.put(db, document(0, "the cat sat", after=("a dog ran",)))
    assert held(db) == 1
    assert embed_all(db, embedders) == 0


def test_a_vector_does_not_follow_its_text_into_another_scope(db, embedders):
    index.put(db, document(0, "the cat sat", scope=1))
    embed_all(db, embedders)
    index.put(db, document(0, "the cat sat", scope=2))
    assert (held(db, 1), held(db, 2)) == (0, 0)
    embed_all(db, embedders)
    assert (held(db, 1), held(db, 2)) == (0, 1)


def test_a_scan_reads_its_own_scope_only(db, embedders):
    fill(db, ["the cat sat"], scope=1)
    index.put(db, document(10, "the cat ran", scope=2))
    embed_all(db, embedders)
    assert compare(db, embedders, "cat", scope=1).scanned == 1


def test_only_allowed_units_are_among_the_best(db, embedders):
    fill(db, ["the cat sat", "a cat", "cat"])
    embed_all(db, embedders)
    allowed = {db.execute("SELECT unit_id FROM units WHERE subject = 0").get}
    assert set(compare(db, embedders, "cat", allowed=allowed).best) == allowed
    assert compare(db, embedders, "cat", allowed=set()).best == ()


def test_no_more_than_the_newest_vectors_are_scanned(db, embedders):
    fill(db, [f"word{n}" for n in range(2_500)])
    embed_all(db, embedders)
    assert compare(db, embedders, "word1", most=400).scanned == 2_500 - 2 * 1_024
    assert compare(db, embedders, "word1", most=452).scanned == 2_500 - 2 * 1_024
    assert compare(db, embedders, "word1", most=453).scanned == 2_500 - 1_024


def test_a_vector_of_a_text_that_changed_meanwhile_is_not_stored(db, embedders):
    index.put(db, document(0, "the secret word"))
    owed = vectors.owed(db, 0, 10)
    index.put(db, document(0, "another word"))
    rows = embedders.builtin.documents([each.text for each in owed], lambda: None)
    slots = likeness.packed(rows, [each.unit_id for each in owed])
    vectors.add(
        db, vectors.ensure_set(db, origin_of(TOY), now=1), zip(owed, slots, strict=True), now=1
    )
    assert slots_of(db) == []
    assert embed_all(db, embedders) == 1


def test_a_vector_of_a_text_that_was_forgotten_meanwhile_is_not_given_to_the_next_one(
    db, embedders
):
    """A row number is used again; a version is not."""
    index.put(db, document(0, "the secret word"))
    owed = vectors.owed(db, 0, 10)
    index.remove(db, "event", 0)
    index.put(db, document(1, "another word"))
    assert db.execute("SELECT unit_id FROM units").get == owed[0].unit_id
    rows = embedders.builtin.documents([each.text for each in owed], lambda: None)
    slots = likeness.packed(rows, [each.unit_id for each in owed])
    vectors.add(
        db, vectors.ensure_set(db, origin_of(TOY), now=1), zip(owed, slots, strict=True), now=1
    )
    assert held(db) == 0


def test_a_batch_that_ran_twice_stores_one_vector(db, embedders):
    fill(db, ["the cat sat"])
    owed = vectors.owed(db, 0, 10)
    rows = embedders.builtin.documents([each.text for each in owed], lambda: None)
    made = list(zip(owed, likeness.packed(rows, [each.unit_id for each in owed]), strict=True))
    for _ in range(2):
        vectors.add(db, vectors.ensure_set(db, origin_of(TOY), now=1), made, now=1)
    assert held(db) == 1


def test_other_weights_under_the_same_name_begin_a_new_set(db, embedders):
    fill(db, ["the cat sat"])
    embed_all(db, embedders)
    made = vectors.ensure_set(db, origin_of(TOY, "cd" * 32), now=2)
    assert (made.done, vectors.held_in_set(db, made), len(vectors.sets(db))) == (0, 0, 1)
    assert slots_of(db) == []


def test_after_a_clearing_everything_is_embedded_anew(db, embedders):
    fill(db, ["the cat sat", "a dog ran"])
    embed_all(db, embedders)
    refill(db, [document(5, "one bird")])
    assert slots_of(db) == []
    assert embed_all(db, embedders) == 1


def test_the_cache_reads_a_block_again_when_it_has_changed(db, embedders):
    fill(db, ["the cat sat"])
    embed_all(db, embedders)
    assert compare(db, embedders, "cat").scanned == 1
    fill(db, ["the cat sat", "a dog ran"])
    embed_all(db, embedders)
    assert compare(db, embedders, "cat").scanned == 2


def test_the_cache_stays_within_its_bounds(db):
    small = Embedders(builtin=loaded(), cache=BlockCache(most_bytes=100_000))
    fill(db, [f"word{n}" for n in range(3_000)])
    embed_all(db, small)
    for _ in range(2):
        assert compare(db, small, "word1").scanned == 3_000
        assert small.cache.size_bytes <= 100_000


def test_a_scan_looks_for_a_cancel_at_each_block(db, embedders):
    fill(db, [f"word{n}" for n in range(2_100)])
    embed_all(db, embedders)
    (only,) = vectors.sets(db)
    looks = []
    query = embedders.builtin.query("word")
    wanted = Scope("event", SCOPE, None, None)
    likeness.compare(db, embedders.cache, only, query, wanted, lambda: looks.append(1))
    assert len(looks) == 3


@pytest.mark.parametrize(
    "row", [np.zeros(8), np.full(8, 1e-30), np.array([1, -1, 0, 0, 0, 0, 0, 0.5])]
)
def test_any_vector_can_be_packed(row):
    (slot,) = likeness.packed(np.array([row], dtype=np.float32), [5])
    assert len(slot) == vectors.HEADER_BYTES + 8
    unpacked = np.frombuffer(slot, dtype=likeness.slot_type(8))
    assert unpacked["unit"] == 5
    assert np.allclose(unpacked["vector"][0] * unpacked["scale"][0], row, atol=0.01)


class Blocks(RuleBasedStateMachine):
    """Whatever is put, changed, removed and embedded: one vector a text, none besides."""

    def __init__(self) -> None:
        super().__init__()
        import apsw

        self.db = apsw.Connection(":memory:")
        migrate(self.db)
        self.embedders = Embedders(builtin=loaded())
        self.texts: dict[int, tuple[int, str]] = {}
        self.embedded: set[int] = set()

    @rule(subject=st.integers(0, 40), scope=st.integers(1, 2), text=st.sampled_from("abcde"))
    def put(self, subject, scope, text):
        if self.texts.get(subject) != (scope, text):
            self.embedded.discard(subject)
        self.texts[subject] = scope, text
        index.put(self.db, document(subject, text, scope))

    @rule(subject=st.integers(0, 40))
    def remove(self, subject):
        self.texts.pop(subject, None)
        self.embedded.discard(subject)
        index.remove(self.db, "event", subject)

    @rule(limit=st.integers(1, 40))
    def embed(self, limit):
        known = vectors.find_set(self.db, TOY.id)
        owed = vectors.owed(self.db, known.done if known else 0, limit)
        units = dict(self.db.execute("SELECT unit_id, subject FROM units").fetchall())
        self.embedded |= {units[each.unit_id] for each in owed}
        embed_all(self.db, self.embedders, limit=limit)

    @invariant()
    def each_slot_is_what_its_place_says(self):
        places = self.db.execute("SELECT unit_id, block, slot FROM unit_vectors").fetchall()
        units = dict(self.db.execute("SELECT unit_id, subject FROM units").fetchall())
        assert {units[unit] for unit, _, _ in places} == self.embedded
        blocks = self.db.execute("SELECT block, kind, scope, held FROM vector_blocks").fetchall()
        found = []
        for block, _, scope, count in blocks:
            slots = np.frombuffer(
                vectors.slots(self.db, block), dtype=likeness.slot_type(DIMENSION)
            )
            here = [(int(u), block, n) for n, u in enumerate(slots["unit"]) if u]
            assert len(here) == count
            assert all(self.texts[units[unit]][0] == scope for unit, _, _ in here)
            found += here
        assert sorted(found) == sorted(places)


TestBlocks = Blocks.TestCase
TestBlocks.settings = hypothesis_settings(max_examples=25, stateful_step_count=30, deadline=None)
