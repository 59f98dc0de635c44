"""Showing: a match as the answer's reader sees it, at the size that the answer allows."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from memrpc.archive import indexing, masking, memories, reading, rules, times
from memrpc.archive.answers import FoundMemory, RawEvent
from memrpc.archive.model import Detail, MemoryKind, Shown, Status
from memrpc.recall import excerpt

if TYPE_CHECKING:
    import apsw

    from memrpc.archive.fitting import Sizes
    from memrpc.archive.matching import Match
    from memrpc.archive.model import Memory


class Drawer:
    """Draws one page of matches at any size; rows are read once."""

    def __init__(
        self, db: apsw.Connection, query: str, page: list[Match], as_of: int, detail: Detail
    ) -> None:
        self._query = query
        self._page = page
        self._as_of = as_of
        self._detail = detail
        self._dead = indexing.dead_quotes(db, {match.event.seq for match in page}, as_of=as_of)
        self._tellers = _tellers(page, as_of)
        keys = [key for match in page if match.memory for key in reading.links(match.memory)]
        self._ids = memories.ids(db, keys)

    def draw(
        self, sizes: Sizes, count: int
    ) -> tuple[tuple[FoundMemory, ...], tuple[RawEvent, ...]]:
        """Return the first ``count`` matches of the page, as memories and as raw events."""
        page = self._page[:count]
        return (
            tuple(
                self._memory(match, match.memory, sizes, self._context(place, sizes))
                for place, match in enumerate(page)
                if match.memory
            ),
            tuple(self._raw(match, sizes) for match in page if match.memory is None),
        )

    def _memory(
        self, match: Match, memory: Memory, sizes: Sizes, context: str | None
    ) -> FoundMemory:
        event = match.event
        detail, whole = self._detailed(match, memory)
        content = whole[: sizes.content_chars]
        quote = memory.quote[: sizes.content_chars] if memory.quote != memory.content else None
        is_cut = content != whole or (detail is Shown.GIST and memory.gist is None)
        return FoundMemory(
            memory_id=memory.memory_id,
            content=content,
            kind=memory.kind,
            inferred=memory.inferred,
            confidence=memory.confidence,
            asserted_by=event.role,
            category=event.category,
            quote=None if detail is Shown.GIST else quote,
            event_id=event.event_id,
            session_id=event.session_id,
            source=event.source,
            occurred_at=times.to_text(event.occurred_at),
            recorded_at=times.to_text(memory.recorded_at),
            valid_from=times.to_text(memory.valid_from),
            valid_to=times.to_text_or_none(memory.valid_to),
            status=memory.status,
            superseded_by=self._ids[memory.superseded_by],
            corrects=self._ids[memory.corrects],
            detail=detail,
            score=round(match.score, 4),
            matched_by=match.matched_by,
            truncated=True if is_cut else None,
            context=None if detail is Shown.GIST else context,
        )

    def _context(self, place: int, sizes: Sizes) -> str | None:
        """Return the event's own words around the memory's, where it says more than that."""
        event, memory = self._page[place].event, self._page[place].memory
        if memory is None or place not in self._tellers[: sizes.contexts]:
            return None
        spare = rules.MAX_CONTEXT_CHARS - len(memory.quote)
        if spare <= 0 or len(event.text.strip()) <= len(memory.quote):
            return None
        at = event.text.find(memory.quote)
        start = max(0, min(at - spare // 2, len(event.text) - rules.MAX_CONTEXT_CHARS))
        end = min(start + rules.MAX_CONTEXT_CHARS, len(event.text))
        return masking.show(event.text, self._dead[event.seq], start, end)

    def _detailed(self, match: Match, memory: Memory) -> tuple[Shown, str]:
        """Choose between an episode and its overview; what is no episode is shown whole."""
        is_old = match.event.occurred_at < self._as_of - rules.OLD_AFTER_DAYS * times.DAY_US
        wants_gist = self._detail is Detail.GIST or (self._detail is Detail.AUTO and is_old)
        if memory.kind is not MemoryKind.EPISODIC or not wants_gist:
            return Shown.FULL, memory.content
        if memory.gist is not None:
            return Shown.GIST, memory.gist
        if len(memory.content) <= rules.WHOLE_EPISODE_CHARS:
            return Shown.FULL, memory.content
        return Shown.GIST, memory.content[: rules.WHOLE_EPISODE_CHARS]

    def _raw(self, match: Match, sizes: Sizes) -> RawEvent:
        event = match.event
        quotes = set() if match.is_superseded else self._dead[event.seq]
        searched = masking.blank(event.text, quotes)
        found = excerpt.excerpt(searched, self._query, sizes.excerpt_chars)
        end = found.start + len(found.text)
        return RawEvent(
            event_id=event.event_id,
            excerpt=masking.show(event.text, quotes, found.start, end),
            truncated=found.truncated,
            read_offset=found.start,
            role=event.role,
            category=event.category,
            source=event.source,
            session_id=event.session_id,
            occurred_at=times.to_text(event.occurred_at),
            recorded_at=times.to_text(event.recorded_at),
            score=round(match.score, 4),
            matched_by=match.matched_by,
            superseded=True if match.is_superseded else None,
        )


def _tellers(page: list[Match], as_of: int) -> list[int]:
    """Return the first place of each event that has a memory that holds, best first."""
    first: dict[int, int] = {}
    for place, match in enumerate(page):
        is_told = match.event.occurred_at <= as_of
        if is_told and match.memory is not None and match.memory.status is Status.CURRENT:
            first.setdefault(match.event.seq, place)
    return list(first.values())


def not_above(before: Match, match: Match) -> Match:
    """Return ``match`` with a score no higher than the one before it."""
    return dataclasses.replace(match, score=min(before.score, match.score))
