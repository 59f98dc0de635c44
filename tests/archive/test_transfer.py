from __future__ import annotations

import json

import pytest

from memrpc.archive import checkpoints, exporting, importing, persona, times
from memrpc.archive.answers import CheckpointState
from memrpc.archive.checkpoints import CheckpointInput
from memrpc.archive.model import Category, Cue, CueKind, Method, Role, Scope
from memrpc.store import jobs, transfer
from memrpc.store.errors import InvalidArguments
from memrpc.store.transfer import Report
from tests.archive.scenes import NOW, SECOND, Archive, contents
from tests.memory_file import open_database

OTHER = Scope("ada", "other")


@pytest.fixture
def full(archive: Archive) -> Archive:
    """One of everything."""
    drawn = archive.record(
        "e1",
        "User likes dogs. User has a garden.\u2028Two lines.",
        session_id="s",
        occurred_at="2026-01-01T00:00:00+09:00",
        cues=(Cue(CueKind.PHOTO, "p", "label"), Cue(CueKind.TEXT, "t")),
    ).memory_ids
    archive.now += 7
    archive.correct(drawn[0], "User likes cats.", valid_at="2026-04-01T00:00:00Z")
    archive.record("e2", "Ada prunes roses.", scope=OTHER, category=Category.REFERENCE)
    archive.record("e3", "You are Ada.", scope=OTHER, category=Category.PERSONA, role=Role.SYSTEM)
    archive.commit("e4", "Not extracted yet.", method=Method.NONE)
    archive.commit("e5", "Waiting for its turn.")
    with archive.db:
        request = CheckpointInput(
            CheckpointState("goal", ("a",), ("b",), ("c",), "d"), "e2", scope=OTHER
        )
        checkpoints.save(archive.db, request, now=NOW, new_id=archive.new_id)
        persona.replace(archive.db, "ada", ["You are Ada.", "Be terse."], now=NOW)
        persona.replace(archive.db, "ada", ["You are Ada."], now=NOW + 1)
    return archive


def export(archive: Archive, **fields) -> list[str]:
    return [transfer.header(), *exporting.export_lines(archive.db, **fields)]


def load(archive: Archive, lines: list[str], **fields) -> Report:
    with archive.db:
        return transfer.import_lines(archive.db, lines, (importing.READER,), **fields)


def units(archive: Archive) -> set[tuple]:
    """What is indexed, whatever its place."""
    return {row[1:] for row in archive.dump()["units"]}


def counted(report: Report) -> tuple[int, int, int, int]:
    return (report.imported, report.known, report.forgotten, len(report.bad))


@pytest.fixture
def empty() -> Archive:
    return Archive(open_database())


def test_b105_a_round_trip_into_an_empty_archive_keeps_everything(
    full: Archive, empty: Archive
) -> None:
    lines = export(full)
    assert counted(load(empty, lines)) == (8, 0, 0, 0)
    assert export(empty) == lines
    assert jobs.list_jobs(empty.db)[0].subject == "6"
    for fields in ({}, {"include_history": True}, {"as_of": "2026-02-01T00:00:00Z"}):
        assert contents(empty.recall("user likes", **fields)) == contents(
            full.recall("user likes", **fields)
        )


def test_b105_a_second_import_changes_nothing(full: Archive, empty: Archive) -> None:
    lines = export(full)
    load(empty, lines)
    before = empty.dump()
    assert counted(load(empty, lines)) == (0, 8, 0, 0)
    assert empty.dump() == before


def test_b105_a_used_archive_keeps_what_it_had(full: Archive, empty: Archive) -> None:
    empty.new_id = iter(f"other-{n}" for n in range(99)).__next__  # type: ignore[method-assign]
    empty.record("mine", "User likes tea.", session_id="s")
    load(empty, export(full))
    assert contents(empty.recall("tea")) == ["User likes tea."]
    assert contents(empty.recall("cats")) == ["User likes cats."]
    assert [line for line in export(empty) if '"mine"' not in line] == export(full)


def test_a_correction_made_elsewhere_reaches_the_memory_that_was_current_here(
    archive: Archive, empty: Archive
) -> None:
    old = archive.record("e", "User likes dogs.").memory_ids[0]
    load(empty, export(archive))
    archive.correct(old, "User likes cats.")
    load(empty, export(archive))
    assert contents(empty.recall("user likes")) == ["User likes cats."]
    assert export(empty) == export(archive)
    assert units(empty) == units(archive)


def test_lines_may_come_in_any_order(full: Archive, empty: Archive) -> None:
    header, *events = [line for line in export(full) if '"checkpoint_id"' not in line]
    load(empty, [header, *reversed(events)])
    for line in events:
        assert line in export(empty)


def test_an_import_that_was_stopped_half_way_is_completed_by_repeating_it(
    full: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfer, "PORTION_LINES", 1)
    lines = export(full)
    for taken in range(len(lines)):
        here = Archive(open_database())
        running = transfer.Import((importing.READER,))
        with here.db:
            for portion in list(transfer.portions(lines))[:taken]:
                running.take(here.db, portion)
        load(here, lines)
        assert export(here) == lines
        assert units(here) == units(full)
        assert counted(load(here, lines))[0] == 0


def test_what_was_forgotten_here_stays_forgotten(full: Archive) -> None:
    lines = [line for line in export(full) if '"checkpoint_id"' not in line]
    full.forget("e2", OTHER)
    assert counted(load(full, lines)) == (0, 6, 1, 0)
    assert full.recall("roses", scope=OTHER).memories == ()


def bad(name: str, value: object) -> str:
    line = json.loads(event_line("bad"))
    (line["memories"][0] if name in line["memories"][0] else line)[name] = value
    return json.dumps(line)


CORE = (
    '{"type": "persona", "persona_id": "p", "version": 1, "updated_at": "2026-01-01T00:00:00Z", '
    '"items": ITEMS}'
)
STATE = (
    '{"type": "checkpoint", "covered_event_id": "good", "state": {"goal": "g", "completed": LIST, '
    '"pending": [], "constraints": [], "next_step": ""}}'
)


def event_line(event_id: str, text: str = "User likes tea.") -> str:
    archive = Archive(open_database())
    archive.new_id = lambda: f"m-{event_id}"  # type: ignore[method-assign]
    archive.record(event_id, text)
    return export(archive)[1]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("{not json", "not the JSON of a record"),
        ("[1, 2]", "wrong type"),
        ('"text"', "wrong type"),
        ('{"type": "entity", "name": "x"}', "type is 'entity'; it must be one of archive, event"),
        ('{"type": "archive", "format": 99}', "format is 99"),
        ('{"type": "event"}', "the field 'event_id' is missing"),
        (bad("text", " "), "text is blank"),
        (bad("text", 5), "text must be text"),
        (bad("text", "x" * 200_001), "text has 200,001 characters"),
        (bad("role", "robot"), "role must be one of user, assistant"),
        (bad("occurred_at", "2026-01-01"), "occurred_at has no time zone"),
        (bad("occurred_at", None), "occurred_at must be text"),
        (bad("valid_from", 5), "valid_from must be text"),
        (bad("payload_sha256", "zz"), "payload_sha256 must be 64 hexadecimal digits"),
        (bad("payload_sha256", "aa"), "payload_sha256 must be 64 hexadecimal digits"),
        (bad("payload_sha256", 5), "payload_sha256 must be text"),
        (bad("memory_id", ""), "memory_id is blank"),
        (bad("memory_id", "m" * 501), "memory_id has 501 characters"),
        (bad("gist", "x" * 4_001), "gist has 4,001"),
        (bad("gist", 5), "gist must be text"),
        (bad("content", "x" * 4_001), "content has 4,001"),
        (bad("quote", "User likes beer."), "quote does not occur"),
        (bad("confidence", "high"), "confidence must be a number"),
        (bad("superseded_by", ["m"]), "superseded_by must be text"),
        (bad("cues", [{"kind": "text", "key": "k", "label": ["l"]}]), "wrong type"),
        (bad("confidence", 2), "breaks a rule of the file (CHECK constraint failed"),
        (bad("extraction", {"state": "complete", "method": "llm", "attempts": 1e30}), "too large"),
        (bad("status", "asleep"), "status must be one of current"),
        (bad("inferred", "no"), "inferred must be true or false"),
        (CORE.replace("ITEMS", '"abc"'), "items must be a list of texts"),
        *[
            (CORE.replace('"version": 1', f'"version": {version}').replace("ITEMS", '["a"]'), told)
            for version in ("0", "-1", "1.5", "true", '"1"', str(2**63 - 1))
            for told in ["version must be a whole number from 1 to 1,000,000,000"]
        ],
        (CORE.replace("ITEMS", "[1]"), "items must be a list of texts"),
        (STATE.replace("LIST", '"abc"'), "completed must be a list of texts"),
        (event_line("good", "User likes cocoa."), "event_id is taken here"),
    ],
)
def test_b105_a_bad_line_is_named_by_number_and_nothing_is_imported(
    empty: Archive, line: str, cause: str
) -> None:
    before = empty.dump()
    lines = [event_line("good"), "", line, event_line("also good")]
    with pytest.raises(
        InvalidArguments, match=r"Line 3 is bad: .*Nothing was imported\."
    ) as caught:
        load(empty, lines)
    assert cause in caught.value.message
    assert caught.value.details == {"line": 3}
    assert empty.dump() == before
    report = load(empty, lines, skip_bad=True)
    assert [(b.number, cause in b.message) for b in report.bad] == [(3, True)]
    assert counted(report) == (2, 0, 0, 1)
    assert empty.db.pragma("integrity_check") == "ok"


def test_b105_line_ends_and_marks_of_other_systems_do_no_harm(empty: Archive) -> None:
    lines = ["\ufeff" + event_line("a") + "\r\n", "\r\n", event_line("b")]
    assert counted(load(empty, lines)) == (2, 0, 0, 0)


def test_an_export_may_be_of_one_scope_or_of_what_is_new(full: Archive) -> None:
    def ids(lines: list[str]) -> list[str]:
        return [record.get("event_id") or record["type"] for record in map(json.loads, lines)]

    assert ids(export(full, scope=OTHER)) == ["archive", "e2", "e3", "checkpoint", "persona"]
    full.now += 1
    full.record("e6", "User likes tea.")
    assert ids(export(full, since=full.now)) == ["archive", "e6"]
    assert "persona" in ids(export(full, since=NOW + 1))


def test_what_is_new_brings_the_end_of_what_it_corrected(archive: Archive, empty: Archive) -> None:
    old = archive.record("e", "User likes dogs.").memory_ids[0]
    load(empty, export(archive))
    archive.now += SECOND
    new = archive.correct(old, "User likes cats.", valid_at=times.to_text(archive.now))
    load(empty, export(archive, since=archive.now))
    empty.now = archive.now
    assert contents(empty.recall("user likes")) == ["User likes cats."]
    archive.now += SECOND
    archive.correct(new.replacement_id, "User likes fish.", valid_at=times.to_text(NOW + 1))
    load(empty, export(archive, since=archive.now))
    empty.now = archive.now
    assert contents(empty.recall("user likes")) == ["User likes fish."]
    assert export(empty) == export(archive)
    assert units(empty) == units(archive)


def test_what_is_new_brings_memories_that_were_drawn_late(archive: Archive, empty: Archive) -> None:
    seq = archive.commit("e", "User likes dogs.").seq
    load(empty, export(archive))
    archive.now += SECOND
    archive.extract(seq)
    load(empty, export(archive, since=archive.now))
    assert contents(empty.recall("dogs")) == ["User likes dogs."]


def test_what_both_sides_drew_from_an_event_is_known(archive: Archive, empty: Archive) -> None:
    seq = archive.commit("e", "User likes dogs.").seq
    load(empty, export(archive))
    archive.new_id = iter(["there"]).__next__  # type: ignore[method-assign]
    for side in (archive, empty):
        side.extract(seq)
    assert counted(load(empty, export(archive))) == (0, 1, 0, 0)
    assert contents(empty.recall("dogs")) == ["User likes dogs."]


def test_a_checkpoint_that_ended_elsewhere_ends_here(archive: Archive, empty: Archive) -> None:
    memory_id = archive.record("e", "User likes dogs.").memory_ids[0]
    with archive.db:
        request = CheckpointInput(CheckpointState("goal", (), (), (), ""), "e")
        checkpoints.save(archive.db, request, now=archive.now, new_id=archive.new_id)
    load(empty, export(archive))
    archive.now += SECOND
    archive.correct(memory_id, "User likes cats.")
    load(empty, export(archive, since=archive.now))
    assert checkpoints.latest(empty.db, 1, None) is None
    assert export(empty) == export(archive)


def test_an_import_links_no_memory_to_another_scope(empty: Archive) -> None:
    load(empty, [event_line("a")])
    line = json.loads(event_line("b", "User likes milk."))
    line["persona_id"] = "someone"
    line["memories"][0] |= {"superseded_by": "m-a", "status": "superseded"}
    load(empty, [json.dumps(line)])
    assert empty.forget("b", Scope("someone", "default")).deleted_event_ids == ("b",)
    assert contents(empty.recall("likes")) == ["User likes tea."]


def test_a_memory_of_another_event_is_not_taken_over(empty: Archive) -> None:
    load(empty, [event_line("a")])
    line = json.loads(event_line("b", "User likes milk."))
    line["memories"][0]["memory_id"] = "m-a"
    with pytest.raises(InvalidArguments, match="memory_id is taken here"):
        load(empty, [json.dumps(line)])


def test_an_older_core_does_not_replace_a_newer_one(full: Archive, empty: Archive) -> None:
    with empty.db:
        for number in range(5):
            persona.replace(empty.db, "ada", [f"Be {number}."], now=NOW)
    load(empty, export(full))
    assert persona.current(empty.db, "ada").items == ("Be 4.",)


def test_times_survive_to_the_microsecond(empty: Archive) -> None:
    empty.now = times.parse("2026-05-20T08:29:42.123457+09:00", "")
    empty.record("e", "User likes tea.")
    (line,) = export(empty)[1:]
    assert json.loads(line)["recorded_at"] == "2026-05-19T23:29:42.123457Z"
