from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from memrpc.archive import checkpoints, reading
from memrpc.archive.answers import CheckpointState, ForgetReceipt
from memrpc.archive.checkpoints import CheckpointInput
from memrpc.archive.model import Cue, CueKind, Erasure, Method, Scope
from memrpc.archive.reading import ReadInput
from memrpc.recall import index
from memrpc.store import jobs, purge
from memrpc.store.errors import NotFound
from tests.archive.scenes import NOW, SECOND, Archive, contents, excerpts
from tests.memory_file import open_database

STATE = CheckpointState("Ship the zebra")


def save(archive: Archive, event_id: str, state: CheckpointState = STATE) -> str:
    with archive.db:
        request = CheckpointInput(state, event_id)
        return checkpoints.save(
            archive.db, request, now=archive.now, new_id=archive.new_id
        ).checkpoint_id


def test_b38_an_event_goes_with_its_memories_and_its_chain_of_corrections(
    archive: Archive,
) -> None:
    drawn = archive.record("e", "Mia likes tea. Tom likes milk. Ann likes beer.").memory_ids
    kept = archive.record("kept", "Zoe likes wine.")
    first = archive.correct(drawn[0], "Mia likes cocoa.")
    second = archive.correct(first.replacement_id, "Mia likes juice.")
    save(archive, "e")
    save(archive, "kept")
    receipt = archive.forget(drawn[2])
    assert receipt == ForgetReceipt(
        deleted_event_ids=("e", first.correction_event_id, second.correction_event_id),
        deleted_memory_ids=(*drawn, first.replacement_id, second.replacement_id),
        invalidated_checkpoints=2,
        erasure=Erasure.PENDING,
        scope=Scope(),
    )
    rows = archive.dump()
    assert [row[1] for row in rows["events"]] == ["kept"]
    assert [row[1] for row in rows["memories"]] == list(kept.memory_ids)
    assert {row[2] for row in rows["units"]} == {kept.seq}
    with pytest.raises(NotFound):
        archive.forget(drawn[2])
    with pytest.raises(NotFound):
        archive.forget("e")


def test_forgetting_the_correction_forgets_what_it_corrected(archive: Archive) -> None:
    old = archive.record("e", "Mia likes tea.").memory_ids[0]
    receipt = archive.forget(archive.correct(old, "Mia likes cocoa.").correction_event_id)
    assert receipt.deleted_event_ids[0] == "e"
    assert archive.recall("Mia", include_history=True).memories == ()


def test_b36_another_scope_stays_untouched(archive: Archive) -> None:
    other = Scope("default", "b")
    archive.record("a", "Mia likes tea.")
    archive.record("b", "Mia likes tea.", scope=other)
    with pytest.raises(NotFound):
        archive.forget("b")
    archive.forget("a")
    assert contents(archive.recall("tea", scope=other)) == ["Mia likes tea."]
    assert archive.recall("tea").memories == ()


def test_a_waiting_extraction_is_not_owed_any_more(archive: Archive) -> None:
    archive.commit("e", "Mia likes tea.")
    archive.forget("e")
    assert [(job.kind, job.due_at) for job in jobs.list_jobs(archive.db)] == [
        (purge.JOB_KIND, NOW + SECOND)
    ]


def test_one_purge_serves_every_forget(archive: Archive) -> None:
    for name in ("a", "b"):
        archive.record(name, "Mia likes tea.")
        archive.forget(name)
    assert len(jobs.list_jobs(archive.db)) == 1


def test_neighbours_keep_no_word_of_what_was_forgotten(archive: Archive) -> None:
    for name, text in (("a", "The sky is blue."), ("b", "Mia has a zebra."), ("c", "Tea is hot.")):
        archive.record(name, text, session_id="s", source=name)
    assert len(excerpts(archive.recall("zebra"))) == 2
    archive.forget("b")
    assert "zebra" not in str(archive.dump()["units"])
    answer = archive.recall("zebra")
    assert (answer.memories, answer.raw) == ((), ())
    units = archive.db.execute("SELECT speaker, prev, next FROM units ORDER BY subject").fetchall()
    assert units == [("a", "", "tea be hot"), ("c", "the sky be blue", "")]


def test_checkpoints_lose_their_text_from_the_forgotten_event_on(archive: Archive) -> None:
    for name in ("a", "b", "c"):
        archive.record(name, f"Mia likes {name}{name}{name}.")
        save(archive, name)
    archive.forget("b")
    rows = archive.db.execute(
        "SELECT covered_event_id, state IS NULL, invalidated_by FROM checkpoints"
    ).fetchall()
    assert rows == [("a", 0, "forget"), ("b", 1, "forget"), ("c", 1, "forget")]


def test_the_persona_stays_and_only_the_id_is_remembered(archive: Archive) -> None:
    archive.record("e", "Mia likes tea.", cues=(Cue(CueKind.TEXT, "zebra"),))
    archive.forget("e")
    rows = archive.dump()
    assert rows["tombstones"] == [("e", NOW)]
    assert all(rows[name] == [] for name in ("events", "memories", "cues", "units"))


def test_unknown_and_foreign_ids_are_refused_alike(archive: Archive) -> None:
    archive.record("e", "Mia likes tea.", scope=Scope("x", "y"))
    before = archive.dump()
    messages = set()
    for record_id in ("e", "unknown"):
        with pytest.raises(NotFound) as caught:
            archive.forget(record_id)
        messages.add(caught.value.message)
    assert len(messages) == 1
    assert archive.dump() == before


HIDDEN = "Xylophonquartett"


def test_b33_after_the_purge_no_byte_of_the_text_is_left(tmp_path: Path) -> None:
    db = open_database(str(tmp_path / "memory.db"))
    archive = Archive(db)
    fill(archive)
    text = f"Mia owns a {HIDDEN} and 木琴四重奏団 since 2019. Is {HIDDEN.upper()}s fine?"
    cue = Cue(CueKind.TEXT, f"{HIDDEN}-cue", f"{HIDDEN} label")
    drawn = archive.record(
        "secret", text, session_id="s", source=f"{HIDDEN} app", cues=(cue,)
    ).memory_ids
    archive.correct(drawn[0], f"Mia owned a {HIDDEN}.")
    archive.record("later", "The weather is fine today.", session_id="s")
    save(archive, "secret", CheckpointState(f"Sell the {HIDDEN}"))
    assert left(tmp_path)
    archive.forget("secret")
    assert all(HIDDEN.casefold() not in str(rows).casefold() for rows in archive.dump().values())
    assert purge.purge(db, scrub=index.scrub) is purge.Erasure.COMPLETE
    assert left(tmp_path) == []
    db.close()


def fill(archive: Archive) -> None:
    for number in range(50):
        text = f"Number {number} is a fact about zithers and drums."
        archive.commit(f"e{number}", text, session_id="s", method=Method.NONE)


def left(folder: Path) -> list[str]:
    """Where the secret still is: its words, cut and folded as the index cuts and folds them."""
    needles = [HIDDEN.encode(), HIDDEN.casefold().encode(), b"Xylophonq", b"xylophonq"]
    needles += ["木琴".encode(), "四重".encode(), "奏団".encode()]
    return [
        f"{needle!r} in {path.name}"
        for path in folder.iterdir()
        for needle in needles
        if needle in path.read_bytes()
    ]


def test_nothing_recalls_it_from_the_commit_on(archive: Archive) -> None:
    drawn = archive.record("e", "Mia likes tea.", cues=(Cue(CueKind.TEXT, "k"),)).memory_ids
    archive.record("f", "Tom likes milk.")
    archive.forget("e")
    for fields in ({}, {"include_history": True}, {"cue_key": "k"}, {"as_of": "2099-01-01T00:00Z"}):
        answer = archive.recall("tea", **fields)
        assert (answer.memories, answer.raw) == ((), ())
    for record_id in ("e", *drawn):
        with pytest.raises(NotFound):
            reading.read(archive.db, ReadInput(record_id))


def test_integrity_holds_after_forgetting(archive: Archive) -> None:
    for number in range(20):
        archive.record(f"e{number}", f"Fact number {number} is true.", session_id="s")
    for number in range(0, 20, 2):
        archive.forget(f"e{number}")
    check(archive.db)


def check(db: apsw.Connection) -> None:
    assert db.pragma("integrity_check") == "ok"
    assert db.execute("PRAGMA foreign_key_check").fetchall() == []
