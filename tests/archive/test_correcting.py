from __future__ import annotations

import pytest

from memrpc.archive import checkpoints, extraction, memories, times
from memrpc.archive.answers import CheckpointState
from memrpc.archive.checkpoints import CheckpointInput
from memrpc.archive.model import (
    Category,
    Cue,
    CueKind,
    EmptyReason,
    MemoryKind,
    Role,
    Scope,
    Statement,
    Status,
)
from memrpc.store.errors import (
    DomainError,
    Forbidden,
    InvalidArguments,
    InvalidState,
    LimitExceeded,
    NotFound,
)
from tests.archive.scenes import NOW, Archive, contents, excerpts

JANUARY = "2026-01-01T00:00:00Z"
MARCH = "2026-03-01T00:00:00Z"
APRIL = "2026-04-01T00:00:00Z"


def remember(archive: Archive, text: str = "User likes dogs.", **fields) -> str:
    fields = {"occurred_at": JANUARY} | fields
    return archive.record("e", text, **fields).memory_ids[0]


def windows(archive: Archive) -> list[tuple[str, str, str | None, Status]]:
    rows = memories.of_events(archive.db, range(1, 99))
    return [
        (m.content, times.to_text(m.valid_from), times.to_text_or_none(m.valid_to), m.status)
        for m in rows
    ]


def test_a_correction_is_found_by_the_cues_of_what_it_corrects(archive: Archive) -> None:
    cues = (Cue(CueKind.PHOTO, "gate", "the gate"), Cue(CueKind.TEXT, "code"))
    once = archive.correct(remember(archive, cues=cues), "User likes cats.")
    archive.correct(once.replacement_id, "User likes newts.")
    assert contents(archive.recall("likes", cue_key="gate")) == ["User likes newts."]
    assert contents(archive.recall("likes", cue_key="code")) == ["User likes newts."]


def test_b15_what_was_corrected_is_not_found_as_current(archive: Archive) -> None:
    archive.correct(remember(archive), "User likes cats.")
    assert contents(archive.recall("cats")) == ["User likes cats."]
    for query in ("dogs", "what does the user like", "User likes dogs"):
        assert "dogs" not in str(archive.recall(query).memories)
        assert "dogs" not in str(archive.recall(query).raw)
    (old,) = archive.recall("dogs", include_history=True).memories
    assert (old.content, old.status) == ("User likes dogs.", Status.REVOKED)


def test_b28_only_the_new_fact_by_default_and_the_old_one_marked_in_history(
    archive: Archive,
) -> None:
    old = remember(archive, "We use Jina for web search.")
    new = archive.correct(old, "We use Exa for web search.").replacement_id
    assert contents(archive.recall("web search")) == ["We use Exa for web search."]
    history = archive.recall("web search", include_history=True).memories
    assert {(m.memory_id, m.status, m.superseded_by, m.corrects) for m in history} == {
        (old, Status.REVOKED, new, None),
        (new, Status.CURRENT, None, old),
    }


def test_b30_a_correction_to_the_opposite_leaves_the_new_fact(archive: Archive) -> None:
    archive.correct(remember(archive, "I love Chinese food."), "I hate Chinese food.")
    assert contents(archive.recall("Chinese food")) == ["I hate Chinese food."]


def test_the_correction_is_an_event_of_the_user(archive: Archive) -> None:
    receipt = archive.correct(remember(archive, session_id="s"), "User likes cats.", reason="typo")
    (memory,) = archive.recall("cats").memories
    assert (memory.memory_id, memory.event_id) == (
        receipt.replacement_id,
        receipt.correction_event_id,
    )
    assert (memory.source, memory.asserted_by, memory.session_id) == ("correction", Role.USER, "s")


def test_b25_without_a_new_start_the_old_statement_never_held(archive: Archive) -> None:
    archive.correct(remember(archive), "User likes cats.")
    assert windows(archive) == [
        ("User likes dogs.", JANUARY, JANUARY, Status.REVOKED),
        ("User likes cats.", JANUARY, None, Status.CURRENT),
    ]
    assert contents(archive.recall("user likes", as_of=JANUARY)) == ["User likes cats."]


@pytest.mark.parametrize(
    ("as_of", "content"),
    [
        ("2025-12-31T23:59:59.999999Z", None),
        (JANUARY, "User likes dogs."),
        ("2026-03-31T23:59:59.999999Z", "User likes dogs."),
        (APRIL, "User likes cats."),
        ("2026-04-01T00:00:00.000001Z", "User likes cats."),
        ("2099-01-01T00:00:00Z", "User likes cats."),
    ],
)
def test_b25_with_a_new_start_each_version_holds_in_its_window(
    archive: Archive, as_of: str, content: str | None
) -> None:
    archive.correct(remember(archive), "User likes cats.", valid_at=APRIL)
    answer = archive.recall("user likes", as_of=as_of)
    assert contents(answer) == ([content] if content else [])
    assert excerpts(answer) == []


def test_an_earlier_start_trims_the_versions_before(archive: Archive) -> None:
    first = remember(archive)
    second = archive.correct(first, "User likes cats.", valid_at=APRIL).replacement_id
    archive.correct(second, "User likes birds.", valid_at=MARCH)
    assert windows(archive) == [
        ("User likes dogs.", JANUARY, MARCH, Status.REVOKED),
        ("User likes cats.", APRIL, APRIL, Status.REVOKED),
        ("User likes birds.", MARCH, None, Status.CURRENT),
    ]


def test_correcting_an_old_version_revokes_the_later_ones_too(archive: Archive) -> None:
    first = remember(archive)
    second = archive.correct(first, "User likes cats.").replacement_id
    receipt = archive.correct(first, "User likes birds.")
    assert receipt.revoked_ids == (first, second)
    assert contents(archive.recall("user likes")) == ["User likes birds."]
    history = archive.recall("user likes", include_history=True).memories
    assert {m.superseded_by for m in history if m.status is Status.REVOKED} == {
        receipt.replacement_id
    }


def test_other_statements_of_the_event_stay_and_its_raw_text_hides_the_corrected_one(
    archive: Archive,
) -> None:
    text = "User likes dogs. User has a garden. Is the garden big?"
    archive.correct(remember(archive, text), "User likes cats.")
    assert contents(archive.recall("garden")) == ["User has a garden."]
    assert excerpts(archive.recall("big")) == ["[…] User has a garden. Is the garden big?"]
    assert archive.recall("dogs").reason is EmptyReason.OUTSIDE_WINDOW


def test_an_event_of_which_nothing_holds_comes_raw_only_as_history(archive: Archive) -> None:
    archive.record("f", "Is it a big garden?")
    archive.correct(remember(archive, "User likes dogs. Big dogs?"), "User likes cats.")
    assert excerpts(archive.recall("big")) == ["Is it a big garden?"]
    raw = archive.recall("big", include_history=True).raw
    assert [(r.event_id, r.superseded) for r in raw] == [("f", None), ("e", True)]
    assert raw[0].score >= raw[1].score


def test_neighbours_do_not_answer_with_a_corrected_statement(archive: Archive) -> None:
    archive.record("before", "The sky is blue.", session_id="s", occurred_at=JANUARY)
    old = remember(archive, session_id="s")
    archive.correct(old, "User likes cats.")
    assert "dogs" not in str(archive.dump()["units"][0])
    answer = archive.recall("dogs")
    assert (answer.memories, answer.raw) == ((), ())


@pytest.mark.parametrize("valid_at", [APRIL, "2027-01-01T00:00:00Z"])
def test_a_start_at_or_after_the_end_is_refused_and_nothing_changes(
    archive: Archive, valid_at: str
) -> None:
    memory_id = remember(archive)
    archive.db.execute("UPDATE memories SET valid_to = :end", {"end": times.parse(APRIL, "")})
    before = archive.dump()
    with pytest.raises(InvalidArguments, match="valid_at must lie before 2026-04-01"):
        archive.correct(memory_id, "User likes cats.", valid_at=valid_at)
    assert archive.dump() == before
    archive.correct(memory_id, "User likes cats.", valid_at="2026-03-31T23:59:59.999999Z")
    assert windows(archive)[1][2] == APRIL


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"content": " "}, InvalidArguments, "content is blank"),
        ({"content": "x" * 4_001}, LimitExceeded, "content has 4,001 characters"),
        ({"reason": ""}, InvalidArguments, "reason is blank"),
        ({"reason": "x" * 4_001}, LimitExceeded, "reason has"),
        ({"valid_at": "2026-01-01"}, InvalidArguments, "valid_at has no time zone"),
        ({"memory_id": "unknown"}, NotFound, "memory_id"),
        ({"memory_id": "e"}, InvalidArguments, "memory_id is the id of an event"),
        ({"scope": Scope("default", "other")}, NotFound, "memory_id"),
    ],
)
def test_a_bad_correction_is_refused_and_changes_nothing(
    archive: Archive, fields: dict, error: type[DomainError], message: str
) -> None:
    fields = {"memory_id": remember(archive), "content": "User likes cats."} | fields
    before = archive.dump()
    with pytest.raises(error, match=message):
        archive.correct(**fields)
    assert archive.dump() == before


def test_an_event_is_not_corrected_and_its_memories_are_named(archive: Archive) -> None:
    first, second = archive.record("e", "I like tea. I live in Rome.").memory_ids
    with pytest.raises(InvalidArguments, match=f"one of its memories: {first}, {second}"):
        archive.correct("e", "I like milk.")


def test_the_persona_is_not_corrected(archive: Archive) -> None:
    memory_id = remember(archive, "You are Ada.", category=Category.PERSONA)
    with pytest.raises(Forbidden, match="persona edit"):
        archive.correct(memory_id, "You are Bob.")


def test_an_emotion_is_not_corrected(archive: Archive) -> None:
    receipt = archive.commit("e", "I am glad.", role=Role.ASSISTANT)
    event = extraction.require(archive.db, receipt.seq)
    felt = [Statement(MemoryKind.EMOTION, "Ada is glad", "I am glad", NOW)]
    extraction.apply(archive.db, event, "llm:1", felt, now=NOW, new_id=archive.new_id)
    with pytest.raises(InvalidState, match="memory_forget"):
        archive.correct("id-1", "Ada is sad")


def test_every_checkpoint_of_the_scope_ends_and_of_no_other(archive: Archive) -> None:
    memory_id = remember(archive)
    other = Scope("default", "other")
    archive.record("o", "User likes tea.", scope=other)
    for event_id, scope in (("e", Scope()), ("e", Scope()), ("o", other)):
        request = CheckpointInput(CheckpointState("goal"), event_id, scope=scope)
        checkpoints.save(archive.db, request, now=NOW, new_id=archive.new_id)
    assert archive.correct(memory_id, "User likes cats.").invalidated_checkpoints == 2
    rows = archive.db.execute(
        "SELECT covered_event_id, invalidated_by FROM checkpoints ORDER BY checkpoint"
    ).fetchall()
    assert rows == [("e", "correct"), ("e", "correct"), ("o", None)]
