"""Requirements and transcripts cover each other."""

from __future__ import annotations

import re
from dataclasses import replace

from conformance.report import gaps
from conformance.requirements import load_requirements
from conformance.transcripts import REVISIONS, load_all

REQUIREMENTS = load_requirements()
TRANSCRIPTS = load_all()
SITE = "https://modelcontextprotocol.io"
PAGE = re.compile(rf"{SITE}/specification/(\d{{4}}-\d\d-\d\d)/[a-z/-]+")
EXTENSION = re.compile(rf"{SITE}/seps/\d+-[a-z-]+")


def test_every_requirement_is_shown_in_every_revision_in_which_it_lives():
    assert gaps(REQUIREMENTS, TRANSCRIPTS) == []


def test_a_requirement_without_a_transcript_is_a_gap():
    orphan = replace(REQUIREMENTS[0], id="no.such")
    assert gaps([orphan], []) == [f"no.such has no transcript in {r}" for r in REVISIONS]


def test_a_transcript_without_a_requirement_is_a_gap():
    nameless = replace(TRANSCRIPTS[0], requirements=())
    stranger = replace(TRANSCRIPTS[0], requirements=("no.such",))
    assert gaps([], [nameless, stranger]) == [
        f"{stranger} names no.such, which is no requirement",
        f"{nameless} names no requirement",
    ]


def test_every_requirement_has_a_page_of_the_last_revision_in_which_it_lives():
    """An extension has a page of its own, which is no revision's."""
    for requirement in REQUIREMENTS:
        if requirement.id.startswith("tasks."):
            assert EXTENSION.fullmatch(requirement.source)
            continue
        found = PAGE.fullmatch(requirement.source)
        assert found is not None, requirement.source
        assert found.group(1) == requirement.revisions[-1], requirement.id


def test_every_requirement_is_complete():
    assert len({requirement.id for requirement in REQUIREMENTS}) == len(REQUIREMENTS)
    assert {requirement.level for requirement in REQUIREMENTS} == {"MUST", "SHOULD"}
    assert all(requirement.sentence.endswith(".") for requirement in REQUIREMENTS)


def test_both_kinds_of_revision_have_transcripts_of_their_own():
    assert {transcript.revision for transcript in TRANSCRIPTS} == set(REVISIONS)
