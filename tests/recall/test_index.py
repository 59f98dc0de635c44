from __future__ import annotations

from pathlib import Path

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memrpc.recall import index
from memrpc.recall.model import Document, Kind
from memrpc.store.migrate import migrate

from .shelves import any_text, document, fill, found, refill, vocabulary

relaxed = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60
)
UNIT_IDS = "SELECT unit_id FROM units ORDER BY unit_id"
INTEGRITY = "INSERT INTO unit_text (unit_text, rank) VALUES ('integrity-check', 0)"
COUNTED = "SELECT kind, scope, units, tokens FROM collections WHERE units ORDER BY kind, scope"
COUNTABLE = """
SELECT kind, scope, count(*), sum(tokens) FROM units GROUP BY kind, scope ORDER BY kind, scope"""

documents = st.builds(
    Document,
    kind=st.sampled_from([Kind.EVENT, Kind.MEMORY]),
    subject=st.integers(1, 4),
    scope=st.integers(1, 2),
    text=any_text,
    speaker=st.sampled_from(["", "Ann", "鈴木"]),
    occurred_at=st.sampled_from([0, 1_683_540_000_000_000, -(10**17), 10**18]),
    before=st.lists(any_text, max_size=2).map(tuple),
    after=st.lists(any_text, max_size=2).map(tuple),
    head=st.sampled_from(["", "def getUserProfile(self):"]),
)


@relaxed
@given(st.lists(documents, max_size=8))
def test_what_is_removed_leaves_no_term_behind(
    db: apsw.Connection, history: list[Document]
) -> None:
    refill(db, history)
    assert db.execute(COUNTED).fetchall() == db.execute(COUNTABLE).fetchall()
    db.execute(INTEGRITY).fetchall()
    for each in history:
        index.remove(db, each.kind, each.subject)
    assert vocabulary(db) == []
    assert db.execute(UNIT_IDS).fetchall() == []
    assert db.execute(COUNTED).fetchall() == []


@relaxed
@given(st.lists(documents, min_size=1, max_size=6))
def test_the_terms_are_those_of_the_last_version_only(
    db: apsw.Connection, history: list[Document]
) -> None:
    refill(db, history)
    replaced = sorted(row[:1] + row[2:] for row in vocabulary(db))
    last = {(each.kind, each.subject): each for each in history}
    refill(db, last.values())
    assert sorted(row[:1] + row[2:] for row in vocabulary(db)) == replaced


def test_an_unchanged_document_is_not_written_again(db: apsw.Connection) -> None:
    index.put(db, document(1, "the same words " * 100))
    before = db.total_changes()
    index.put(db, document(1, "the same words " * 100))
    assert db.total_changes() == before


def test_a_unit_keeps_its_id_when_only_its_neighbours_change(db: apsw.Connection) -> None:
    index.put(db, document(1, "I moved to Lyon"))
    ids = db.execute(UNIT_IDS).fetchall()
    index.put(db, document(1, "I moved to Lyon", after=("How nice!",)))
    assert db.execute(UNIT_IDS).fetchall() == ids
    assert found(db, "nice") == [1]


def test_a_text_that_becomes_shorter_loses_its_last_chunks(db: apsw.Connection) -> None:
    index.put(db, document(1, "padding words " * 100 + "zebra"))
    index.put(db, document(1, "padding words"))
    assert found(db, "zebra") == []
    assert len(db.execute(UNIT_IDS).fetchall()) == 1


def test_a_long_text_carries_no_neighbours(db: apsw.Connection) -> None:
    index.put(db, document(1, "padding words " * 100, before=("zebra",), after=("giraffe",)))
    assert found(db, "zebra giraffe") == []


def test_neighbours_are_cut(db: apsw.Connection) -> None:
    index.put(db, document(1, "short", after=("padding " * 60 + "zebra",)))
    assert found(db, "zebra") == []
    assert found(db, "padding") == [1]


def test_what_is_put_after_a_clearing_stands_alone(db: apsw.Connection) -> None:
    fill(db, ["zebra"])
    refill(db, [document(7, "giraffe")])
    assert found(db, "zebra") == []
    assert found(db, "giraffe") == [7]


def test_scrub_leaves_the_index_whole_and_without_traces_of_its_own(db: apsw.Connection) -> None:
    fill(db, ["zebra", "giraffe"])
    terms = vocabulary(db)
    index.scrub(db)
    db.execute(INTEGRITY).fetchall()
    assert vocabulary(db) == terms


@pytest.mark.parametrize("scope", [1, 12, 112])
def test_no_collection_prefix_is_the_beginning_of_another(scope: int) -> None:
    others = [
        index.collection_prefix(kind, number)
        for kind in Kind
        for number in (1, 2, 11, 12, 112)
        if (kind, number) != (Kind.EVENT, scope)
    ]
    own = index.collection_prefix(Kind.EVENT, scope)
    assert not [each for each in others if own.startswith(each) or each.startswith(own)]


@pytest.mark.parametrize(
    ("secret", "needles"),
    [
        ("Xylophonquartz", ["xylophonq", "phonquartz", "ylopho"]),
        ("霹靂驚鴻", ["霹靂", "驚鴻", "靂驚"]),
    ],
)
def test_b33_no_byte_of_a_removed_word_is_left_after_the_purge(
    tmp_path: Path, secret: str, needles: list[str]
) -> None:
    path = tmp_path / "memory.db"
    db = apsw.Connection(str(path))
    for pragma in ("journal_mode = WAL", "secure_delete = ON", "temp_store = MEMORY"):
        db.execute(f"PRAGMA {pragma}").fetchall()
    migrate(db)
    for subject in range(60):
        index.put(db, document(subject, f"plain text number {subject} about the weather"))
    neighbour = document(100, "and then?", before=(f"I hid the {secret}",))
    index.put(db, document(99, f"I hid the {secret} in the garden"))
    index.put(db, neighbour)
    index.remove(db, Kind.EVENT, 99)
    index.put(db, document(100, "and then?"))
    index.scrub(db)
    db.execute("VACUUM").fetchall()
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    held = b"".join(each.read_bytes() for each in tmp_path.iterdir()).lower()
    assert [each for each in needles if each.encode() in held] == []
    db.close()
