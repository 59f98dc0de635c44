"""agent-context: what an agent needs to know before it begins, or to answer one question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.store.errors import InvalidArguments
from memrpc.surface import projects
from memrpc.surface.desk import Desk
from memrpc.surface.projects import Origin
from memrpc.surface.workspace import entry_views, shown
from memrpc.surface.workspace.visit import Arguments, Drawn, Visit, begin
from memrpc.wire.messages import JSON
from memrpc.workspace import briefing, scope, times
from memrpc.workspace.entry_filters import EntryQuestion
from memrpc.workspace.model import EntryType

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.briefing import Briefing, Waits
    from memrpc.workspace.model import Claim, Entry, Repo, Standard, Task

TOOL = "agent-context"
_SUMMARY_CHARS = 1_500
_LISTERS = {"tasks": "task-read", "handoffs": "handoff-read", "claims": "claim-manage"}


async def handle(ctx: Context, desk: Desk, arguments: Arguments) -> ToolResult:
    visit = await begin(ctx, desk, TOOL, arguments)
    if visit.project.resolved_by is Origin.ARGUMENT:
        projects.choose(ctx, desk.places, visit.project)
    limit, _ = visit.page(5)
    question = EntryQuestion(
        query=arguments.get("query") or "", types=_types(visit.arguments), limit=limit
    )

    def read(db: apsw.Connection, repo: Repo) -> tuple[Briefing, dict[int, Repo], tuple[str, ...]]:
        found = briefing.brief(db, repo, question, now=visit.now, aids=visit.aids)
        known = (entry.repo for entry in (*found.memories, *found.decisions))
        near = () if found.memories else tuple(scope.near(db, repo))
        return found, shown.others(db, repo, known), near

    found, elsewhere, near = await visit.search(read)
    sections = _sections(found, elsewhere)
    longest = max(len(section.items) for section in sections)
    return visit.fitted(longest, lambda count: _drawn(visit, found, near, sections, count))


def _types(arguments: Arguments) -> tuple[EntryType, ...]:
    wanted = arguments.get("type_filter")
    if wanted is None:
        return ()
    try:
        return (EntryType(wanted),)
    except ValueError:
        raise InvalidArguments(
            f"type_filter {wanted} is unknown; send one of {', '.join(EntryType)}.",
            field="type_filter",
        ) from None


class _Section(NamedTuple):
    """One part of the context: its title, its members in both forms."""

    name: str
    title: str
    items: Sequence[tuple[dict[str, JSON], str]]


def _sections(found: Briefing, elsewhere: dict[int, Repo]) -> list[_Section]:
    memories = [_memory(each, entry_views.of_whom(each, elsewhere)) for each in found.memories]
    decisions = [_decision(each, entry_views.of_whom(each, elsewhere)) for each in found.decisions]
    return [
        _Section("memories", "Relevant memories", memories),
        _Section("decisions", "Decisions", decisions),
        _Section("tasks", "Open tasks", [_task(each) for each in found.tasks]),
        _Section("handoffs", "Waiting handoffs", [_handoff(each) for each in found.handoffs]),
        _Section("claims", "Claims", [_claim(*each) for each in found.claims]),
        _Section("standards", "Standards", [_standard(each) for each in found.standards]),
    ]


def _drawn(
    visit: Visit,
    found: Briefing,
    near: tuple[str, ...],
    sections: list[_Section],
    count: int,
) -> Drawn:
    """Draw the first ``count`` members of each section."""
    query = shown.shortened(visit.arguments.get("query") or "")
    summary = None if found.summary is None else found.summary.text[:_SUMMARY_CHARS]
    parts = {part.name: [shown_ for shown_, _ in part.items[:count]] for part in sections}
    is_cut = any(len(part.items) > count for part in sections)
    structured: dict[str, JSON] = {
        "schema": TOOL,
        "repo": visit.project.name,
        "query": query or None,
        **parts,
        "summary": summary,
        **shown.present(
            {
                "reason": found.reason,
                "near_repos": list(near) or None,
                "truncated": True if is_cut else None,
            }
        ),
    }
    rest = _rest(found, parts)
    if rest:
        structured["totals"] = rest
    lines = [f'# Context of "{visit.project.name}"' + (f' for "{query}"' if query else "")]
    lines += [summary] if summary else []
    for part in sections:
        body = [line for _, line in part.items[:count]]
        lines += [f"## {part.title}", *(body or [f"(No {part.title.lower()} found)"])]
        lines += shown.nothing_lines(found.reason, ()) if part.name == "memories" else []
        total = rest.get(part.name)
        lines += [f"({len(body)} of {total}; {_LISTERS[part.name]} lists all)"] if total else []
    lines += shown.nothing_lines(None, near)
    lines += ["Some were left out; read them with the other tools."] if is_cut else []
    return structured, lines


def _rest(found: Briefing, parts: dict[str, list[dict[str, JSON]]]) -> dict[str, int]:
    """Return how many there are in all, of what is not shown whole."""
    return {name: total for name, total in found.totals.items() if total > len(parts[name])}


def _memory(entry: Entry, of_whom: str) -> tuple[dict[str, JSON], str]:
    facts: dict[str, JSON] = {"type": str(entry.type), "importance": entry.importance}
    head = {"id": entry.id, "code": entry.code, "title": entry.title}
    named = f"- {entry.code} [{entry.importance}] {entry.type}: {entry.title} ({entry.id})"
    return {**head, **facts}, f"{named}{of_whom}: {shown.one_line(entry.content)}"


def _decision(entry: Entry, of_whom: str) -> tuple[dict[str, JSON], str]:
    head = {"id": entry.id, "code": entry.code, "title": entry.title}
    line = f"- {entry.code} [{entry.importance}] {entry.title} ({entry.id}){of_whom}"
    return {**head, "importance": entry.importance}, line


def _task(task: Task) -> tuple[dict[str, JSON], str]:
    head = {"id": task.id, "task_code": task.code, "title": task.title}
    line = f"- {task.code} [P{task.priority}] {task.status}: {task.title} ({task.id})"
    return {**head, "status": str(task.status), "priority": task.priority}, line


def _handoff(waiting: Waits) -> tuple[dict[str, JSON], str]:
    handoff, task = waiting
    code = None if task is None else task.code
    summary = shown.shortened(handoff.summary)
    members = shown.present(
        {
            "id": handoff.id,
            "from_agent": handoff.from_agent,
            "to_agent": handoff.to_agent,
            "task_code": code,
            "summary": summary,
            "status": "pending",
        }
    )
    agents = f"{handoff.from_agent}→{handoff.to_agent or 'anyone'}"
    on = "" if code is None else f" on {code}"
    return members, f"- {handoff.id} {agents}{on} (pending): {shown.indented(summary)}"


def _claim(claim: Claim, task: Task) -> tuple[dict[str, JSON], str]:
    until = times.to_text(claim.expires_at)
    members = {"id": claim.id, "task_code": task.code, "agent": claim.agent, "expires_at": until}
    return dict(members), f"- {task.code} by {claim.agent} until {until} (claim {claim.id})"


def _standard(standard: Standard) -> tuple[dict[str, JSON], str]:
    members = {"id": standard.id, "code": standard.code, "title": standard.title}
    said = shown.one_line(standard.content)
    return dict(members), f"- {standard.code} {standard.title} ({standard.id}): {said}"
