"""Drafts of tasks: what a caller says of one, checked, and which columns that means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.store import json_column
from memrpc.store.errors import InvalidArguments
from memrpc.workspace import rules

if TYPE_CHECKING:
    from memrpc.workspace.model import Object, Task, TaskStatus

PHASE_TAG: Final = "phase:"
DECISIONS: Final = "decision_refs"


class TaskDraft(NamedTuple):
    """What a caller says of a task; None is what it did not say, an empty handle clears."""

    code: str | None = None
    phase: str | None = None
    title: str | None = None
    description: str | None = None
    status: TaskStatus | None = None
    priority: int | None = None
    role: str | None = None
    model: str | None = None
    comment: str | None = None
    doc_path: str | None = None
    tags: tuple[str, ...] | None = None
    suggested_skills: tuple[str, ...] | None = None
    metadata: Object | None = None
    decision_refs: tuple[str, ...] | None = None
    parent_id: str | None = None
    depends_on: str | None = None
    est_tokens: int | None = None
    commit_id: str | None = None
    changed_files: tuple[str, ...] | None = None
    claim_token: str | None = None
    force: bool = False


def checked(draft: TaskDraft) -> TaskDraft:
    """Return the draft with tidy lists; refuse what no task may be."""
    for name, bounds in _BOUNDS.items():
        value = getattr(draft, name)
        if value is not None:
            rules.check_text(value, name, bounds)
    if draft.metadata is not None:
        rules.check_object(json_column.encode(draft.metadata), "metadata")
    rules.check_brief(draft, "role", "model", "doc_path", "commit_id")
    if (draft.est_tokens or 0) > rules.MAX_EST_TOKENS:
        raise InvalidArguments(
            f"est_tokens must be at most {rules.MAX_EST_TOKENS:,}.", field="est_tokens"
        )
    lists: dict[str, Any] = {
        name: rules.check_list(getattr(draft, name), name, bounds)
        for name, bounds in _LISTS.items()
        if getattr(draft, name) is not None
    }
    has_words = draft.comment is not None and draft.comment.strip()
    return draft._replace(comment=draft.comment if has_words else None, **lists)


_BOUNDS: Final = {
    "title": rules.TASK_TITLE_CHARS,
    "phase": rules.SHORT_CHARS,
    "description": rules.LONG_CHARS,
    "comment": (0, rules.LONG_CHARS[1]),
}
_LISTS: Final = {
    "tags": rules.TAG_CHARS,
    "suggested_skills": rules.TAG_CHARS,
    "decision_refs": rules.TAG_CHARS,
    "changed_files": rules.SHORT_CHARS,
}
_NEEDED: Final = ("phase", "title", "description")


def check_complete(draft: TaskDraft) -> None:
    """Refuse a new task that lacks what each needs."""
    missing = [name for name in _NEEDED if getattr(draft, name) is None]
    if missing:
        raise InvalidArguments(
            f"{', '.join(missing)} missing: a new task needs phase, title and description; to "
            "change a task send its id or code.",
            field=missing[0],
            missing=missing,
        )


def changes(before: Task, draft: TaskDraft) -> dict[str, Any]:
    """Return the columns that the draft names, but for status, parent and dependency."""
    changes = {name: getattr(draft, name) for name in _PLAIN if getattr(draft, name) is not None}
    if draft.phase is not None or draft.tags is not None:
        tags = before.tags if draft.tags is None else draft.tags
        changes["tags"] = tagged(tags, draft.phase or before.phase)
    if draft.metadata is not None or draft.decision_refs is not None:
        given = before.metadata if draft.metadata is None else draft.metadata
        changes["metadata"] = metadata(given, draft)
    return changes


_PLAIN: Final = (
    "phase",
    "title",
    "description",
    "priority",
    "role",
    "model",
    "doc_path",
    "suggested_skills",
    "est_tokens",
    "commit_id",
    "changed_files",
)


SHOWN: Final = frozenset({*_PLAIN, "tags", "metadata"})


def tagged(tags: tuple[str, ...], phase: str) -> tuple[str, ...]:
    """Return the tags with the one that names the phase."""
    others = [tag for tag in tags if not tag.startswith(PHASE_TAG)]
    return tuple(dict.fromkeys([*others, f"{PHASE_TAG}{phase}"]))


def metadata(given: Object, draft: TaskDraft) -> Object:
    """Return the metadata with the decisions that the draft names."""
    if draft.decision_refs is None:
        return given
    return {**given, DECISIONS: list(draft.decision_refs)}
