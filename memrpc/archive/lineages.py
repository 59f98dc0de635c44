"""Lineages: for whom a memory speaks, and what it took the place of.

A correction is recorded from the user's correction, and yet says "I" for whoever it corrects.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memrpc.archive import events, memories
from memrpc.archive.model import Method

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import apsw

    from memrpc.archive.matching import Match
    from memrpc.archive.model import Memory


@dataclass(frozen=True, slots=True)
class Lineage:
    """Who speaks in a match, and the contents of all versions before it."""

    speaker: str
    replaced: frozenset[str] = frozenset()


def trace(db: apsw.Connection, page: Sequence[Match]) -> list[Lineage]:
    """Return the lineage of each match of the page."""
    before = _before(db, {match.memory.key for match in page if match.memory})
    firsts = {key: min(older, key=lambda memory: memory.key) for key, older in before.items()}
    said = events.by_seqs(db, {each.event_seq for each in firsts.values()}) if firsts else {}
    speakers = {key: said[first.event_seq].source for key, first in firsts.items()}
    return [_lineage(match, before, speakers) for match in page]


def _lineage(
    match: Match, before: Mapping[int, list[Memory]], speakers: Mapping[int, str]
) -> Lineage:
    key = match.memory.key if match.memory else 0
    is_correction = match.event.extraction.method is Method.CORRECTION
    speaker = speakers.get(key, match.event.source) if is_correction else match.event.source
    return Lineage(speaker, frozenset(memory.content for memory in before.get(key, ())))


def _before(db: apsw.Connection, keys: set[int]) -> dict[int, list[Memory]]:
    """Return what each of these memories took the place of, at whatever remove."""
    before: defaultdict[int, list[Memory]] = defaultdict(list)
    owners = {key: key for key in keys}
    near = keys
    while near:
        older = [m for m in memories.replaced_by(db, near) if m.key not in owners]
        for memory in older:
            owners[memory.key] = owners[memory.superseded_by or 0]
            before[owners[memory.key]].append(memory)
        near = {memory.key for memory in older}
    return before
