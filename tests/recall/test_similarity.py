"""Near duplicates: those that a look at every text would find, and nobody else's."""

from __future__ import annotations

import math
import random

import apsw
import pytest

from memrpc.recall import index, similarity, sketches
from memrpc.recall.model import Document, Kind
from memrpc.store import migrate

AT_LEAST = 0.85
MARKS = "SELECT count(*) FROM sketches"


def put(db: apsw.Connection, subject: int, text: str, scope: int = 2, kind: Kind = Kind.ENTRY):
    index.put(db, Document(kind, subject, scope, text))


def alike(db: apsw.Connection, text: str, *scopes: int) -> list[int]:
    found = similarity.alike(db, text, Kind.ENTRY, scopes or (2,), at_least=AT_LEAST)
    return [subject for subject, _ in found]


def words(chance: random.Random, count: int) -> list[str]:
    return [f"w{chance.randrange(3_000)}x" for _ in range(count)]


def cosine(one: str, other: str) -> float:
    left, right = set(one.split()), set(other.split())
    return len(left & right) / math.sqrt(len(left) * len(right))


@pytest.mark.parametrize("length", [5, 20, 60, 400])
def test_near_duplicates_are_found_as_if_every_text_were_compared(
    db: apsw.Connection, length: int
) -> None:
    chance = random.Random(length)
    texts = [" ".join(words(chance, length)) for _ in range(100)]
    for subject, text in enumerate(texts, start=1):
        put(db, subject, text)
    near = [_changed(chance, text, changed=length // 10) for text in texts]
    expected = [
        [n for n, text in enumerate(texts, start=1) if cosine(each, text) >= AT_LEAST]
        for each in near
    ]
    assert [sorted(alike(db, each)) for each in near] == expected
    assert all(expected)


def _changed(chance: random.Random, text: str, changed: int) -> str:
    kept = text.split()
    chance.shuffle(kept)
    return " ".join([*kept[changed:], *words(chance, changed)])


def test_texts_that_only_share_common_words_are_not_alike(db: apsw.Connection) -> None:
    put(db, 1, "the cache of the parser is too small")
    assert alike(db, "the lease of the worker is too short") == []
    assert alike(db, "the of and is") == []
    assert alike(db, "") == []


def test_a_near_duplicate_of_another_scope_or_kind_is_not_found(db: apsw.Connection) -> None:
    text = "releases are cut on the first tuesday of a month"
    put(db, 1, text, scope=4)
    put(db, 2, text, kind=Kind.STANDARD)
    put(db, 3, text, kind=Kind.TASK)
    assert alike(db, text) == []
    assert alike(db, text, 2, 4) == [1]


def test_a_text_is_found_where_it_was_moved_and_no_longer_as_it_was(db: apsw.Connection) -> None:
    old, new = "amber birch cedar dogwood elder", "fir ginkgo hazel ironwood juniper"
    put(db, 1, old)
    put(db, 1, new, scope=3)
    assert (alike(db, old), alike(db, new), alike(db, new, 3)) == ([], [], [1])


def test_nothing_stays_of_a_text_that_is_removed(db: apsw.Connection) -> None:
    put(db, 1, "amber birch cedar dogwood elder " * 100)
    assert db.execute(MARKS).get == sketches.MARKS
    index.remove(db, Kind.ENTRY, 1)
    assert db.execute(MARKS).get == 0


def test_the_texts_of_a_file_from_before_sketches_are_found(db: apsw.Connection) -> None:
    put(db, 1, "amber birch cedar dogwood elder")
    put(db, 1, "amber birch cedar dogwood elder", kind=Kind.TASK)
    db.execute("DROP TABLE sketches").fetchall()
    texts = [each.path.read_text() for each in migrate.migrations()]
    (step,) = [text for text in texts if "CREATE TABLE sketches" in text]
    db.execute(step).fetchall()
    assert db.execute(MARKS).get == 1
    assert alike(db, "birch amber cedar dogwood elder") == [1]
    assert db.execute(MARKS).get == sketches.MARKS


def test_a_clearing_takes_the_sketches_too(db: apsw.Connection) -> None:
    put(db, 1, "amber birch cedar dogwood elder")
    put(db, 2, "fir ginkgo hazel ironwood juniper")
    index.clear(db)
    put(db, 2, "fir ginkgo hazel ironwood juniper")
    assert alike(db, "amber birch cedar dogwood elder") == []
    assert alike(db, "fir ginkgo hazel ironwood juniper") == [2]


def test_marks_never_change_because_they_are_kept() -> None:
    assert sketches.marks("amber birch cedar", "n2z")[:2] == [
        2_073_727_402_449_398_366,
        517_701_435_445_192_288,
    ]
