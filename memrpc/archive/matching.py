"""Matching: from a question to the records that answer it, best first.

Recall ranks events and the memories that stand alone in one collection.  An event that matched is
then replaced by those of its statements that hold at the asked instant and hold the words asked
for, or are all that it says; where none does, the event itself is the match and shown raw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memrpc.archive import cues, events, indexing, memories
from memrpc.archive.model import Category, EmptyReason, Status
from memrpc.recall import query, search
from memrpc.recall.model import SearchRequest, SearchResult, never_cancelled
from memrpc.recall.proposing import CANDIDATES
from memrpc.recall.sought import Sought

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import apsw

    from memrpc.archive.model import Event, Memory
    from memrpc.recall.meaning import Meaning
    from memrpc.recall.model import Hit

DEPTHS: Final = (CANDIDATES, 200, 800, 3_000)
"""How many hits are asked for, one after the other until there are enough matches."""
SPARE_HITS: Final = 8
MAX_STATEMENTS_SHOWN: Final = 3
READ_AT_ONCE: Final = 6
_CONTEXT_ONLY: Final = ("context",)

_ALONE: Final = """
SELECT memory FROM memories
WHERE scope = :scope AND (status <> 'current' OR quote IS NOT NULL)
"""
_ALONE_OF_EVENTS: Final = """
SELECT memory FROM memories
WHERE event_seq IN (SELECT value FROM json_each(:seqs))
  AND (status <> 'current' OR quote IS NOT NULL)
"""


@dataclass(frozen=True, slots=True)
class View:
    """From where a scope is looked at; ``is_past`` if something has occurred since."""

    scope: int
    as_of: int
    is_past: bool
    include_history: bool
    cue_key: str | None

    def shows(self, memory: Memory) -> bool:
        """Say whether the memory held at the instant, or is history that was known by then."""
        if memory.holds_at(self.as_of):
            return True
        is_history = memory.status is not Status.CURRENT and memory.recorded_at <= self.as_of
        return self.include_history and is_history


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked: in words, by its meaning where there is an embedder, and how thoroughly."""

    text: str
    meaning: Meaning | None = None
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """A memory with its event, or an event by itself."""

    event: Event
    memory: Memory | None
    score: float
    matched_by: tuple[str, ...]
    is_superseded: bool = False

    @property
    def identity(self) -> tuple[int, int]:
        """What tells it from every other match."""
        return self.event.seq, self.memory.key if self.memory else 0


@dataclass(frozen=True, slots=True)
class Matches:
    """The first matches, best first; ``has_hits`` if anything matched, shown or not."""

    found: list[Match]
    has_hits: bool
    reason: EmptyReason | None


def find(
    db: apsw.Connection,
    wanted: Wanted,
    view: View,
    *,
    limit: int,
    checkpoint: Callable[[], None],
) -> Matches:
    """Return the best ``limit`` matches of what the view lets in.

    More hits than that are asked for, because the view hides some.  A deeper search ranks anew,
    with more to choose from, so what it adds stands behind what was found before: the pages of one
    question neither repeat a match nor leave one out.
    """
    within = _within(db, view)
    found: dict[tuple[int, int], Match] = {}
    late: dict[tuple[int, int], Match] = {}
    for asked in _depths(limit):
        result = search.search(db, _request(wanted, view, within, asked, checkpoint))
        for match in expand(db, wanted.text, result.hits, view):
            (late if match.is_superseded else found).setdefault(match.identity, match)
            if len(found) == limit:
                break
        if len(found) == limit or not _may_go_on(result, asked):
            break
    reason = None if result.reason is None else EmptyReason(result.reason)
    return Matches([*found.values(), *late.values()][:limit], bool(result.hits), reason)


def _depths(limit: int) -> Iterator[int]:
    least = 2 * limit + SPARE_HITS
    if least < DEPTHS[0]:
        yield least
    yield from DEPTHS


def _may_go_on(result: SearchResult, asked: int) -> bool:
    """Say whether more hits may follow: as many came as were asked for, or parts of fewer texts."""
    is_crowded = result.candidates >= asked and result.subjects < result.candidates
    return len(result.hits) == asked or is_crowded


def would_match(db: apsw.Connection, text: str, view: View) -> bool:
    """Say whether anything matches at any time."""
    return bool(search.search(db, _request(Wanted(text), view, None, 1)).hits)


def _request(
    wanted: Wanted,
    view: View,
    within: set[int] | None,
    limit: int,
    checkpoint: Callable[[], None] = never_cancelled,
) -> SearchRequest:
    return SearchRequest(
        text=wanted.text,
        scope=view.scope,
        kinds=(indexing.COLLECTION,),
        now=view.as_of,
        within=None if within is None else {indexing.COLLECTION: within},
        limit=limit,
        checkpoint=checkpoint,
        meaning=wanted.meaning,
        exact=wanted.exact,
    )


def expand(db: apsw.Connection, text: str, hits: Sequence[Hit], view: View) -> Iterator[Match]:
    """Yield the matches behind ``hits`` by falling score, superseded events after all others."""
    asked = Sought(query.parse(text), begins=True)
    shown = [hit for hit in hits if not (view.is_past and hit.matched_by == _CONTEXT_ONLY)]
    alone = _alone(db, shown, view)
    spoken_for = {memory.event_seq for memory in alone.values()}
    late: list[Match] = []
    for hit, event, memory, drawn in _joined(db, shown, alone):
        if memory is not None:
            yield Match(event, memory, hit.score, hit.matched_by)
            continue
        for match in _of_event(hit, event, drawn, view, asked):
            if match.is_superseded:
                late.append(match)
            elif match.memory is not None or event.seq not in spoken_for:
                yield match
    yield from (match for match in late if match.event.seq not in spoken_for)


def _alone(db: apsw.Connection, hits: list[Hit], view: View) -> dict[int, Memory]:
    """Return by subject the memories among the hits that the view shows."""
    keys = [indexing.memory_subject(hit.subject) for hit in hits if hit.subject < 0]
    found = memories.by_keys(db, keys) if keys else []
    return {indexing.memory_subject(each.key): each for each in found if view.shows(each)}


def _joined(
    db: apsw.Connection, hits: list[Hit], alone: dict[int, Memory]
) -> Iterator[tuple[Hit, Event, Memory | None, list[Memory]]]:
    """Join hits with their rows and with what was drawn from their events; documents lose ties.

    Rows are read for some hits at a time: seldom are all of them shown.
    """
    for part in _parts(hits):
        raw = [hit.subject for hit in part if hit.subject > 0]
        spoken = {hit.subject: alone[hit.subject] for hit in part if hit.subject in alone}
        found = events.by_seqs(db, {*raw, *(memory.event_seq for memory in spoken.values())})
        drawn = by_event(memories.of_events(db, raw))
        rows = [
            (hit, found[seq], spoken.get(hit.subject), drawn.get(seq, []))
            for hit in part
            for seq in [spoken[hit.subject].event_seq if hit.subject in spoken else hit.subject]
            if seq in found
        ]
        yield from sorted(rows, key=_order)


def _parts(hits: list[Hit]) -> Iterator[list[Hit]]:
    """Cut the hits into parts of some; those of one score stay together."""
    start = 0
    while start < len(hits):
        end = start + READ_AT_ONCE
        while end < len(hits) and hits[end].score == hits[end - 1].score:
            end += 1
        yield hits[start:end]
        start = end


def _order(row: tuple[Hit, Event, Memory | None, list[Memory]]) -> tuple[float, bool]:
    hit, event, *_ = row
    return -hit.score, event.category is Category.REFERENCE


def _within(db: apsw.Connection, view: View) -> set[int] | None:
    """Return the only subjects that the view lets in, None when it lets in all of the scope."""
    if view.cue_key is not None:
        seqs = cues.events_with(db, view.scope, view.cue_key)
        alone: list[Any] = db.execute(_ALONE_OF_EVENTS, {"seqs": events.id_list(seqs)}).fetchall()
    elif view.is_past:
        seqs = events.seqs_up_to(db, view.scope, view.as_of)
        seqs |= memories.events_holding(db, view.scope, view.as_of)
        alone = db.execute(_ALONE, {"scope": view.scope}).fetchall()
    else:
        return None
    return seqs | {indexing.memory_subject(key) for (key,) in alone}


def _of_event(
    hit: Hit, event: Event, drawn: list[Memory], view: View, asked: Sought
) -> list[Match]:
    """Return the statements of the event that answer, or else the event itself."""
    told = [m for m in drawn if not indexing.stands_alone(m) and view.shows(m)]
    near = [m for m in told if _is_within(hit, event, m)]
    others = [m for m in told if m not in near]
    chosen = _best(near, asked) or _best(others, asked) or _whole(hit, event, told)
    if chosen:
        return [Match(event, memory, hit.score, hit.matched_by) for memory in chosen]
    if event.occurred_at > view.as_of:
        return []
    is_superseded = bool(drawn) and all(indexing.is_dead(m, view.as_of) for m in drawn)
    if is_superseded and not view.include_history:
        return []
    return [Match(event, None, hit.score, hit.matched_by, is_superseded)]


def _is_within(hit: Hit, event: Event, memory: Memory) -> bool:
    """Say whether the statement stands in the part of a long text that was found."""
    place = event.text.find(memory.quote)
    return hit.start - len(memory.quote) < place < hit.start + hit.length


def _best(drawn: list[Memory], asked: Sought) -> list[Memory]:
    """Return the statements that hold most of what is asked for, the first few of them."""
    shares = [asked.share(memory.content) for memory in drawn]
    best = max(shares, default=0.0)
    chosen = [memory for memory, held in zip(drawn, shares, strict=True) if best and held == best]
    return chosen[:MAX_STATEMENTS_SHOWN]


def _whole(hit: Hit, event: Event, told: list[Memory]) -> list[Memory]:
    """Return the statement that is all that the event says: where that was found, it answers."""
    if hit.matched_by == _CONTEXT_ONLY:
        return []
    return [memory for memory in told if memory.quote == event.text.strip()]


def by_event(drawn: Iterable[Memory]) -> dict[int, list[Memory]]:
    """Group memories by the event that they were drawn from."""
    by_event: dict[int, list[Memory]] = {}
    for memory in drawn:
        by_event.setdefault(memory.event_seq, []).append(memory)
    return by_event
