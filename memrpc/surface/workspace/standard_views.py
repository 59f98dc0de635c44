"""How standards are shown: in full, as rows, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from memrpc.surface.workspace.shown import grouped, object_text, present
from memrpc.wire.messages import JSON
from memrpc.workspace import times
from memrpc.workspace.standard_writing import StandardDraft

if TYPE_CHECKING:
    from memrpc.surface.workspace.visit import Arguments
    from memrpc.workspace.model import Repo, Standard
    from memrpc.workspace.standard_reading import StandardHit

LIST_COLUMNS = (
    "code",
    "id",
    "title",
    "context",
    "language",
    "scope",
    "tags",
    "version",
    "updated_at",
)
SEARCH_COLUMNS = (
    "code",
    "id",
    "title",
    "context",
    "language",
    "scope",
    "tags",
    "confidence",
    "score",
    "matched_terms",
    "updated_at",
)
LEGEND = "> CODE title [context] version, global or of this repo; grouped by language."
MAX_TAGS = 20
"""How many a list shows of each."""
_LISTS = ("tags", "stack")
_PLAIN = (
    "name",
    "content",
    "parent_id",
    "context",
    "version",
    "language",
    "is_global",
    "metadata",
    "model",
)


def draft_of(arguments: Arguments) -> StandardDraft:
    """Return what the arguments say of a standard."""
    plain = {name: arguments[name] for name in _PLAIN if name in arguments}
    lists: dict[str, JSON] = {name: tuple(arguments[name]) for name in _LISTS if name in arguments}
    return StandardDraft(**plain, **lists)


def standard_json(standard: Standard, repo: Repo, parent: Standard | None) -> dict[str, JSON]:
    """Return the standard in full."""
    return present(
        {
            "id": standard.id,
            "code": standard.code,
            "title": standard.title,
            "content": standard.content,
            "parent_id": None if parent is None else parent.id,
            "parent_code": None if parent is None else parent.code,
            "context": standard.context,
            "version": standard.version,
            "language": standard.language,
            "stack": list(standard.stack),
            "is_global": standard.is_global,
            "owner": repo.owner,
            "repo": repo.name,
            "tags": list(standard.tags),
            "metadata": dict(standard.metadata),
            "agent": standard.agent,
            "model": standard.model,
            "created_at": times.to_text(standard.created_at),
            "updated_at": times.to_text(standard.updated_at),
        }
    )


def standard_lines(standard: Standard, repo: Repo, parent: Standard | None) -> list[str]:
    """Return the standard in full as text, its content last."""
    labelled = {
        "Code": standard.code,
        "ID": standard.id,
        "Title": standard.title,
        "Context": standard.context,
        "Version": standard.version,
        "Language": standard.language,
        "Stack": ", ".join(standard.stack),
        "Repo": f"{repo.owner}/{repo.name}" + (" (for all)" if standard.is_global else ""),
        "Tags": ", ".join(standard.tags),
        "Extends": None if parent is None else f"{parent.code} ({parent.id})",
        "Author": standard.agent,
        "Metadata": object_text(standard.metadata),
        "Created": times.to_text(standard.created_at),
        "Updated": times.to_text(standard.updated_at),
    }
    lines = [f"{name}: {value}" for name, value in labelled.items() if value]
    return [*lines, "--- content ---", standard.content]


def list_row(hit: StandardHit) -> list[JSON]:
    """Return a standard as the list's table has it."""
    standard = hit.standard
    return [*_head(standard), standard.version, times.to_text(standard.updated_at)]


def search_row(hit: StandardHit) -> list[JSON]:
    """Return a standard as the search's table has it."""
    mark = hit.mark
    return [
        *_head(hit.standard),
        None if mark is None else str(mark.confidence),
        None if mark is None else mark.score,
        list(hit.terms),
        times.to_text(hit.standard.updated_at),
    ]


def row_lines(hits: Sequence[StandardHit]) -> list[str]:
    """Return standards as text, grouped by language."""
    return grouped(hits, lambda hit: hit.standard.language or "any language", _line)


def _head(standard: Standard) -> list[JSON]:
    place: list[JSON] = [standard.context, standard.language, _scope(standard)]
    tags = list(standard.tags[:MAX_TAGS])
    return [standard.code, standard.id, standard.title, *place, tags]


def _scope(standard: Standard) -> str:
    return "global" if standard.is_global else "repo"


def _line(hit: StandardHit) -> str:
    standard, mark = hit.standard, hit.mark
    sure = "" if mark is None else f" {mark.confidence} {mark.score:.2f}"
    facts = f"[{standard.context}] v{standard.version} {_scope(standard)}"
    return f"- {standard.code} {standard.title} {facts} ({standard.id}){sure}"
