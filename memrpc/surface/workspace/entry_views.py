"""How entries are shown: in full, as rows, as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from memrpc.surface.projects import Origin
from memrpc.surface.workspace.shown import grouped, object_text, present
from memrpc.wire.messages import JSON
from memrpc.workspace import times
from memrpc.workspace.composing import EntryDraft
from memrpc.workspace.model import EntryStatus, EntryType, Repo

if TYPE_CHECKING:
    from memrpc.surface.projects import Project
    from memrpc.surface.workspace.visit import Arguments
    from memrpc.workspace.entry_search import EntryHit
    from memrpc.workspace.model import Entry

SEARCH_COLUMNS = (
    "id",
    "code",
    "title",
    "type",
    "importance",
    "acknowledged",
    "score",
    "confidence",
)
RECAP_COLUMNS = SEARCH_COLUMNS[:6]
LEGEND = "> #rank CODE [importance 1-5] title; acked: used before; grouped by type, best first."
_LISTS = ("tags", "alternatives", "key_decisions", "next_steps")
_PLAIN = (
    "title",
    "content",
    "importance",
    "supersedes",
    "metadata",
    "is_global",
    "role",
    "model",
    "completed_at",
    "status",
    "context",
    "rationale",
)
_PLACE = ("branch", "folder", "language")


def draft_of(arguments: Arguments, code: str | None = None) -> EntryDraft:
    """Return what the arguments say of an entry; what a code means there, the caller knows."""
    plain = {name: arguments[name] for name in _PLAIN if name in arguments}
    lists: dict[str, JSON] = {
        name: tuple(filter(str.strip, arguments[name])) for name in _LISTS if name in arguments
    }
    place: dict[str, JSON] = dict(scope_of(arguments))
    kind = arguments.get("type")
    return EntryDraft(
        type=None if kind is None else EntryType(kind),
        code=code,
        ttl_days=arguments.get("ttlDays"),
        **plain,
        **lists,
        **place,
    )


def scope_of(arguments: Arguments) -> dict[str, str]:
    """Return the branch, folder and language at hand; a scope may also be a bare folder."""
    given = arguments.get("scope")
    if not isinstance(given, dict):
        return {}
    return {name: str(given[name]) for name in _PLACE if given.get(name)}


def entry_json(entry: Entry, repo: Repo) -> dict[str, JSON]:
    """Return the entry in full."""
    place = {"owner": repo.owner, "repo": repo.name, "branch": entry.branch}
    return present(
        {
            "id": entry.id,
            "code": entry.code,
            "repo": repo.name,
            "type": str(entry.type),
            "title": entry.title,
            "content": entry.content,
            "importance": entry.importance,
            "agent": entry.agent,
            "role": entry.role,
            "model": entry.model,
            "scope": present(place | {"folder": entry.folder, "language": entry.language}),
            "created_at": times.to_text(entry.created_at),
            "updated_at": times.to_text(entry.updated_at),
            "completed_at": entry.completed_at,
            "hit_count": entry.used + entry.irrelevant + entry.contradictory,
            "recall_count": entry.used,
            "last_used_at": times.to_text_or_none(entry.last_used_at),
            "expires_at": times.to_text_or_none(entry.expires_at),
            "supersedes": entry.supersedes,
            "status": str(entry.status),
            "is_global": entry.is_global,
            "tags": list(entry.tags),
            "metadata": dict(entry.metadata),
            "acknowledged": entry.used > 0,
        }
    )


def entry_lines(entry: Entry, repo: Repo) -> list[str]:
    """Return the entry in full as text, its content last."""
    labelled = {
        "Code": entry.code,
        "ID": entry.id,
        "Title": entry.title,
        "Type": str(entry.type),
        "Importance": str(entry.importance),
        "Status": str(entry.status),
        "Acknowledged": "yes" if entry.used else "no",
        "Tags": ", ".join(entry.tags),
        "Created": times.to_text(entry.created_at),
        "Updated": times.to_text(entry.updated_at),
        "Expires": times.to_text_or_none(entry.expires_at),
        "Supersedes": entry.supersedes,
        "Repo": f"{repo.owner}/{repo.name}",
        "Branch": entry.branch,
        "Folder": entry.folder,
        "Language": entry.language,
        "Author": entry.agent,
        "Metadata": object_text(entry.metadata),
    }
    lines = [f"{name}: {value}" for name, value in labelled.items() if value]
    return [*lines, "--- content ---", entry.content]


def row(hit: EntryHit) -> list[JSON]:
    """Return a hit as the search's table has it."""
    mark = hit.mark
    return [
        *recap_row(hit.entry),
        None if mark is None else mark.score,
        None if mark is None else str(mark.confidence),
    ]


def recap_row(entry: Entry) -> list[JSON]:
    """Return an entry as the recap's table has it."""
    acknowledged = entry.used > 0
    return [entry.id, entry.code, entry.title, str(entry.type), entry.importance, acknowledged]


def tally_lines(by_type: Mapping[EntryType, int], besides: Mapping[str, int]) -> list[str]:
    """Return how much there is of each type, and of what a recap leaves out."""
    counts = ", ".join(f"{kind}: {n}" for kind, n in by_type.items())
    rest = ", ".join(f"{name}: {n}" for name, n in besides.items())
    if not counts and not rest:
        return ["Nothing is stored here yet."]
    how = "query" + (" and include_archived" if "archived" in besides else "")
    return [
        *([counts] if counts else []),
        *([f"Not listed: {rest}; {how} finds them."] * bool(rest)),
    ]


def hit_lines(
    hits: Sequence[EntryHit], first_rank: int, elsewhere: Mapping[int, Repo]
) -> list[str]:
    """Return hits as text, grouped by type, with their ranks and the repositories of others."""

    def line(ranked: tuple[int, EntryHit]) -> str:
        rank, hit = ranked
        return f"#{rank} {_hit(hit)}{of_whom(hit.entry, elsewhere)}"

    ranked = list(enumerate(hits, start=first_rank))
    return grouped(ranked, lambda each: str(each[1].entry.type), line)


def elsewhere_json(hits: Sequence[EntryHit], elsewhere: Mapping[int, Repo]) -> list[JSON] | None:
    """Return which hits belong to other repositories, if any does."""
    found: list[JSON] = [
        {"id": hit.entry.id, "code": hit.entry.code, "repo": f"{repo.owner}/{repo.name}"}
        for hit in hits
        if (repo := elsewhere.get(hit.entry.repo)) is not None
    ]
    return found or None


def archived_json(hits: Sequence[EntryHit]) -> list[JSON] | None:
    """Return the ids of the hits that were put away or replaced, if any was."""
    return [hit.entry.id for hit in hits if hit.entry.status is EntryStatus.ARCHIVED] or None


def of_whom(entry: Entry, elsewhere: Mapping[int, Repo]) -> str:
    """Return whose an entry is, if another repository's: here its code may name something else."""
    repo = elsewhere.get(entry.repo)
    return "" if repo is None else f" of {repo.owner}/{repo.name}"


def opening_line(hit: EntryHit, elsewhere: Mapping[int, Repo], project: Project) -> str:
    """Return the call that shows a hit in full, wherever a call without a repository goes."""
    repo = elsewhere.get(hit.entry.repo)
    if repo is not None:
        return f'Open one: memory-read id:"{hit.entry.id}" repo:"{repo.owner}/{repo.name}".'
    is_named = project.resolved_by is Origin.ARGUMENT
    where = f' repo:"{project.owner}/{project.name}"' if is_named else ""
    return f'Open one: memory-read id:"{hit.entry.code}"{where}.'


def entry_line(entry: Entry) -> str:
    """Return an entry on one line, with its handles."""
    acked = "acked" if entry.used else "unacked"
    away = " [archived]" if entry.status is EntryStatus.ARCHIVED else ""
    return f"{entry.code} [{entry.importance}] {entry.title} [{acked}]{away} ({entry.id})"


def dated_line(entry: Entry, elsewhere: Mapping[int, Repo]) -> str:
    """Return an entry on one line, with the day it was written and its type."""
    day = times.to_text(entry.created_at)[:10]
    return f"- {day} {entry.type} {entry_line(entry)}{of_whom(entry, elsewhere)}"


def _hit(hit: EntryHit) -> str:
    if hit.mark is None:
        return entry_line(hit.entry)
    return f"{entry_line(hit.entry)} {hit.mark.confidence} {hit.mark.score:.2f}"
