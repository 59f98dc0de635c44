from __future__ import annotations

import subprocess
import sys

import pytest

from memrpc.archive import cues, events, extraction, reading, rules
from memrpc.archive.answers import Receipt
from memrpc.archive.extraction_verbatim import VERSION
from memrpc.archive.model import (
    Category,
    Cue,
    CueKind,
    Extraction,
    ExtractionState,
    MemoryKind,
    Method,
    Role,
    Scope,
    Statement,
)
from memrpc.archive.reading import ReadInput
from memrpc.store import jobs
from memrpc.store.errors import (
    Conflict,
    DomainError,
    InvalidArguments,
    InvalidState,
    LimitExceeded,
    NotFound,
)
from tests.archive.scenes import NOW, Archive, contents, excerpts

TEXT = "I am allergic to nuts. I live in Lyon."


def owed(archive: Archive) -> list[tuple[str, str]]:
    return [(job.kind, job.subject) for job in jobs.list_jobs(archive.db)]


def test_an_event_is_committed_with_its_units_and_its_job(archive: Archive) -> None:
    receipt = archive.commit("e", TEXT)
    assert receipt == Receipt(
        event_id="e",
        seq=1,
        recorded_at="2026-06-01T12:00:00Z",
        extraction=Extraction(ExtractionState.PENDING, Method.VERBATIM),
        memory_ids=(),
        duplicate=False,
        scope=Scope(),
    )
    assert owed(archive) == [("extract", "1")]
    assert len(archive.dump()["units"]) == 1


def test_extraction_completes_the_event_and_settles_its_job(archive: Archive) -> None:
    receipt = archive.record("e", TEXT)
    assert receipt.extraction == Extraction(ExtractionState.COMPLETE, Method.VERBATIM, attempts=1)
    assert len(receipt.memory_ids) == 2
    assert owed(archive) == []


def test_extraction_twice_draws_nothing_twice(archive: Archive) -> None:
    first = archive.record("e", TEXT)
    again = archive.extract(first.seq)
    assert again.memory_ids == first.memory_ids


def test_extraction_of_a_forgotten_event_says_so(archive: Archive) -> None:
    seq = archive.commit("e", TEXT).seq
    archive.forget("e")
    with pytest.raises(NotFound):
        archive.extract(seq)


def test_a_failed_attempt_is_counted_and_the_last_one_is_final(archive: Archive) -> None:
    seq = archive.commit("e", TEXT, method=Method.LLM).seq
    extraction.note_failure(archive.db, seq, "the endpoint answered 500", final=False)
    extraction.note_failure(archive.db, seq, "the endpoint answered 500", final=True)
    event = events.by_seq(archive.db, seq)
    assert event is not None
    assert event.extraction == Extraction(
        ExtractionState.FAILED, Method.LLM, attempts=2, error="the endpoint answered 500"
    )


def test_a_statement_without_its_quote_in_the_text_is_dropped(archive: Archive) -> None:
    event = events.by_seq(archive.db, archive.commit("e", TEXT).seq)
    assert event is not None
    proposed = [
        Statement(MemoryKind.SEMANTIC, "User avoids nuts", "allergic to nuts", NOW, inferred=True),
        Statement(MemoryKind.SEMANTIC, "User avoids fish", "allergic to fish", NOW),
    ]
    with archive.db:
        extraction.apply(archive.db, event, "llm:1", proposed, now=NOW, new_id=archive.new_id)
    answer = archive.recall("avoids allergic")
    assert answer.raw == ()
    assert [(m.content, m.quote, m.inferred) for m in answer.memories] == [
        ("User avoids nuts", "allergic to nuts", True)
    ]


def test_an_extraction_stores_at_most_thirty_memories(archive: Archive) -> None:
    event = events.by_seq(archive.db, archive.commit("e", TEXT).seq)
    assert event is not None
    many = [Statement(MemoryKind.SEMANTIC, f"No. {n}", "nuts", NOW) for n in range(40)]
    extraction.apply(archive.db, event, "llm:1", many, now=NOW, new_id=archive.new_id)
    assert len(archive.dump()["memories"]) == 30


def test_b45_the_same_payload_again_gets_the_same_receipt(archive: Archive) -> None:
    fields = {"cues": (Cue(CueKind.PHOTO, "p1"),), "occurred_at": "2026-05-01T00:00:00Z"}
    first = archive.record("e", TEXT, **fields)
    archive.now += 5
    before = archive.dump()
    again = archive.commit("e", TEXT, **fields)
    assert again == Receipt(
        **{name: getattr(first, name) for name in Receipt.__slots__} | {"duplicate": True}
    )
    assert archive.dump() == before


@pytest.mark.parametrize(
    "other",
    [
        {"text": "I live in Nice."},
        {"role": Role.ASSISTANT},
        {"source": "someone"},
        {"category": Category.REFERENCE},
        {"session_id": "another"},
        {"occurred_at": "2026-05-01T02:00:00+02:00"},
        {"occurred_at": None},
        {"cues": (Cue(CueKind.TEXT, "k", "a"),)},
        {"cues": ()},
        {"scope": Scope("default", "another")},
        {"scope": Scope("another", "default")},
    ],
)
def test_b45_another_payload_or_scope_is_a_conflict_and_changes_nothing(
    archive: Archive, other: dict
) -> None:
    fields = {
        "text": TEXT,
        "occurred_at": "2026-05-01T00:00:00Z",
        "cues": (Cue(CueKind.TEXT, "k"),),
    }
    archive.record("e", **fields)
    before = archive.dump()
    with pytest.raises(Conflict, match="event_id") as caught:
        archive.commit("e", **fields | other)
    assert TEXT not in caught.value.message
    assert archive.dump() == before


def test_b47_without_an_extractor_the_text_is_found_raw_and_the_answer_says_so(
    archive: Archive,
) -> None:
    receipt = archive.commit("e", TEXT, method=Method.NONE)
    assert receipt.extraction == Extraction(ExtractionState.PENDING, Method.NONE)
    answer = archive.recall("allergic")
    assert excerpts(answer) == [TEXT]
    assert answer.coverage.pending_extractions == 1
    assert answer.warnings == ("Events without memories yet: 1; their text was searched raw.",)
    assert owed(archive) == []


@pytest.mark.parametrize("field", ["event_id", "text", "source", "session_id"])
@pytest.mark.parametrize("value", ["", "  \n "])
def test_b48_a_blank_field_is_refused_by_name_and_nothing_is_written(
    archive: Archive, field: str, value: str
) -> None:
    fields = {"event_id": "e", "text": TEXT} | {field: value}
    before = archive.dump()
    with pytest.raises(InvalidArguments, match=f"{field} is blank") as caught:
        archive.commit(**fields)
    assert caught.value.details["field"] == field
    assert archive.dump() == before


@pytest.mark.parametrize("length", [199_999, 200_000])
def test_b51_a_text_up_to_the_limit_is_stored_and_read_back_in_pages(
    archive: Archive, length: int
) -> None:
    text = ("😀 é\n" * 50_000)[:length]
    archive.record("e", text)
    read, offset = "", 0
    while offset is not None:
        page = reading.read(archive.db, ReadInput("e", offset, 20_000)).source_page
        read, offset = read + page.text, page.next_offset
    assert read == text


def test_b51_a_longer_text_is_refused_with_the_limit(archive: Archive) -> None:
    with pytest.raises(LimitExceeded, match=r"text has 200,001 characters.*200,000"):
        archive.commit("e", "x" * 200_001)
    assert archive.dump()["events"] == []


@pytest.mark.parametrize(
    ("attached", "error", "field"),
    [
        ([Cue(CueKind.TEXT, f"k{n}") for n in range(21)], LimitExceeded, "cues"),
        ([Cue(CueKind.TEXT, "a"), Cue(CueKind.TEXT, " ")], InvalidArguments, r"cues\[1\].key"),
        ([Cue(CueKind.PHOTO, "a", "x" * 501)], LimitExceeded, r"cues\[0\].label"),
    ],
)
def test_unusable_cues_are_refused_by_place(
    archive: Archive, attached: list[Cue], error: type[DomainError], field: str
) -> None:
    with pytest.raises(error, match=field):
        archive.commit("e", TEXT, cues=tuple(attached))


def test_cues_are_kept_in_order(archive: Archive) -> None:
    attached = tuple(Cue(CueKind.TEXT, f"k{n}", f"label {n}") for n in range(rules.MAX_CUES))
    receipt = archive.commit("e", TEXT, cues=attached)
    assert cues.of_event(archive.db, receipt.seq) == attached


def test_a_forgotten_id_is_not_recorded_again(archive: Archive) -> None:
    archive.record("e", TEXT)
    archive.forget("e")
    for scope in (Scope(), Scope("another", "scope")):
        with pytest.raises(InvalidState, match="forgotten"):
            archive.commit("e", TEXT, scope=scope)


def test_b23_the_two_clocks_stand_apart(archive: Archive) -> None:
    archive.record("e", "We moved to Lyon.", occurred_at="2019-03-01T00:00:00Z")
    (memory,) = archive.recall("Lyon").memories
    assert memory.valid_from == memory.occurred_at == "2019-03-01T00:00:00Z"
    assert memory.recorded_at == "2026-06-01T12:00:00Z"


def test_a_place_in_the_log_is_never_given_twice(archive: Archive) -> None:
    archive.record("e1", TEXT)
    archive.forget("e1")
    assert archive.record("e2", TEXT).seq == 2


def test_persona_and_reference_texts_are_labelled(archive: Archive) -> None:
    archive.record("p", "You are Ada the gardener.", category=Category.PERSONA, role=Role.SYSTEM)
    archive.record("r", "A gardener prunes in March.", category=Category.REFERENCE)
    answer = archive.recall("gardener")
    assert {(m.content, m.kind, m.category) for m in answer.memories} == {
        ("You are Ada the gardener.", MemoryKind.PERSONA, Category.PERSONA),
        ("A gardener prunes in March.", MemoryKind.SEMANTIC, Category.REFERENCE),
    }


def test_the_extractors_version_is_kept(archive: Archive) -> None:
    archive.record("e", "I live in Lyon.")
    assert archive.dump()["memories"][0][4] == VERSION


def test_b50_recording_and_recalling_load_nothing_heavy() -> None:
    program = (
        "import sys\n"
        "from tests.archive.scenes import Archive\n"
        "from tests.memory_file import open_database\n"
        "archive = Archive(open_database())\n"
        "archive.record('e', 'I live in Lyon.')\n"
        "assert archive.recall('Lyon').memories\n"
        "heavy = {'numpy', 'tiktoken', 'jsonschema', 'apsw.ext', 'asyncio'}\n"
        "sys.exit(str(heavy & sys.modules.keys()) if heavy & sys.modules.keys() else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_content_of_all_scripts_comes_back(archive: Archive) -> None:
    for number, text in enumerate(("用户服务器部署在腾讯云国内节点", "เราใช้ฐานข้อมูลที่กรุงเทพ")):
        archive.record(f"e{number}", text)
        assert contents(archive.recall(text)) == [text]
