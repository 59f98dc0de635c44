"""What the archive gives to recall: which text stands in the index for an event or a memory.

An event is indexed with its statements that no longer hold blanked, between the texts of its
neighbours in the session, if the caller named one: where none is named, whatever came next has
nothing to do with it.  A memory has units of its own only when the event's do not speak for
it: when its wording is not the event's, or when it no longer holds and only history asks for it.
Both stand in one collection, so that their scores come from the same statistics and compare; there
an event's subject is its ``seq`` and a memory's is its row number, negated.
"""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Final

from memrpc.archive import events, masking, memories
from memrpc.archive.model import DEFAULT_SESSION, Status
from memrpc.recall import index
from memrpc.recall.model import Document, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import apsw

    from memrpc.archive.model import Event, Memory

COLLECTION: Final = Kind.EVENT
NEIGHBOURS: Final = 2


def add_event(db: apsw.Connection, event: Event) -> None:
    """Index a new event and give it to the neighbours before it as context."""
    refresh_events(db, [event.seq, *_before(db, event)])


def refresh_around(db: apsw.Connection, seqs: Iterable[int]) -> None:
    """Index these events anew and all that hold their text as context."""
    chosen = events.by_seqs(db, seqs)
    refresh_events(db, {*chosen, *neighbours(db, chosen.values())})


def neighbours(db: apsw.Connection, chosen: Iterable[Event]) -> set[int]:
    """Return the places of the events that hold text of these as context."""
    return {seq for event in chosen for near in (_before, _after) for seq in near(db, event)}


def refresh_events(db: apsw.Connection, seqs: Iterable[int]) -> None:
    """Index the events at these places as they now stand."""
    for document in event_documents(db, seqs):
        index.put(db, document)


def add_memory(db: apsw.Connection, memory: Memory, event: Event) -> None:
    """Index the memory by itself if the event's units do not speak for it."""
    if stands_alone(memory):
        index.put(db, _memory_document(memory, event))


def stands_alone(memory: Memory) -> bool:
    """Say whether the memory has units of its own."""
    return memory.status is not Status.CURRENT or memory.content != memory.quote


def memory_subject(key: int) -> int:
    """Return the subject under which a memory is indexed; its own inverse."""
    return -key


def remove(
    db: apsw.Connection, gone_events: Iterable[Event], gone_memories: Iterable[Memory]
) -> None:
    """Take what is about to be forgotten out of the index."""
    for event in gone_events:
        index.remove(db, COLLECTION, event.seq)
    for memory in gone_memories:
        index.remove(db, COLLECTION, memory_subject(memory.key))


def renewals(db: apsw.Connection) -> list[Callable[[apsw.Connection], int]]:
    """Return what indexes everything anew, an event with its memories at a time.

    Each says how many documents it has indexed: none if the event has gone by then.
    """
    return [partial(_renew, seq=seq) for seq in events.all_seqs(db)]


def _renew(db: apsw.Connection, seq: int) -> int:
    documents = event_documents(db, [seq])
    for event in events.by_seqs(db, [seq]).values():
        for memory in memories.of_events(db, [seq]):
            if stands_alone(memory):
                documents.append(_memory_document(memory, event))
            else:
                index.remove(db, COLLECTION, memory_subject(memory.key))
    for document in documents:
        index.put(db, document)
    return len(documents)


def event_documents(db: apsw.Connection, seqs: Iterable[int]) -> list[Document]:
    """Build what stands in the index for the events at these places."""
    chosen = events.by_seqs(db, seqs)
    before = {seq: _before(db, event) for seq, event in chosen.items()}
    after = {seq: _after(db, event) for seq, event in chosen.items()}
    near = {seq for places in (*before.values(), *after.values()) for seq in places}
    involved = chosen | events.by_seqs(db, near - chosen.keys())
    dead = dead_quotes(db, involved)
    texts = {seq: masking.blank(event.text, dead[seq]) for seq, event in involved.items()}
    return [
        Document(
            kind=COLLECTION,
            subject=seq,
            scope=event.scope,
            text=texts[seq],
            speaker=event.source,
            role=event.role,
            occurred_at=event.occurred_at,
            session=event.session_id,
            before=tuple(texts[place] for place in before[seq]),
            after=tuple(texts[place] for place in after[seq]),
        )
        for seq, event in chosen.items()
    ]


def dead_quotes(
    db: apsw.Connection, seqs: Iterable[int], *, as_of: int | None = None
) -> defaultdict[int, set[str]]:
    """Return, by event, the quotes that no longer hold; with ``as_of`` those that did not then."""
    quotes: defaultdict[int, set[str]] = defaultdict(set)
    for memory in memories.retired_of_events(db, seqs):
        if is_dead(memory, as_of):
            quotes[memory.event_seq].add(memory.quote)
    return quotes


def is_dead(memory: Memory, as_of: int | None) -> bool:
    """Say whether the memory was superseded or revoked, and so not true at ``as_of`` either."""
    return memory.status is not Status.CURRENT and (as_of is None or not memory.holds_at(as_of))


def _before(db: apsw.Connection, event: Event) -> list[int]:
    if event.session_id == DEFAULT_SESSION:
        return []
    return events.before(db, event, NEIGHBOURS)


def _after(db: apsw.Connection, event: Event) -> list[int]:
    if event.session_id == DEFAULT_SESSION:
        return []
    return events.after(db, event, NEIGHBOURS)


def _memory_document(memory: Memory, event: Event) -> Document:
    return Document(
        kind=COLLECTION,
        subject=memory_subject(memory.key),
        scope=memory.scope,
        text=memory.content,
        speaker=event.source,
        role=event.role,
        occurred_at=event.occurred_at,
        session=event.session_id,
    )
