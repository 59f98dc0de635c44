"""The briefing: what an agent needs to know before it begins, or to answer one question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from memrpc.workspace import (
    claims,
    entries,
    entry_search,
    handoffs,
    standard_reading,
    summaries,
    task_reading,
    task_search,
    tasks,
)
from memrpc.workspace.claims import ClaimFilter
from memrpc.workspace.entry_filters import EntryQuestion
from memrpc.workspace.handoffs import HandoffFilter
from memrpc.workspace.indexing import is_knowledge
from memrpc.workspace.model import (
    Claim,
    Entry,
    EntryType,
    Handoff,
    HandoffStatus,
    Standard,
    Summary,
    Task,
)
from memrpc.workspace.searching import NO_AIDS, Aids
from memrpc.workspace.standard_reading import StandardFilter
from memrpc.workspace.task_reading import TaskFilter

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.model import Repo

Waits: TypeAlias = "tuple[Handoff, Task | None]"
"""A pending handoff with the task that it passes on."""

MAX_TASKS: Final = 10
MAX_COORDINATION: Final = 10
_READ_AHEAD: Final = 4


class Briefing(NamedTuple):
    """What is known, planned, handed over, held and agreed on, and how much of it there is."""

    memories: tuple[Entry, ...]
    decisions: tuple[Entry, ...]
    tasks: tuple[Task, ...]
    handoffs: tuple[Waits, ...]
    claims: tuple[tuple[Claim, Task], ...]
    standards: tuple[Standard, ...]
    summary: Summary | None
    totals: dict[str, int]
    reason: str | None = None


def brief(
    db: apsw.Connection,
    repo: Repo,
    question: EntryQuestion,
    *,
    now: int,
    aids: Aids = NO_AIDS,
) -> Briefing:
    """Gather the context of a repository, around a question if there is one."""
    wanted = question.types
    reason: str | None = None
    if question.query.strip():
        memories, reason = _answers(db, repo, question, now, aids)
    else:
        memories = _known(db, repo, question, now)
    decisions: tuple[Entry, ...] = ()
    if not wanted or EntryType.DECISION in wanted:
        decisions = _decisions(db, repo, question, now, memories)
    chosen = TaskFilter(task_reading.ACTIVE, limit=MAX_TASKS)
    open_tasks, open_count = task_search.about_first(
        db, repo, question.query, chosen, now=now, aids=aids
    )
    pending = HandoffFilter(HandoffStatus.PENDING, limit=MAX_COORDINATION)
    waiting, handoff_count = handoffs.listed(db, repo, pending, now=now)
    live, claim_count = claims.listed(db, repo, ClaimFilter(limit=MAX_COORDINATION), now=now)
    on = tasks.by_keys(db, [claim.task for claim in live])
    return Briefing(
        memories=memories,
        decisions=decisions,
        tasks=open_tasks,
        handoffs=tuple(handoffs.with_tasks(db, waiting)),
        claims=tuple((claim, on[claim.task]) for claim in live),
        standards=_standards(db, repo, question, aids),
        summary=summaries.find(db, repo),
        totals={"tasks": open_count, "handoffs": handoff_count, "claims": claim_count},
        reason=reason,
    )


def _answers(
    db: apsw.Connection,
    repo: Repo,
    question: EntryQuestion,
    now: int,
    aids: Aids,
) -> tuple[tuple[Entry, ...], str | None]:
    """Return what answers the question; records of tasks only where nothing else does."""
    wide = question._replace(limit=_READ_AHEAD * question.limit)
    answer = entry_search.search(db, repo, wide, now=now, aids=aids, explains=False)
    found = [hit.entry for hit in answer.hits]
    known = [entry for entry in found if is_knowledge(entry)]
    return tuple((known or found)[: question.limit]), answer.reason


def _known(db: apsw.Connection, repo: Repo, question: EntryQuestion, now: int) -> tuple[Entry, ...]:
    """Return the most important and newest; decisions have a section of their own."""
    if question.types:
        newest = entry_search.search(db, repo, question, now=now)
        return tuple(hit.entry for hit in newest.hits)
    found = entries.recap(db, repo, now=now, limit=_READ_AHEAD * question.limit, offset=0)
    others = [entry for entry in found if entry.type is not EntryType.DECISION]
    return tuple(others[: question.limit])


def _decisions(
    db: apsw.Connection,
    repo: Repo,
    question: EntryQuestion,
    now: int,
    shown: tuple[Entry, ...],
) -> tuple[Entry, ...]:
    """Return decisions besides those already shown, by importance and age."""
    seen = {entry.key for entry in shown}
    found = entries.recap_of(
        db, repo, EntryType.DECISION, now=now, limit=question.limit + len(seen)
    )
    return tuple([entry for entry in found if entry.key not in seen][: question.limit])


def _standards(
    db: apsw.Connection, repo: Repo, question: EntryQuestion, aids: Aids
) -> tuple[Standard, ...]:
    """Return the standards that fit the question, or the newest where none does."""
    chosen = StandardFilter(limit=question.limit)
    if question.query.strip():
        found = standard_reading.search(db, repo, question.query, chosen, aids)
        if found.hits:
            return tuple(hit.standard for hit in found.hits)
    return tuple(hit.standard for hit in standard_reading.listing(db, repo, chosen).hits)
