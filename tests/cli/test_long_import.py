"""An import of several portions: others write meanwhile, and it is all or nothing all the same."""

from __future__ import annotations

import pytest

from memrpc.app import Application
from memrpc.archive import exporting, importing, recalling, recording
from memrpc.archive.model import Role
from memrpc.archive.recalling import RecallInput
from memrpc.archive.recording import RecordInput
from memrpc.settings import load
from memrpc.store import portions, transfer
from memrpc.store.errors import InvalidArguments
from tests.archive.scenes import NOW, Archive
from tests.cli.test_verbs import run
from tests.memory_file import open_database

LINES = 2 * transfer.PORTION_LINES + 10


@pytest.fixture(scope="module")
def exported() -> list[str]:
    """An export whose first event is corrected by its last one, two portions later."""
    archive = Archive(open_database())
    first = archive.record("e0", "The bridge opens at six.", session_id="s").memory_ids[0]
    for number in range(1, LINES):
        archive.record(f"e{number}", f"Gauge {number} was read.", session_id="s")
    archive.correct(first, "The bridge opens at nine.")
    return [transfer.header(), *exporting.export_lines(archive.db)]


@pytest.fixture
def database(tmp_path):
    application = Application(load({"db": str(tmp_path / "memory.db")}))
    yield application.database
    application.close_quickly()


@pytest.fixture
def other(database):
    """Another process's view of the file, as far as locks go."""
    application = Application(load({"db": str(database.path)}))
    yield application.database
    application.close_quickly()


def load_lines(database, lines, pause=lambda: None, **how):
    readers = (importing.READER,)
    how = {"skip_bad": False} | how
    return portions.import_all(database, lambda: lines, readers, pause=pause, **how)


def note(database, event_id: str) -> None:
    entry = RecordInput(event_id, "Said meanwhile.", Role.USER, "Ann")
    database.write_blocking(lambda db: recording.record(db, entry, now=NOW))


def export(database) -> list[str]:
    return [transfer.header(), *database.read_blocking(lambda db: [*exporting.export_lines(db)])]


def test_a_long_import_keeps_everything(database, exported):
    report = load_lines(database, exported)
    assert (report.imported, report.bad) == (LINES + 1, ())
    assert export(database) == exported


def test_others_write_between_the_portions_of_a_long_import(database, other, exported):
    said = iter(range(99))
    report = load_lines(database, exported, lambda: note(other, f"meanwhile-{next(said)}"))
    assert report.imported == LINES + 1
    assert len(export(database)) == len(exported) + next(said)
    assert next(said) > 2


def test_a_bad_last_line_of_a_long_import_leaves_nothing(database, exported):
    with pytest.raises(InvalidArguments, match=f"Line {len(exported) + 1} is bad"):
        load_lines(database, [*exported, "not json"])
    assert export(database) == [transfer.header()]


def test_an_id_that_is_taken_during_a_long_import_is_named_and_passed_over(
    database, other, exported
):
    pauses = iter(range(99))
    report = load_lines(
        database, exported, lambda: note(other, f"e{LINES - 1}") if next(pauses) == 0 else None
    )
    assert [(bad.number, "event_id is taken" in bad.message) for bad in report.bad] == [
        (len(exported) - 1, True)
    ]
    assert report.imported == LINES


def test_what_was_corrected_is_not_told_as_current_before_its_correction_is_in(
    database, other, exported
):
    told: list[list[str]] = []

    def ask() -> None:
        request = RecallInput("When does the bridge open?")
        answer = other.read_blocking(lambda db: recalling.recall(db, request, now=NOW))
        told.append([memory.content for memory in answer.memories])
        assert not [raw for raw in answer.raw if "six" in raw.excerpt]

    load_lines(database, exported, ask)
    assert told[0] == []
    assert told[-1][0] == "The bridge opens at nine."


def test_a_long_import_may_come_through_a_pipe(tmp_path, exported):
    path = tmp_path / "piped.db"
    done = run(path, "import", "-", text="\n".join(exported))
    assert (done.returncode, done.stdout.split()[0]) == (0, str(LINES + 1))
    assert run(path, "export").stdout.splitlines() == exported
