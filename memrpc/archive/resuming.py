"""Resuming: one text for the next model, never longer than its budget.

The parts are put in order of what matters most and kept from the front: framing, core persona,
checkpoint, events since, memories about the matter at hand, older memories.  The first part that
does not fit and all after it are left out and named.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memrpc.archive import checkpoints, events, framing, persona, rules, scopes, selecting
from memrpc.archive.answers import Omitted, ResumeAnswer, TokenMethod
from memrpc.archive.framing import Part
from memrpc.archive.model import DEFAULT_SCOPE, Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import apsw

    from memrpc.archive.checkpoints import Checkpoint
    from memrpc.recall.meaning import Meaning

DEFAULT_BUDGET_TOKENS: Final = 4_096


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """A way to count tokens, and what to call it."""

    method: TokenMethod
    count: Callable[[str], int]


@dataclass(frozen=True, slots=True)
class ResumeInput:
    """What session_resume takes, but for the model, which decides the counters."""

    query: str = ""
    token_budget: int = DEFAULT_BUDGET_TOKENS
    session_id: str | None = None
    scope: Scope = DEFAULT_SCOPE


@dataclass(frozen=True, slots=True)
class Selection:
    """All that could be told, in the order in which it is kept."""

    scope: Scope
    core: list[Part]
    rest: list[Part]
    checkpoint_id: str | None
    warnings: tuple[str, ...]

    @property
    def parts(self) -> list[Part]:
        """Every part."""
        return [*self.core, *self.rest]


def resume(
    db: apsw.Connection,
    request: ResumeInput,
    *,
    now: int,
    counters: Sequence[TokenCounter],
    understand: Callable[[str], Meaning | None] = lambda _: None,
) -> ResumeAnswer:
    """Build the context by the first of ``counters`` by which all of it fits, or else the last.

    So a rough counter that is quick to load may stand before an exact one.  ``understand`` gives
    a question as an embedder reads it.
    """
    check(request)
    selection = select(db, request, now=now, understand=understand)
    for counter in counters:
        answer = pack(selection, request.token_budget, counter)
        if answer.status == "ok":
            break
    return answer


def check(request: ResumeInput) -> None:
    """Refuse a budget out of range and a session that cannot be named."""
    rules.check_scope(request.scope)
    rules.check_range(request.token_budget, "token_budget", 0, rules.MAX_BUDGET_TOKENS)
    if request.session_id is not None:
        rules.check_name(request.session_id, "session_id")


def select(
    db: apsw.Connection,
    request: ResumeInput,
    *,
    now: int,
    understand: Callable[[str], Meaning | None] = lambda _: None,
) -> Selection:
    """Gather what a session of this scope should know."""
    core = selecting.persona_part(persona.current(db, request.scope.persona_id))
    key = scopes.find(db, request.scope)
    if key is None:
        return Selection(request.scope, core, [], None, ("Nothing was recorded in this scope.",))
    checkpoint = checkpoints.latest(db, key, request.session_id)
    covered = checkpoint.covered_seq if checkpoint else 0
    limit = selecting.MAX_EVENTS
    recent = events.newest_after(db, key, covered, now=now, limit=limit + 1)
    told = {event.seq for event in recent[:limit]}
    query = request.query.strip() or _matter(checkpoint)
    recalled = (
        selecting.recalled_parts(db, key, query, now=now, told=told, meaning=understand(query))
        if query
        else []
    )
    shown = {part.id for part in recalled}
    return Selection(
        scope=request.scope,
        core=core,
        rest=[
            *selecting.checkpoint_part(checkpoint),
            *selecting.event_parts(db, recent[:limit], now=now),
            *recalled,
            *selecting.older_parts(db, key, now=now, told=told, shown=shown),
        ],
        checkpoint_id=checkpoint.checkpoint_id if checkpoint else None,
        warnings=(
            *_warnings(scopes.counts(db, key), has_more=len(recent) > limit),
            *_no_checkpoint(checkpoint, request.session_id),
        ),
    )


def pack(selection: Selection, budget_tokens: int, counter: TokenCounter) -> ResumeAnswer:
    """Keep as many parts from the front as the budget holds."""
    parts = selection.parts
    mark = framing.mark_for(selection.scope, parts)

    def context(kept: int) -> str:
        return framing.render(selection.scope, parts[:kept], mark)

    def fits(kept: int) -> bool:
        return counter.count(context(kept)) <= budget_tokens

    least = len(selection.core)
    if not fits(least):
        return _insufficient(selection, counter, counter.count(context(least)))
    kept = len(parts) if fits(len(parts)) else _most(fits, least, len(parts))
    text = context(kept)
    omitted = tuple(_omitted(part, counter) for part in parts[kept:])
    is_kept = kept > least and any(part.component == "checkpoint" for part in parts[:kept])
    return ResumeAnswer(
        context=text,
        status="partial" if omitted else "ok",
        token_count=counter.count(text),
        token_method=counter.method,
        omitted=omitted,
        warnings=selection.warnings,
        checkpoint_id=selection.checkpoint_id if is_kept else None,
        scope=selection.scope,
    )


def _most(fits: Callable[[int], bool], low: int, high: int) -> int:
    """Return the largest count found to fit, where ``low`` does and ``high`` does not."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _insufficient(selection: Selection, counter: TokenCounter, required: int) -> ResumeAnswer:
    """Answer with nothing but what would be needed: a persona is never shown in part."""
    return ResumeAnswer(
        context="",
        status="insufficient_budget",
        token_count=0,
        token_method=counter.method,
        omitted=tuple(_omitted(part, counter) for part in selection.parts),
        warnings=(
            *selection.warnings,
            f"Framing and core persona need a token_budget of {required}.",
        ),
        scope=selection.scope,
        required_tokens=required,
    )


def _omitted(part: Part, counter: TokenCounter) -> Omitted:
    tokens = counter.count(f"{part.heading()}\n{part.text}")
    return Omitted(part.component, part.id, tokens, "budget")


def _matter(checkpoint: Checkpoint | None) -> str:
    """Return what the checkpoint is about, for want of a query."""
    return f"{checkpoint.state.goal} {checkpoint.state.next_step}".strip() if checkpoint else ""


def _no_checkpoint(checkpoint: Checkpoint | None, session_id: str | None) -> tuple[str, ...]:
    """Say so when a session was asked for that has nothing to go on from."""
    if checkpoint is not None or session_id is None:
        return ()
    return (
        "No valid checkpoint of this session_id; leave it out to go on from the project's latest.",
    )


def _warnings(counts: scopes.Counts, *, has_more: bool) -> tuple[str, ...]:
    warnings: list[str] = []
    if has_more:
        warnings.append(
            f"More than {selecting.MAX_EVENTS} events are newer than the checkpoint; only the "
            "newest were selected. Save a checkpoint, and use memory_recall for the rest."
        )
    if counts.pending:
        warnings.append(f"Events without memories yet: {counts.pending}.")
    return tuple(warnings)
