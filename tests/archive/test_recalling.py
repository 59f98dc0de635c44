from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrpc.archive import cues
from memrpc.archive.model import (
    Category,
    Cue,
    CueKind,
    Detail,
    EmptyReason,
    Method,
    Role,
    Scope,
    SearchMode,
    Shown,
    Status,
)
from memrpc.store.errors import InvalidArguments
from tests.archive.scenes import Archive, contents, excerpts
from tests.memory_file import open_database

OLD = "2026-01-01T00:00:00Z"


def test_a_memory_comes_with_its_author_its_window_and_its_source(archive: Archive) -> None:
    archive.record(
        "e",
        "I am allergic to nuts. The sky is blue.",
        source="Mika",
        session_id="planning",
        occurred_at=OLD,
    )
    (memory,) = archive.recall("nuts").memories
    assert (memory.content, memory.quote, memory.source, memory.session_id) == (
        "I am allergic to nuts.",
        None,
        "Mika",
        "planning",
    )
    assert (memory.asserted_by, memory.status, memory.valid_from, memory.valid_to) == (
        Role.USER,
        Status.CURRENT,
        OLD,
        None,
    )


def test_an_event_without_a_matching_statement_comes_raw(archive: Archive) -> None:
    archive.record("e", "Do you know Kyoto? I like tea.")
    answer = archive.recall("Kyoto")
    assert contents(answer) == []
    assert excerpts(answer) == ["Do you know Kyoto? I like tea."]


def test_an_event_with_a_memory_in_the_answer_does_not_come_raw_too(archive: Archive) -> None:
    archive.record("e", "I like tea. Do you like tea?")
    answer = archive.recall("tea")
    assert (contents(answer), excerpts(answer)) == (["I like tea."], [])


@pytest.mark.parametrize("query", ["migrat", "who is it for"])
def test_a_beginning_of_a_word_or_common_words_alone_find_statements(
    archive: Archive, query: str
) -> None:
    archive.record("e", "The migration plan is who it is for. Is it?")
    answer = archive.recall(query)
    assert contents(answer) == ["The migration plan is who it is for."]
    assert answer.raw == ()


def test_all_statements_that_answer_equally_well_are_shown(archive: Archive) -> None:
    archive.record("e", "Mia likes tea. Tom likes tea. Tom likes milk.")
    assert contents(archive.recall("tea")) == ["Mia likes tea.", "Tom likes tea."]


@pytest.mark.parametrize("query", ["", "  ", "\n\t"])
def test_b05_a_blank_query_is_refused(archive: Archive, query: str) -> None:
    with pytest.raises(InvalidArguments, match="query is blank"):
        archive.recall(query)


@pytest.mark.parametrize(
    "query", ["memory:safe", 'say "hi', "(rust", "rust)", "^rust", "NEAR(", "*"]
)
def test_b01_no_query_is_an_error(archive: Archive, query: str) -> None:
    archive.record("e", "Rust is memory safe.")
    answer = archive.recall(query)
    assert bool(answer.memories) is any(word in query for word in ("memory", "rust"))


@pytest.mark.parametrize("limit", [0, -1, 101, 1_000_000])
def test_b18_a_limit_out_of_range_is_refused_with_the_range(archive: Archive, limit: int) -> None:
    with pytest.raises(
        InvalidArguments, match=f"limit is {limit}; send a whole number from 1 to 100"
    ):
        archive.recall("x", limit=limit)


@pytest.mark.parametrize("limit", [1, 7, 100])
def test_b18_a_limit_in_range_is_honoured(archive: Archive, limit: int) -> None:
    for number in range(120):
        archive.commit(f"e{number}", f"I like tea number {number}.", method=Method.NONE)
    answer = archive.recall("tea", limit=limit)
    assert len(answer.raw) == limit
    assert answer.next_offset == limit


def test_limit_and_offset_page_through_memories_and_raw_in_one_order(archive: Archive) -> None:
    for number in range(30):
        text = f"I like tea number {number}." if number % 2 else f"Is tea number {number} good?"
        archive.record(f"e{number}", text)
    seen: list[tuple[float, str]] = []
    offset: int | None = 0
    while offset is not None:
        answer = archive.recall("tea", limit=7, offset=offset)
        seen += sorted(
            [(m.score, m.event_id) for m in answer.memories]
            + [(r.score, r.event_id) for r in answer.raw],
            reverse=True,
        )
        offset = answer.next_offset
    assert len({event_id for _, event_id in seen}) == len(seen) == 30
    assert [score for score, _ in seen] == sorted((score for score, _ in seen), reverse=True)


def test_an_offset_beyond_the_end_says_so(archive: Archive) -> None:
    archive.record("e", "I like tea.")
    answer = archive.recall("tea", offset=5)
    assert (answer.memories, answer.raw, answer.reason) == ((), (), EmptyReason.NO_MATCH)
    assert answer.warnings == ("offset 5 lies beyond the last of 1 matches.",)


@pytest.mark.parametrize(
    ("as_of", "found"),
    [
        ("2025-12-31T23:59:59.999999Z", False),
        ("2026-01-01T00:00:00Z", True),
        ("2026-01-01T00:00:00.000001Z", True),
        ("2099-01-01T00:00:00Z", True),
        ("0001-01-01T00:00:00Z", False),
    ],
)
def test_b25_what_began_later_is_not_in_a_past_view(
    archive: Archive, as_of: str, *, found: bool
) -> None:
    archive.record("e", "I like tea. Is tea fine?", occurred_at=OLD)
    answer = archive.recall("tea", as_of=as_of)
    assert bool(answer.memories) is found
    assert answer.raw == ()
    assert answer.reason is (None if found else EmptyReason.OUTSIDE_WINDOW)


def test_what_will_occur_later_is_not_known_now(archive: Archive) -> None:
    archive.record("e", "We open a shop. Will it work?", occurred_at="2027-01-01T00:00:00Z")
    assert archive.recall("shop").reason is EmptyReason.OUTSIDE_WINDOW
    assert contents(archive.recall("shop", as_of="2027-01-01T00:00:00Z")) == ["We open a shop."]


def test_a_fact_told_later_is_found_in_the_time_in_which_it_held(archive: Archive) -> None:
    archive.record("e", "We use Postgres since 2019. We hired Mika.")
    assert contents(archive.recall("Postgres Mika", as_of="2020-01-01T00:00:00Z")) == [
        "We use Postgres since 2019."
    ]


def test_b20_a_naive_as_of_is_refused(archive: Archive) -> None:
    with pytest.raises(InvalidArguments, match="as_of has no time zone"):
        archive.recall("x", as_of="2026-01-01T00:00:00")


@pytest.mark.parametrize(
    ("query", "reason"),
    [("phenibut", EmptyReason.NO_MATCH), ("PHRASE_NOT_THERE_QQQQ", EmptyReason.NO_MATCH)],
)
def test_b13_nothing_relevant_is_nothing_with_a_reason(
    archive: Archive, query: str, reason: EmptyReason
) -> None:
    for number in range(20):
        archive.record(f"e{number}", f"The meeting number {number} went well.")
    answer = archive.recall(query)
    assert (answer.memories, answer.raw, answer.reason) == ((), (), reason)


def test_events_of_no_named_session_do_not_answer_for_each_other(archive: Archive) -> None:
    archive.record("e1", "I like dogs.")
    archive.record("e2", "The sky is blue.")
    answer = archive.recall("dogs")
    assert (contents(answer), excerpts(answer)) == (["I like dogs."], [])


def test_a_cue_restricts_to_its_events(archive: Archive) -> None:
    archive.record("e1", "I like tea.", cues=(Cue(CueKind.PHOTO, "100%"),))
    archive.record("e2", "I like tea too.", cues=(Cue(CueKind.PHOTO, "1000"),))
    archive.record("e3", "I like tea as well.")
    assert contents(archive.recall("tea", cue_key="100%")) == ["I like tea."]
    assert archive.recall("tea", cue_key="100").reason is EmptyReason.NO_MATCH


def test_a_cue_of_another_scope_leads_nowhere(archive: Archive) -> None:
    cue = (Cue(CueKind.PHOTO, "p"),)
    archive.record("mine", "I like tea.", cues=cue)
    archive.record("theirs", "I like tea.", cues=cue, scope=Scope("default", "other"))
    assert cues.events_with(archive.db, 1, "p") == {1}
    assert [m.event_id for m in archive.recall("tea", cue_key="p").memories] == ["mine"]


def test_a_neighbour_answers_in_a_session_but_not_for_what_was_said_later(
    archive: Archive,
) -> None:
    archive.record("q", "Where shall we go?", session_id="s", occurred_at=OLD)
    archive.record("a", "Let us visit Kyoto.", session_id="s", occurred_at="2026-02-01T00:00:00Z")
    assert excerpts(archive.recall("Kyoto")) == ["Where shall we go?"]
    before = archive.recall("Kyoto", as_of="2026-01-15T00:00:00Z")
    assert (before.memories, before.raw, before.reason) == ((), (), EmptyReason.OUTSIDE_WINDOW)


def test_a_document_ranks_below_a_conversation_on_equal_score(archive: Archive) -> None:
    archive.record("r", "The password policy is strict.", category=Category.REFERENCE)
    archive.record("c", "The password policy is strict.")
    archive.record("s", "The password policy is strict.", category=Category.REFERENCE)
    answer = archive.recall("password")
    assert len({memory.score for memory in answer.memories}) == 1
    assert answer.memories[0].event_id == "c"


@pytest.mark.parametrize("mode", [SearchMode.SEMANTIC, SearchMode.DEEP])
def test_a_mode_that_needs_an_embedder_warns(archive: Archive, mode: SearchMode) -> None:
    archive.record("e", "I like tea.")
    answer = archive.recall("tea", search_mode=mode)
    assert len(answer.memories) == 1
    assert answer.coverage.mode == "full_text"
    assert answer.warnings == (
        f"search_mode {mode} needs an embedder and none is configured; full text was searched.",
    )


def test_the_fast_mode_does_not_warn(archive: Archive) -> None:
    archive.record("e", "I like tea.")
    assert archive.recall("tea").warnings == ()


EPISODE = "Yesterday we walked along the river " + "and along the river again " * 15 + "for hours."


@pytest.mark.parametrize(
    ("detail", "occurred_at", "shown"),
    [
        (Detail.AUTO, "2026-05-30T00:00:00Z", Shown.FULL),
        (Detail.AUTO, OLD, Shown.GIST),
        (Detail.GIST, "2026-05-30T00:00:00Z", Shown.GIST),
        (Detail.DETAILED, OLD, Shown.FULL),
    ],
)
def test_an_old_episode_is_cut_and_labelled(
    archive: Archive, detail: Detail, occurred_at: str, shown: Shown
) -> None:
    archive.record("e", EPISODE, occurred_at=occurred_at)
    (memory,) = archive.recall("river", detail=detail).memories
    assert memory.detail is shown
    assert memory.content == (EPISODE if shown is Shown.FULL else EPISODE[:300])
    assert memory.truncated is (True if shown is Shown.GIST else None)


@pytest.mark.parametrize("text", ["Yesterday we walked along the river.", EPISODE[10:]])
def test_a_short_episode_and_a_fact_stay_whole(archive: Archive, text: str) -> None:
    archive.record("e", text, occurred_at=OLD)
    (memory,) = archive.recall("river").memories
    assert (memory.content, memory.detail) == (text, Shown.FULL)


def test_coverage_counts_the_scope(archive: Archive) -> None:
    archive.record("e1", "I like tea. I like milk.")
    archive.commit("e2", "I like beer.")
    coverage = archive.recall("tea").coverage
    assert (coverage.events, coverage.memories, coverage.pending_extractions) == (2, 2, 1)


def test_a_long_event_is_excerpted_around_the_match(archive: Archive) -> None:
    text = "Filler words go here? " * 400 + "Is the zebra there? " + "More filler here? " * 400
    archive.record("e", text)
    (raw,) = archive.recall("zebra").raw
    assert "zebra" in raw.excerpt
    assert len(raw.excerpt) <= 2_000
    assert raw.truncated
    assert text[raw.read_offset :].startswith(raw.excerpt)


visible = st.text(min_size=1, max_size=80).filter(str.strip)


@settings(max_examples=60, deadline=None)
@given(st.lists(visible, min_size=1, max_size=4), visible)
def test_any_text_is_recorded_recalled_corrected_and_forgotten(
    texts: list[str], query: str
) -> None:
    archive = Archive(open_database())
    for number, text in enumerate(texts):
        drawn = archive.record(f"e{number}", text, session_id="s").memory_ids
        if drawn:
            archive.correct(drawn[0], text)
    for asked in (query, texts[0]):
        answer = archive.recall(asked, include_history=True)
        assert all(raw.excerpt for raw in answer.raw)
    for number in range(len(texts)):
        archive.forget(f"e{number}")
    rows = archive.dump()
    assert all(rows[name] == [] for name in ("events", "memories", "units"))
    assert archive.db.execute("SELECT count(*) FROM unit_terms").get == 0
