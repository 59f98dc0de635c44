from __future__ import annotations

import pytest

from memrpc.archive import persona
from memrpc.archive.model import Scope
from memrpc.archive.persona import Persona
from memrpc.store import changes
from memrpc.store.errors import DomainError, InvalidArguments, LimitExceeded
from tests.archive.scenes import NOW, SECOND, Archive


def replace(archive: Archive, *items: str, now: int = NOW) -> Persona:
    with archive.db:
        return persona.replace(archive.db, "ada", items, now=now)


def test_a_persona_that_was_never_edited_is_empty(archive: Archive) -> None:
    assert persona.current(archive.db, "ada") == Persona("ada", 0, None, ())


def test_an_edit_replaces_the_whole_core_and_counts_the_version(archive: Archive) -> None:
    replace(archive, "You are Ada.", "You are terse.")
    edited = replace(archive, "You are Ada the gardener.", now=NOW + SECOND)
    assert edited == Persona("ada", 2, "2026-06-01T12:00:01Z", ("You are Ada the gardener.",))
    assert persona.current(archive.db, "ada") == edited
    assert edited.text == "You are Ada the gardener."


def test_an_edit_that_changes_nothing_keeps_the_version(archive: Archive) -> None:
    first = replace(archive, "You are Ada.")
    assert replace(archive, "You are Ada.", now=NOW + SECOND) == first


def test_a_core_may_be_emptied(archive: Archive) -> None:
    replace(archive, "You are Ada.")
    assert replace(archive).items == ()


def test_subscribers_hear_of_an_edit_and_only_of_edits(archive: Archive) -> None:
    archive.record("e", "I like tea.")
    replace(archive, "You are Ada.")
    replace(archive, "You are Ada.")
    assert [change.topic for change in changes.since(archive.db, 0)] == ["persona:ada"]
    assert persona.topic("ada") == "persona:ada"


def test_every_persona_is_listed_once(archive: Archive) -> None:
    replace(archive, "You are Ada.")
    archive.record("e1", "I like tea.", scope=Scope("ada", "p"))
    archive.record("e2", "I like tea.", scope=Scope("bob", "p"))
    archive.record("e3", "I like tea.", scope=Scope("bob", "q"))
    assert persona.names(archive.db) == ["ada", "bob"]


@pytest.mark.parametrize(
    ("items", "error", "message"),
    [
        (("a", " "), InvalidArguments, r"items\[1\] is blank"),
        (("x" * 4_001,), LimitExceeded, r"items\[0\] has 4,001"),
        (("x",) * 101, LimitExceeded, "items has 101 entries"),
    ],
)
def test_a_core_that_is_no_short_list_is_refused(
    archive: Archive, items: tuple[str, ...], error: type[DomainError], message: str
) -> None:
    with pytest.raises(error, match=message):
        replace(archive, *items)
    assert persona.current(archive.db, "ada").version == 0
