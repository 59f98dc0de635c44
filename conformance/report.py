"""``python -m conformance.report``: which transcripts show each requirement, in each revision.

It fails when a requirement lacks a transcript in a revision in which it lives, and when a
transcript shows nothing that lives in its revision.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Final

from conformance.requirements import Requirement, load_requirements
from conformance.transcripts import REVISIONS, Transcript, load_all

_WIDTH: Final = 42


def gaps(requirements: Sequence[Requirement], transcripts: Sequence[Transcript]) -> list[str]:
    """Everything that is missing, or is there for no reason."""
    shown = _shown(transcripts)
    unshown = [
        f"{requirement.id} has no transcript in {revision}"
        for requirement in requirements
        for revision in requirement.revisions
        if (requirement.id, revision) not in shown
    ]
    return [*unshown, *_misnamed(requirements, transcripts)]


def _misnamed(requirements: Sequence[Requirement], transcripts: Sequence[Transcript]) -> list[str]:
    known = {requirement.id: requirement for requirement in requirements}
    unknown = [
        f"{transcript} names {id_}, which is no requirement"
        for transcript in transcripts
        for id_ in transcript.requirements
        if id_ not in known
    ]
    return [*unknown, *(f"{t} names no requirement" for t in transcripts if not t.requirements)]


def _shown(transcripts: Sequence[Transcript]) -> dict[tuple[str, str], int]:
    counts: dict[tuple[str, str], int] = {}
    for transcript in transcripts:
        for id_ in transcript.requirements:
            counts[id_, transcript.revision] = counts.get((id_, transcript.revision), 0) + 1
    return counts


def table(requirements: Sequence[Requirement], transcripts: Sequence[Transcript]) -> list[str]:
    """A line a requirement: how many transcripts show it, a dot where it does not live."""
    shown = _shown(transcripts)
    lines = [" " * _WIDTH + "        " + "  ".join(REVISIONS)]
    for requirement in requirements:
        cells = [
            f"{shown.get((requirement.id, revision), 0):>10}"
            if requirement.lives_in(revision)
            else f"{'.':>10}"
            for revision in REVISIONS
        ]
        lines.append(f"{requirement.id:<{_WIDTH}}{requirement.level:<8}" + "  ".join(cells))
    return lines


def main() -> int:
    """Print the table, then what is missing."""
    requirements, transcripts = load_requirements(), load_all()
    missing = gaps(requirements, transcripts)
    cells = sum(len(requirement.revisions) for requirement in requirements)
    print(*table(requirements, transcripts), "", sep="\n")
    print(f"{len(requirements)} requirements, {cells} with their revisions,", end=" ")
    print(f"{len(transcripts)} transcripts, {len(missing)} gaps")
    print(*missing, sep="\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
