"""Recalling: what the archive knows about a question, with its sources and its windows."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memrpc.archive import (
    contradictions,
    events,
    fitting,
    matching,
    rules,
    scopes,
    showing,
    times,
)
from memrpc.archive.answers import Coverage, RecallAnswer
from memrpc.archive.model import DEFAULT_SCOPE, Detail, EmptyReason, Scope, SearchMode
from memrpc.recall.model import never_cancelled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import apsw

    from memrpc.archive.answers import FoundMemory, RawEvent
    from memrpc.archive.fitting import Measure, Sizes
    from memrpc.archive.matching import Match, Matches, View
    from memrpc.recall.meaning import Meaning

FULL_TEXT: Final = "full_text"
HYBRID: Final = "full_text_and_vectors"


@dataclass(frozen=True, slots=True)
class RecallInput:
    """What memory_recall takes; ``as_of`` is ISO 8601 with a zone, None for now."""

    query: str
    limit: int = 10
    offset: int = 0
    as_of: str | None = None
    include_history: bool = False
    detail: Detail = Detail.AUTO
    search_mode: SearchMode = SearchMode.FAST
    cue_key: str | None = None
    max_chars: int = rules.MAX_ANSWER_CHARS
    scope: Scope = DEFAULT_SCOPE


def recall(
    db: apsw.Connection,
    request: RecallInput,
    *,
    now: int,
    measure: Measure | None = None,
    checkpoint: Callable[[], None] = never_cancelled,
    meaning: Meaning | None = None,
) -> RecallAnswer:
    """Answer with attributed memories and, where none speaks, raw events, best first.

    ``measure`` says how many characters an answer takes; with it the answer is shrunk to
    ``request.max_chars``.  ``checkpoint`` raises once nobody wants the answer any more.
    ``meaning`` is the question as an embedder reads it; None where there is no embedder.
    """
    check(request)
    as_of = now if request.as_of is None else times.parse(request.as_of, "as_of")
    key = scopes.find(db, request.scope)
    counts = scopes.counts(db, key)
    frame = _Frame(request, counts, meaning)
    if key is None or not counts.events:
        return frame.nothing(db, EmptyReason.SCOPE_EMPTY)
    is_past = request.as_of is not None and events.any_after(db, key, as_of)
    view = matching.View(key, as_of, is_past, request.include_history, request.cue_key)
    end = contradictions.end_of_stretch(request.offset, request.limit)
    wanted = matching.Wanted(request.query, meaning, request.search_mode is SearchMode.DEEP)
    result = matching.find(db, wanted, view, limit=end + 1, checkpoint=checkpoint)
    if not result.found:
        return frame.nothing(db, _reason(db, request, view, result))
    if request.offset >= len(result.found):
        return frame.beyond(db, len(result.found))
    ranking = _falling(result.found)
    settled = contradictions.settle_page(db, ranking, request.offset, request.limit)
    page = settled.page
    drawer = showing.Drawer(db, request.query, page, as_of, request.detail)

    def draw(sizes: Sizes, count: int) -> RecallAnswer:
        following = request.offset + count
        return frame.page(
            *drawer.draw(sizes, count),
            is_cut=count < len(page),
            next_offset=following if following < len(result.found) else None,
            more=settled.warnings(count),
        )

    return fitting.fit(draw, len(page), request.max_chars, measure)


@dataclass(frozen=True, slots=True)
class _Frame:
    """What every answer to one request has in common, once it has been searched for."""

    request: RecallInput
    counts: scopes.Counts
    meaning: Meaning | None

    @property
    def coverage(self) -> Coverage:
        meaning = self.meaning
        scanned = meaning.scanned if meaning else 0
        return Coverage(
            events=self.counts.events,
            memories=self.counts.memories,
            pending_extractions=self.counts.pending,
            pending_vectors=meaning.pending if meaning else 0,
            vectors_eligible=meaning.eligible if meaning else 0,
            vectors_scanned=scanned,
            mode=HYBRID if scanned else FULL_TEXT,
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        warnings = list(self._of_meaning())
        if self.counts.pending:
            warnings.append(
                f"Events without memories yet: {self.counts.pending}; their text was searched raw."
            )
        return tuple(warnings)

    def _of_meaning(self) -> Iterator[str]:
        """Say what an asked-for search by meaning could not do."""
        mode = self.request.search_mode
        if mode is SearchMode.FAST:
            return
        if self.meaning is None:
            yield (
                f"search_mode {mode} needs an embedder and none is configured; "
                "full text was searched."
            )
            return
        yield from self.meaning.warnings
        if self.meaning.pending:
            yield (
                f"Texts without a vector yet: {self.meaning.pending}; they were searched by their "
                "words alone."
            )

    def page(
        self,
        memories: tuple[FoundMemory, ...],
        raw: tuple[RawEvent, ...],
        *,
        is_cut: bool,
        next_offset: int | None,
        more: Iterable[str],
    ) -> RecallAnswer:
        return RecallAnswer(
            memories=memories,
            raw=raw,
            coverage=self.coverage,
            warnings=(*more, *self.warnings),
            scope=self.request.scope,
            truncated=True if is_cut else None,
            next_offset=next_offset,
        )

    def nothing(self, db: apsw.Connection, reason: EmptyReason, *more: str) -> RecallAnswer:
        return RecallAnswer(
            memories=(),
            raw=(),
            coverage=self.coverage,
            warnings=(*self.warnings, *more),
            scope=self.request.scope,
            reason=reason,
            near_projects=tuple(scopes.near_projects(db, self.request.scope)),
        )

    def beyond(self, db: apsw.Connection, count: int) -> RecallAnswer:
        warning = f"offset {self.request.offset} lies beyond the last of {count} matches."
        return self.nothing(db, EmptyReason.NO_MATCH, warning)


def check(request: RecallInput) -> None:
    """Refuse a blank question and numbers out of range."""
    rules.check_scope(request.scope)
    rules.check_not_blank(request.query, "query", "say what to look for")
    rules.check_range(request.limit, "limit", 1, rules.MAX_RECALL)
    rules.check_range(request.offset, "offset", 0, rules.MAX_OFFSET)
    if request.cue_key is not None:
        rules.check_name(request.cue_key, "cue_key")


def _falling(matches: list[Match]) -> list[Match]:
    """Lower the score of what was put last on purpose, so that scores never rise."""
    return list(itertools.accumulate(matches, showing.not_above))


def _reason(db: apsw.Connection, request: RecallInput, view: View, result: Matches) -> EmptyReason:
    if result.has_hits:
        return EmptyReason.OUTSIDE_WINDOW
    is_past_alone = view.is_past and request.cue_key is None
    if is_past_alone and matching.would_match(db, request.query, view):
        return EmptyReason.OUTSIDE_WINDOW
    return result.reason or EmptyReason.NO_MATCH
