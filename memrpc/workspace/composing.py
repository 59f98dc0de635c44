"""Composing: the short forms of a decision and of a finished piece of work become an entry."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from memrpc.store.errors import InvalidArguments
from memrpc.workspace import rules
from memrpc.workspace.model import EntryType, Object

DECISION_IMPORTANCE: Final = 4
ARCHIVE_IMPORTANCE: Final = 3


class EntryDraft(NamedTuple):
    """What a caller says of an entry; None is what it did not say."""

    type: EntryType | None = None
    title: str | None = None
    content: str | None = None
    importance: int | None = None
    code: str | None = None
    ttl_days: float | None = None
    supersedes: str | None = None
    tags: tuple[str, ...] | None = None
    metadata: Object | None = None
    is_global: bool | None = None
    branch: str | None = None
    folder: str | None = None
    language: str | None = None
    role: str | None = None
    model: str | None = None
    completed_at: str | None = None
    status: str | None = None
    context: str | None = None
    rationale: str | None = None
    alternatives: tuple[str, ...] | None = None
    key_decisions: tuple[str, ...] | None = None
    next_steps: tuple[str, ...] | None = None


def compose(draft: EntryDraft, content: str | None = None) -> EntryDraft:
    """Return the draft with content, importance and tag made from its short form, if it has one.

    Of an entry that has ``content`` already, the sections that the draft names are replaced and
    the rest stays.
    """
    if draft.context or draft.rationale or draft.alternatives:
        _check_type(draft, EntryType.DECISION, "context, rationale and alternatives")
        if content is not None:
            return draft._replace(content=_revised(draft.content or content, _decision(draft)))
        return _composed(draft, _decision(draft), DECISION_IMPORTANCE, "decision")
    if draft.key_decisions or draft.next_steps:
        _check_type(draft, EntryType.TASK_ARCHIVE, "key_decisions and next_steps")
        if content is not None:
            return draft._replace(content=_revised(draft.content or content, _archive(draft)))
        return _composed(draft, _archive(draft), ARCHIVE_IMPORTANCE, "session-summary")
    return draft


def _revised(content: str, sections: list[str]) -> str:
    """Return the content with each section in place of the one of the same heading, or added."""
    for section in sections:
        heading = re.escape(section.partition("\n")[0])
        whole = re.compile(rf"^{heading}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
        found = whole.search(content)
        if found is None:
            content = f"{content.rstrip()}\n\n{section}"
        else:
            content = f"{content[: found.start()]}{section}\n\n{content[found.end() :]}"
    return content.strip()


def _check_type(draft: EntryDraft, wanted: EntryType, fields: str) -> None:
    if draft.type is not wanted:
        raise InvalidArguments(
            f"{fields} belong to type {wanted}, not {draft.type or 'an entry without type'}; send "
            f'type: "{wanted}".',
            field="type",
        )


def _composed(draft: EntryDraft, sections: list[str], importance: int, tag: str) -> EntryDraft:
    content = "\n\n".join(filter(None, [draft.content, *sections]))
    tags = tuple(dict.fromkeys([*(draft.tags or ()), tag]))
    return draft._replace(content=content, importance=importance, tags=tags)


def _decision(draft: EntryDraft) -> list[str]:
    return [
        *_section("Context", draft.context),
        *_section("Rationale", draft.rationale),
        *_bullets("Alternatives", draft.alternatives),
    ]


def _archive(draft: EntryDraft) -> list[str]:
    return [
        *_bullets("Key decisions", draft.key_decisions),
        *_bullets("Next steps", draft.next_steps),
    ]


def _section(heading: str, text: str | None) -> list[str]:
    if not text:
        return []
    return [f"## {heading}\n{rules.check_text(text, heading.lower(), rules.CONTENT_CHARS)}"]


def _bullets(heading: str, items: tuple[str, ...] | None) -> list[str]:
    return [f"## {heading}\n" + "\n".join(f"- {item}" for item in items)] if items else []
