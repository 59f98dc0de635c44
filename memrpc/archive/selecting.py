"""Selecting: what a resumed session is told, in the order in which it is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memrpc.archive import contradictions, events, indexing, masking, matching, memories, times
from memrpc.archive.framing import Part
from memrpc.archive.model import Category, MemoryKind
from memrpc.recall.model import never_cancelled

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

    from memrpc.archive.checkpoints import Checkpoint
    from memrpc.archive.model import Event, Memory
    from memrpc.archive.persona import Persona
    from memrpc.recall.meaning import Meaning

MAX_EVENTS: Final = 100
MAX_RECALLED: Final = 20
MAX_OLDER: Final = 30
MAX_PART_CHARS: Final = 2_000


def persona_part(core: Persona) -> list[Part]:
    """Return the core persona as one part, or none when it is empty."""
    if not core.items:
        return []
    return [Part("persona", core.persona_id, {"version": core.version}, core.text)]


def checkpoint_part(checkpoint: Checkpoint | None) -> list[Part]:
    """Return the checkpoint as one part, if there is one."""
    if checkpoint is None:
        return []
    header = {"session": checkpoint.session_id, "saved_at": times.to_text(checkpoint.created_at)}
    return [Part("checkpoint", checkpoint.checkpoint_id, header, _summary(checkpoint))]


def event_parts(db: apsw.Connection, chosen: Iterable[Event], *, now: int) -> list[Part]:
    """Return the events that still state something, with corrected statements left out."""
    listed = list(chosen)
    drawn = matching.by_event(memories.of_events(db, [event.seq for event in listed]))
    return [
        _event_part("event", event, drawn.get(event.seq, []), now)
        for event in listed
        if not _is_superseded(drawn.get(event.seq, []), now)
    ]


def recalled_parts(
    db: apsw.Connection,
    scope: int,
    query: str,
    *,
    now: int,
    told: set[int],
    meaning: Meaning | None = None,
) -> list[Part]:
    """Return what is known about ``query`` beyond the events already told, and add to these."""
    view = matching.View(scope, now, is_past=False, include_history=False, cue_key=None)
    limit = MAX_RECALLED + len(told)
    wanted = matching.Wanted(query, meaning)
    matches = matching.find(db, wanted, view, limit=limit, checkpoint=never_cancelled)
    parts: list[Part] = []
    for match in contradictions.settle(db, matches.found).page:
        if match.event.seq in told:
            continue
        if match.memory is None:
            drawn = memories.of_events(db, [match.event.seq])
            parts.append(_event_part("memory", match.event, drawn, now))
        else:
            parts.append(_memory_part("memory", match.memory, match.event))
        if len(parts) == MAX_RECALLED:
            break
    return parts


def older_parts(
    db: apsw.Connection, scope: int, *, now: int, told: set[int], shown: set[str]
) -> list[Part]:
    """Return the surest and newest memories that no other part tells."""
    listed = memories.newest(db, scope, now=now, limit=MAX_OLDER + MAX_RECALLED + MAX_EVENTS)
    chosen = [m for m in listed if m.event_seq not in told and m.memory_id not in shown]
    sources = events.by_seqs(db, {memory.event_seq for memory in chosen})
    return [
        _memory_part("older_memory", memory, sources[memory.event_seq])
        for memory in chosen[:MAX_OLDER]
    ]


def _is_superseded(drawn: list[Memory], now: int) -> bool:
    return bool(drawn) and all(indexing.is_dead(memory, now) for memory in drawn)


def _event_part(component: str, event: Event, drawn: list[Memory], now: int) -> Part:
    dead = {memory.quote for memory in drawn if indexing.is_dead(memory, now)}
    text = masking.show(event.text, dead)
    return Part(component, event.event_id, _attribution(event, len(text)), text[:MAX_PART_CHARS])


def _memory_part(component: str, memory: Memory, event: Event) -> Part:
    header = _attribution(event, len(memory.content))
    if memory.kind is not MemoryKind.SEMANTIC:
        header["kind"] = memory.kind
    if memory.inferred:
        header["inferred"] = True
    if memory.valid_from != event.occurred_at:
        header["from"] = times.to_text(memory.valid_from)
    if memory.valid_to is not None:
        header["to"] = times.to_text(memory.valid_to)
    return Part(component, memory.memory_id, header, memory.content[:MAX_PART_CHARS])


def _attribution(event: Event, chars: int) -> dict[str, str | bool]:
    """Say who said it and when; what goes without saying costs no tokens."""
    header: dict[str, str | bool] = {"role": event.role}
    if event.source != event.role:
        header["source"] = event.source
    if event.category is not Category.CONVERSATION:
        header["category"] = event.category
    header["at"] = times.to_text(event.occurred_at)
    if chars > MAX_PART_CHARS:
        header["truncated"] = True
    return header


def _summary(checkpoint: Checkpoint) -> str:
    state = checkpoint.state
    lines = [f"Goal: {state.goal}"]
    for title, items in (
        ("Completed", state.completed),
        ("Pending", state.pending),
        ("Constraints", state.constraints),
    ):
        lines += [f"{title}:", *(f"- {item}" for item in items)] if items else []
    return "\n".join([*lines, f"Next step: {state.next_step}"] if state.next_step else lines)
