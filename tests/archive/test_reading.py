from __future__ import annotations

import pytest

from memrpc.archive import reading
from memrpc.archive.model import Cue, CueKind, Scope
from memrpc.archive.reading import ReadInput
from memrpc.store.errors import InvalidArguments, NotFound
from tests.archive.scenes import Archive

TEXT = "I like tea. 😀 I like cake."


def test_an_event_is_read_with_its_record(archive: Archive) -> None:
    receipt = archive.record("e", TEXT, cues=(Cue(CueKind.TEXT, "k"),), source="Mika")
    answer = reading.read(archive.db, ReadInput("e"))
    assert answer.memory is None
    assert answer.event.memory_ids == receipt.memory_ids
    assert (answer.event.source, answer.event.cues) == ("Mika", (Cue(CueKind.TEXT, "k"),))
    assert answer.source_page.text == TEXT


def test_a_memory_is_read_with_its_event(archive: Archive) -> None:
    receipt = archive.record("e", TEXT)
    answer = reading.read(archive.db, ReadInput(receipt.memory_ids[0]))
    assert answer.memory is not None
    assert (answer.memory.content, answer.event.event_id) == ("I like tea.", "e")
    assert answer.source_page.text == TEXT


def test_the_versions_of_a_memory_name_each_other(archive: Archive) -> None:
    old = archive.record("e", "I like tea.").memory_ids[0]
    new = archive.correct(old, "I like cake.", reason="changed").replacement_id
    before = reading.read(archive.db, ReadInput(old)).memory
    after = reading.read(archive.db, ReadInput(new))
    assert before is not None
    assert after.memory is not None
    assert (before.superseded_by, after.memory.corrects) == (new, old)
    assert (after.event.source, after.event.reason) == ("correction", "changed")


@pytest.mark.parametrize(
    ("offset", "max_chars", "text", "next_offset"),
    [
        (0, 12, "I like tea. ", 12),
        (12, 1, "😀", 13),
        (13, 99, " I like cake.", None),
        (999, 5, "", None),
    ],
)
def test_pages_count_code_points(
    archive: Archive, offset: int, max_chars: int, text: str, next_offset: int | None
) -> None:
    archive.record("e", TEXT)
    page = reading.read(archive.db, ReadInput("e", offset, max_chars)).source_page
    assert (page.text, page.next_offset, page.total_chars) == (text, next_offset, len(TEXT))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"offset": -1}, "offset is -1"),
        ({"max_chars": 0}, "max_chars is 0; send a whole number from 1 to 20,000"),
        ({"max_chars": 20_001}, "max_chars is 20001"),
    ],
)
def test_a_page_out_of_range_is_refused(archive: Archive, fields: dict, message: str) -> None:
    archive.record("e", TEXT)
    with pytest.raises(InvalidArguments, match=message):
        reading.read(archive.db, ReadInput("e", **fields))


def test_b90_an_unknown_id_and_one_of_another_scope_look_the_same(archive: Archive) -> None:
    memory_id = archive.record("e", TEXT, scope=Scope("a", "a")).memory_ids[0]
    archive.record("mine", "Something of my own.")
    refusals = set()
    for record_id in ("e", memory_id, "unknown"):
        with pytest.raises(NotFound) as caught:
            reading.read(archive.db, ReadInput(record_id))
        refusals.add((caught.value.message, str(caught.value.details)))
    assert len(refusals) == 1


def test_a_memory_id_that_is_also_an_event_id_elsewhere_is_still_found(archive: Archive) -> None:
    memory_id = archive.record("e", TEXT).memory_ids[0]
    archive.record(memory_id, "Of another project.", scope=Scope("default", "other"))
    answer = reading.read(archive.db, ReadInput(memory_id))
    assert answer.event.event_id == "e"
