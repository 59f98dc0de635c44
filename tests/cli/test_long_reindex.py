"""A reindex of several portions: others write meanwhile, and what is found is right throughout."""

from __future__ import annotations

import pytest

from memrpc.app import Application
from memrpc.archive import forgetting, indexing, memories, recalling, recording
from memrpc.archive.model import Role, Scope
from memrpc.archive.recalling import RecallInput
from memrpc.archive.recording import RecordInput
from memrpc.cli import reindex, run
from memrpc.recall import index
from memrpc.recall.model import Document, Kind
from memrpc.settings import load
from tests.archive.scenes import NOW, Archive
from tests.memory_file import open_database

EVENTS = 12
UNITS = "SELECT subject, chunk, own, joined, head, prev, next, near, meta, is_code FROM units"
WORDS = "SELECT rowid FROM unit_text WHERE unit_text MATCH 'own:e1zheron'"
SOURCES = "SELECT unit_id, version FROM unit_sources ORDER BY unit_id"
OUTDATE = "UPDATE units SET is_code = 1 - is_code"
GHOST = "INSERT INTO unit_text (rowid, own) VALUES (999, 'e1zheron')"
DAMAGE = "UPDATE unit_text_data SET block = zeroblob(length(block)) WHERE id > 10"


@pytest.fixture(autouse=True)
def short_portions(monkeypatch):
    """One record a portion."""
    monkeypatch.setattr(reindex, "PORTION_S", 0)


def opened(path):
    return Application(load({"db": str(path)}))


@pytest.fixture
def database(tmp_path):
    application = opened(tmp_path / "memory.db")
    for number in range(EVENTS):
        note(application.database, f"e{number}", f"Gauge {number} was read.")
    yield application.database
    application.close_quickly()


@pytest.fixture
def other(database):
    """Another process's view of the file, as far as locks go."""
    application = opened(database.path)
    yield application.database
    application.close_quickly()


def note(database, event_id: str, text: str) -> None:
    entry = RecordInput(event_id, text, Role.USER, "Ann", session_id="s")
    database.write_blocking(lambda db: recording.record(db, entry, now=NOW))


def rows(database, sql: str) -> list[tuple]:
    return database.read_blocking(lambda db: db.execute(sql).fetchall())


def change(database, sql: str) -> None:
    database.write_blocking(lambda db: db.execute(sql).fetchall())


def found(database, query: str) -> list[str]:
    request = RecallInput(query)
    answer = database.read_blocking(lambda db: recalling.recall(db, request, now=NOW))
    return [each.event_id for each in (*answer.memories, *answer.raw)]


def reindexed(database, *flags: str) -> int:
    return run(["reindex", *flags, "--db", str(database.path)])


def test_outdated_rows_are_brought_up_to_date_and_the_others_stay(database):
    before, sources = rows(database, UNITS), rows(database, SOURCES)
    change(database, OUTDATE)
    assert rows(database, UNITS) != before
    assert reindexed(database) == 0
    assert (rows(database, UNITS), rows(database, SOURCES)) == (before, sources)


def test_memories_have_units_of_their_own_where_their_events_do_not_speak_for_them():
    archive = Archive(open_database())
    (wrong,) = archive.record("e", "Mia likes tea.").memory_ids
    (right,) = archive.record("f", "Tom likes milk.").memory_ids
    archive.correct(wrong, "Mia likes cocoa.")
    before = archive.db.execute(UNITS).fetchall()
    memory = memories.by_id(archive.db, right)
    subject = indexing.memory_subject(memory.key)
    with archive.db:
        index.put(archive.db, Document(Kind.EVENT, subject, memory.scope, memory.content))
        index.remove(archive.db, Kind.EVENT, indexing.memory_subject(memory.key - 1))
    assert archive.db.execute(UNITS).fetchall() != before
    with archive.db:
        done = sum(renew(archive.db) for renew in indexing.renewals(archive.db))
    assert done == len(before)
    assert sorted(archive.db.execute(UNITS).fetchall()) == sorted(before)


def test_others_write_between_the_portions_of_a_long_reindex(database, other):
    said = iter(range(99))
    pause = lambda: note(other, f"m{(n := next(said))}", f"Meanwhile {n} came.")  # noqa: E731 -- short
    assert reindex.renew(database, pause) == EVENTS
    assert next(said) == EVENTS
    assert found(other, "meanwhile 7 came")[0] == "m7"


def test_what_is_asked_between_the_portions_is_found_once(database, other):
    change(database, OUTDATE)
    told = []
    reindex.renew(database, lambda: told.append(found(other, "When was gauge 7 read?").count("e7")))
    assert told == [1] * EVENTS


def test_what_is_forgotten_during_a_reindex_stays_forgotten(database, other):
    def forget() -> None:
        if found(other, "gauge 11")[0] == "e11":
            other.write_blocking(lambda db: forgetting.forget(db, "e11", Scope(), now=NOW))

    assert reindex.renew(database, forget) == EVENTS - 1
    assert "e11" not in found(database, "gauge 11")
    assert len(rows(database, UNITS)) == EVENTS - 1


def test_a_reindex_that_is_stopped_leaves_an_index_that_is_right(database):
    def stop() -> None:
        raise KeyboardInterrupt

    change(database, OUTDATE)
    with pytest.raises(KeyboardInterrupt):
        reindex.renew(database, stop)
    assert {found(database, f"gauge {n} was read")[0] for n in range(EVENTS)} == {
        f"e{n}" for n in range(EVENTS)
    }


def test_a_damaged_index_is_made_from_scratch(database, other):
    change(database, DAMAGE)
    assert not database.read_blocking(reindex.is_sound)
    assert reindexed(database) == 0
    assert other.read_blocking(reindex.is_sound)
    assert found(other, "gauge 7 was read")[0] == "e7"


@pytest.mark.parametrize(
    "loss",
    [
        "DELETE FROM unit_text_docsize WHERE id = 8",
        "INSERT INTO unit_text (unit_text) VALUES ('delete-all')",
        "DELETE FROM units WHERE unit_id = 8",
        "DELETE FROM collections",
        "UPDATE collections SET units = units + 1",
        GHOST,
    ],
)
def test_an_index_that_lacks_something_is_made_from_scratch(database, other, loss):
    change(database, loss)
    assert not database.read_blocking(reindex.is_sound)
    assert reindexed(database) == 0
    assert other.read_blocking(reindex.is_sound)
    assert found(other, "gauge 7 was read")[0] == "e7"


def test_from_scratch_leaves_nothing_of_the_old_index(database):
    sources = rows(database, SOURCES)
    change(database, GHOST)
    assert rows(database, WORDS) == [(999,)]
    assert reindexed(database, "--from-scratch") == 0
    assert rows(database, WORDS) == []
    assert rows(database, SOURCES) != sources
