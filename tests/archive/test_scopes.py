from __future__ import annotations

import pytest

from memrpc.archive import scopes
from memrpc.archive.model import EmptyReason, Scope
from memrpc.store.errors import InvalidArguments, LimitExceeded
from tests.archive.scenes import Archive

PERSONA = "ada"


def in_project(project_id: str, persona_id: str = PERSONA) -> Scope:
    return Scope(persona_id, project_id)


def test_b88_an_empty_recall_lists_near_project_names_of_the_persona(archive: Archive) -> None:
    for number, name in enumerate(("Tianda", "tianda-for-woocommerce", "unrelated", "TIAN DA")):
        archive.record(f"e{number}", "We sell shoes here.", scope=in_project(name))
    archive.record("other", "We sell hats here.", scope=in_project("tianda!", "bob"))
    answer = archive.recall("shoes", scope=in_project("tianda"))
    assert answer.reason is EmptyReason.SCOPE_EMPTY
    assert answer.near_projects == ("TIAN DA", "Tianda", "tianda-for-woocommerce")
    assert "shoes" not in str(answer)


def test_b88_at_most_five_near_names_are_listed(archive: Archive) -> None:
    for number in range(9):
        archive.record(f"e{number}", "We sell shoes.", scope=in_project(f"shop {number} a"))
    assert len(archive.recall("x", scope=in_project("shop")).near_projects or ()) == 5


def test_b88_a_short_name_is_not_near_to_every_other(archive: Archive) -> None:
    archive.record("e", "We sell shoes.", scope=in_project("a"))
    assert archive.recall("x", scope=in_project("banana")).near_projects == ()


def test_b88_a_scope_is_not_near_to_itself(archive: Archive) -> None:
    archive.record("e", "We sell shoes here.", scope=in_project("tianda"))
    answer = archive.recall("phenibut", scope=in_project("tianda"))
    assert (answer.reason, answer.near_projects) == (EmptyReason.NO_MATCH, ())


def test_b88_names_are_told_apart_exactly(archive: Archive) -> None:
    archive.record("e", "We sell shoes.", scope=in_project("Tianda"))
    assert archive.recall("shoes", scope=in_project("tianda")).memories == ()


def test_reading_makes_no_scope(archive: Archive) -> None:
    archive.recall("x", scope=in_project("nowhere"))
    assert archive.dump()["scopes"] == []


def test_counts_follow_what_is_recorded_and_forgotten(archive: Archive) -> None:
    archive.record("e1", "I like tea. I like cake.")
    archive.commit("e2", "I like milk.")
    key = scopes.find(archive.db, Scope())
    assert scopes.counts(archive.db, key) == scopes.Counts(events=2, memories=2, pending=1)
    archive.forget("e1")
    archive.forget("e2")
    assert scopes.counts(archive.db, key) == scopes.Counts()


@pytest.mark.parametrize(
    ("scope", "error"),
    [
        (Scope(" ", "p"), InvalidArguments),
        (Scope("p", ""), InvalidArguments),
        (Scope("p", "x" * 501), LimitExceeded),
    ],
)
def test_a_scope_without_a_usable_name_is_refused(
    archive: Archive, scope: Scope, error: type[Exception]
) -> None:
    with pytest.raises(error):
        archive.recall("x", scope=scope)
    with pytest.raises(error):
        archive.commit("e", "text", scope=scope)
    with pytest.raises(error):
        archive.forget("e", scope)
