"""How long work goes on that nobody wants any more; our choice: the goal of 50 ms is the project's.

What can be cancelled looks up now and then (a *look*), so the longest time between two looks, in
CPU time of the thread, is the longest that a cancel can take.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable

import apsw
import numpy as np
import pytest

from memrpc.recall import index, likeness, proposing, query, search, vectors
from memrpc.recall.embedders import built_in
from memrpc.recall.likeness import BlockCache, Scope
from memrpc.recall.model import SearchRequest
from memrpc.recall.vectors import Origin, Purpose

from .shelves import SCOPE, document

GOAL_S = 0.05
DIMENSION = 512


def longest_wait(work: Callable[[Callable[[], None]], object]) -> float:
    """Seconds between two looks, the beginning and the end among them; the least of three runs."""
    return min(_longest_wait(work) for _ in range(3))


def _longest_wait(work: Callable[[Callable[[], None]], object]) -> float:
    looks = [time.thread_time()]
    work(lambda: looks.append(time.thread_time()))
    looks.append(time.thread_time())
    assert len(looks) > 2
    return max(later - earlier for earlier, later in itertools.pairwise(looks))


@pytest.fixture
def many_vectors(db: apsw.Connection) -> vectors.VectorSet:
    """A hundred thousand, the blocks all alike."""
    origin = Origin(Purpose.BUILTIN, "chance", DIMENSION, "", 0.0, 1.0)
    made = vectors.ensure_set(db, origin, now=0)
    rows = np.random.default_rng(1).normal(size=(vectors.BLOCK_SLOTS, DIMENSION))
    slots = b"".join(likeness.packed(rows.astype(np.float32), range(1, vectors.BLOCK_SLOTS + 1)))
    values = {"vector_set": made.key, "kind": "event", "scope": SCOPE}
    for _ in range(98):
        block = db.execute(vectors.ADD_BLOCK, {**values, "capacity": vectors.BLOCK_SLOTS}).get
        change = {"block": block, "change": vectors.BLOCK_SLOTS}
        db.execute(vectors.COUNT_BLOCK, change).fetchall()
        row = (block, slots)
        db.execute("INSERT INTO vector_slots (block, slots) VALUES (?, ?)", row).fetchall()
    return made


def test_a_cancelled_scan_ends_in_time(
    db: apsw.Connection, many_vectors: vectors.VectorSet
) -> None:
    cache, wanted = BlockCache(), Scope("event", SCOPE, None, None)
    question = np.ones(DIMENSION, dtype=np.float32)

    def scan(checkpoint: Callable[[], None]) -> None:
        found = likeness.compare(db, cache, many_vectors, question, wanted, checkpoint)
        assert found is not None
        assert found.scanned == 98 * vectors.BLOCK_SLOTS

    assert longest_wait(scan) < GOAL_S


def test_a_cancelled_batch_of_the_longest_texts_ends_in_time() -> None:
    embedder = built_in("builtin:use3")
    embedder.query("Load the model.")
    texts = ["Once upon a time there was a boat. " * 200] * 4
    assert longest_wait(lambda checkpoint: embedder.documents(texts, checkpoint)) < GOAL_S


def test_a_cancelled_search_ends_in_time_outside_its_statements(db: apsw.Connection) -> None:
    """A statement is interrupted; see ``store.lanes``.  The rest of a search is short."""
    words = [f"word{n}" for n in range(query.MAX_TERMS)]
    with db:
        for subject in range(proposing.MORE_CANDIDATES):
            index.put(db, document(subject, " ".join(words)))
    asked = " ".join(words)

    def look(checkpoint: Callable[[], None]) -> None:
        search.search(db, SearchRequest(asked, SCOPE, limit=300, checkpoint=checkpoint))

    look(lambda: None)
    assert longest_wait(look) < GOAL_S
