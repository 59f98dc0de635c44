"""B90: content never crosses a scope, whatever is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memrpc.archive import checkpoints, exporting, persona, reading, resuming
from memrpc.archive.answers import CheckpointState, TokenMethod
from memrpc.archive.checkpoints import CheckpointInput
from memrpc.archive.model import Category, Cue, CueKind, Scope
from memrpc.archive.reading import ReadInput
from memrpc.archive.resuming import ResumeInput, TokenCounter
from memrpc.store.errors import DomainError
from tests.archive.scenes import NOW, Archive
from tests.memory_file import open_database

CHARS = TokenCounter(TokenMethod("chars", exact=True), len)
NAMES = ("a", "A", "a b", "ab", "default")
SCOPES = [Scope(persona_id, project_id) for persona_id in NAMES for project_id in NAMES]
scopes = st.sampled_from(SCOPES)


def canary(scope: Scope) -> str:
    """A word that only this scope knows; letters only, so no tokenizer splits it."""
    return "canary" + "".join(chr(ord("p") + int(d)) for d in str(100 + SCOPES.index(scope)))


def fill(archive: Archive, scope: Scope) -> list[str]:
    """Record in every way, all of it naming the scope's canary; return the ids."""
    word = canary(scope)
    number = SCOPES.index(scope)
    cue = Cue(CueKind.TEXT, "shared", word)
    receipt = archive.record(
        f"e{number}", f"User likes {word}. Is {word} good?", scope=scope, source=word, cues=(cue,)
    )
    archive.record(f"p{number}", f"You are {word}.", scope=scope, category=Category.PERSONA)
    corrected = archive.correct(receipt.memory_ids[0], f"User hates {word}.", scope=scope)
    archive.record(f"l{number}", f"The {word} is late.", scope=scope, session_id="s")
    request = CheckpointInput(CheckpointState(f"Feed {word}"), f"l{number}", scope=scope)
    with archive.db:
        saved = checkpoints.save(archive.db, request, now=NOW, new_id=archive.new_id)
    return [
        f"e{number}",
        f"p{number}",
        *receipt.memory_ids,
        corrected.replacement_id,
        corrected.correction_event_id,
        saved.checkpoint_id,
    ]


def attempts(
    archive: Archive, scope: Scope, record_id: str, query: str
) -> Iterator[Callable[[], object]]:
    """Everything that a caller in ``scope`` may try."""
    state = CheckpointState("goal")
    request = CheckpointInput(state, record_id, scope=scope)
    for fields in (
        {},
        {"include_history": True, "limit": 100},
        {"cue_key": "shared"},
        {"as_of": "2099-01-01T00:00:00Z"},
        {"offset": 500},
    ):
        yield lambda fields=fields: archive.recall(query, scope=scope, **fields)
    yield lambda: reading.read(archive.db, ReadInput(record_id, scope=scope))
    yield lambda: resuming.resume(
        archive.db,
        ResumeInput(query, token_budget=1_000_000, scope=scope),
        now=NOW,
        counters=[CHARS],
    )
    yield lambda: checkpoints.save(archive.db, request, now=NOW, new_id=archive.new_id)
    yield lambda: archive.correct(record_id, "User likes tea.", scope=scope)
    yield lambda: archive.commit(record_id, "User likes tea.", scope=scope)
    yield lambda: persona.current(archive.db, scope.persona_id)
    yield lambda: list(exporting.export_lines(archive.db, scope=scope))
    yield lambda: archive.forget(record_id, scope)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    present=st.lists(scopes, min_size=2, max_size=4, unique=True),
    asking=scopes,
    choice=st.randoms(use_true_random=False),
)
def test_b90_no_byte_of_a_scope_is_shown_in_another(present, asking, choice) -> None:
    archive = Archive(open_database())
    ids = {scope: fill(archive, scope) for scope in present}
    others = [scope for scope in present if scope != asking]
    foreign = choice.choice(others)
    for query in (canary(foreign), "user likes", f"feed {canary(foreign)} late"):
        for attempt in attempts(archive, asking, choice.choice(ids[foreign]), query):
            try:
                shown = str(attempt())
            except DomainError as refusal:
                shown = f"{refusal.message} {refusal.details}"
            assert not [word for word in map(canary, others) if word in shown]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(present=st.lists(scopes, min_size=2, max_size=3, unique=True))
def test_b36_forgetting_everything_in_one_scope_leaves_the_others_whole(present) -> None:
    archive = Archive(open_database())
    ids = {scope: fill(archive, scope) for scope in present}
    kept = [line for scope in present[1:] for line in lines(archive, scope)]
    for record_id in ids[present[0]]:
        try:
            archive.forget(record_id, present[0])
        except DomainError:
            continue
    assert [line for scope in present[1:] for line in lines(archive, scope)] == kept
    for scope in present[1:]:
        assert archive.recall(canary(scope), scope=scope).memories


def lines(archive: Archive, scope: Scope) -> list[str]:
    return list(exporting.export_lines(archive.db, scope=scope))


def test_the_canaries_would_be_seen(archive: Archive) -> None:
    scope = SCOPES[3]
    fill(archive, scope)
    for attempt in list(attempts(archive, scope, "e3", canary(scope)))[:2]:
        assert canary(scope) in str(attempt())


def test_near_names_are_those_of_the_same_persona_only(archive: Archive) -> None:
    archive.record("e1", "User likes tea.", scope=Scope("someone", "abcd"))
    archive.record("e2", "User likes tea.", scope=Scope("me", "abcde"))
    assert archive.recall("x", scope=Scope("me", "abc")).near_projects == ("abcde",)
