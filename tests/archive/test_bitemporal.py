"""Record, correct, forget and look back, against a model of dictionaries."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
)

from memrpc.archive import resuming, times
from memrpc.archive.answers import TokenMethod
from memrpc.archive.model import Status
from memrpc.archive.resuming import ResumeInput, TokenCounter
from memrpc.store.errors import NotFound
from tests.archive.scenes import NOW, SECOND, Archive
from tests.memory_file import open_database

CHARS = TokenCounter(TokenMethod("chars", exact=True), len)
INSTANTS = [NOW + offset * SECOND for offset in (-300, -200, -200, -100, 0)]
instants = st.sampled_from([None, *INSTANTS])


@dataclass
class Version:
    """A statement as the model knows it."""

    memory_id: str
    content: str
    event_id: str
    start: int
    end: int | None
    recorded_at: int
    status: Status = Status.CURRENT

    def holds_at(self, instant: int) -> bool:
        return self.start <= instant and (self.end is None or instant < self.end)

    def close(self, at: int) -> None:
        self.end = max(self.start, at if self.end is None else min(self.end, at))


@dataclass
class Family:
    """The versions of one statement, in the order in which they became known."""

    versions: list[Version] = field(default_factory=list)


class Bitemporal(RuleBasedStateMachine):
    """The archive and the model take the same steps and must show the same."""

    known = Bundle("known")

    def __init__(self) -> None:
        super().__init__()
        self.archive = Archive(open_database())
        self.families: list[Family] = []
        self.steps = 0

    def teardown(self) -> None:
        self.archive.db.close()

    @rule(target=known, occurred_at=instants, session=st.sampled_from(["default", "s"]))
    def record(self, occurred_at: int | None, session: str):
        self.steps += 1
        words = [f"Zebra w{self.steps}a is here.", f"Zebra w{self.steps}b is there."]
        event_id = f"e{self.steps}"
        receipt = self.archive.record(
            event_id,
            " ".join(words),
            session_id=session,
            occurred_at=None if occurred_at is None else times.to_text(occurred_at),
        )
        start = self.archive.now if occurred_at is None else occurred_at
        for memory_id, content in zip(receipt.memory_ids, words, strict=True):
            version = Version(memory_id, content, event_id, start, None, self.archive.now)
            self.families.append(Family([version]))
        return multiple(*receipt.memory_ids)

    @rule(target=known, memory_id=known, valid_at=instants)
    def correct(self, memory_id: str, valid_at: int | None):
        if not self.is_known(memory_id):
            with pytest.raises(NotFound):
                self.archive.correct(memory_id, "Gone.")
            return multiple()
        family, place = self.find(memory_id)
        self.steps += 1
        content = f"Zebra w{self.steps}c is corrected."
        receipt = self.archive.correct(
            memory_id, content, valid_at=None if valid_at is None else times.to_text(valid_at)
        )
        start = family.versions[place].start if valid_at is None else valid_at
        revoked = family.versions[place:]
        for version in family.versions:
            if version in revoked or (version.end is not None and version.end > start):
                version.close(start)
        for version in revoked:
            version.status = Status.REVOKED
        assert receipt.revoked_ids == tuple(version.memory_id for version in revoked)
        family.versions.append(
            Version(
                receipt.replacement_id,
                content,
                receipt.correction_event_id,
                start,
                None,
                self.archive.now,
            )
        )
        return receipt.replacement_id

    @rule(memory_id=consumes(known), by_event=st.booleans())
    def forget(self, memory_id: str, *, by_event: bool) -> None:
        if not self.is_known(memory_id):
            with pytest.raises(NotFound):
                self.archive.forget(memory_id)
            return
        family, place = self.find(memory_id)
        gone = self.connected(family.versions[place].event_id)
        record_id = family.versions[place].event_id if by_event else memory_id
        receipt = self.archive.forget(record_id)
        assert set(receipt.deleted_event_ids) == gone
        for family in self.families:
            family.versions = [v for v in family.versions if v.event_id not in gone]

    @rule(seconds=st.sampled_from([0, 1, 100]))
    def wait(self, seconds: int) -> None:
        self.archive.now += seconds * SECOND

    @rule(edge=st.integers(0, 20), offset=st.sampled_from([-1, 0, 1]), history=st.booleans())
    def look_back(self, edge: int, offset: int, *, history: bool) -> None:
        edges = sorted(
            {*INSTANTS, *(v.start for v in self.all()), *(v.end or 0 for v in self.all())}
        )
        as_of = edges[edge % len(edges)] + offset
        answer = self.archive.recall(
            "zebra", as_of=times.to_text(as_of), include_history=history, limit=100
        )
        shown = {
            v.memory_id
            for v in self.all()
            if v.holds_at(as_of)
            or (history and v.status is not Status.CURRENT and v.recorded_at <= as_of)
        }
        assert {memory.memory_id for memory in answer.memories} == shown
        self.agree(answer.memories)
        if not history:
            self.hide_dead(str(answer.raw), as_of)

    @invariant()
    def what_holds_now_is_recalled_and_told(self) -> None:
        now = self.archive.now
        answer = self.archive.recall("zebra", limit=100)
        assert {m.memory_id for m in answer.memories} == {
            v.memory_id for v in self.all() if v.holds_at(now)
        }
        self.agree(answer.memories)
        self.hide_dead(str(answer.raw), now)
        request = ResumeInput("zebra", token_budget=1_000_000)
        told = resuming.resume(self.archive.db, request, now=now, counters=[CHARS]).context
        self.hide_dead(told, now)
        assert all(v.content in told for v in self.all() if v.holds_at(now))

    def agree(self, memories) -> None:
        """Each shown memory is as the model has it."""
        by_id = {version.memory_id: version for version in self.all()}
        for memory in memories:
            version = by_id[memory.memory_id]
            assert (memory.content, memory.status) == (version.content, version.status)
            assert memory.valid_from == times.to_text(version.start)
            assert memory.valid_to == times.to_text_or_none(version.end)

    def hide_dead(self, shown: str, instant: int) -> None:
        for version in self.all():
            if version.status is not Status.CURRENT and not version.holds_at(instant):
                assert version.content not in shown

    def all(self) -> list[Version]:
        return [version for family in self.families for version in family.versions]

    def is_known(self, memory_id: str) -> bool:
        return any(version.memory_id == memory_id for version in self.all())

    def find(self, memory_id: str) -> tuple[Family, int]:
        for family in self.families:
            for place, version in enumerate(family.versions):
                if version.memory_id == memory_id:
                    return family, place
        raise AssertionError(memory_id)

    def connected(self, event_id: str) -> set[str]:
        """The events that share a family, step by step."""
        gone = {event_id}
        while True:
            grown = gone | {
                v.event_id
                for family in self.families
                if any(version.event_id in gone for version in family.versions)
                for v in family.versions
            }
            if grown == gone:
                return gone
            gone = grown


Bitemporal.TestCase.settings = settings(max_examples=40, stateful_step_count=15, deadline=None)
test_the_archive_shows_at_every_instant_what_the_model_does = Bitemporal.TestCase
