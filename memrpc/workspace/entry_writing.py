"""Writing entries: create, update, acknowledge, archive; each in the caller's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.recall import similarity
from memrpc.store import json_column
from memrpc.store.errors import Conflict, InvalidArguments
from memrpc.workspace import (
    actions,
    codes,
    entries,
    indexing,
    rules,
    scope,
    times,
    topics,
    upkeep_due,
)
from memrpc.workspace.actions import Change
from memrpc.workspace.composing import compose
from memrpc.workspace.entry_filters import bare
from memrpc.workspace.graph import Link
from memrpc.workspace.model import (
    UNKNOWN,
    Acknowledgement,
    Entry,
    EntryStatus,
    EntryType,
    Kind,
)
from memrpc.workspace.times import DAY_US

if TYPE_CHECKING:
    import apsw

    from memrpc.store.json_column import JSON
    from memrpc.workspace.composing import EntryDraft
    from memrpc.workspace.model import Act, Repo

CONFLICT_COSINE: Final = 0.85
"""Of content words; in a short text one differing word in five is a different fact."""
MAX_TTL_DAYS: Final = 36_500
_SHOWN_CHARS: Final = 500
_NEEDED: Final = ("type", "title", "content", "importance")


class Updated(NamedTuple):
    """An entry after a change, with what it was and which fields are new."""

    entry: Entry
    before: Entry
    fields: tuple[str, ...]


def create(
    db: apsw.Connection, repo: Repo, given: EntryDraft, act: Act, links: tuple[Link, ...] = ()
) -> Entry:
    """Keep a new entry, with links of the graph besides those that it states.

    Raises InvalidArguments for what is missing or wrong, Conflict when the code is taken or when
    the repository already knows nearly the same.
    """
    draft = _checked(compose(given))
    _check_complete(draft)
    old = None if draft.supersedes is None else entries.find(db, repo, draft.supersedes)
    if old is None and draft.type is not EntryType.TASK_ARCHIVE:
        _refuse_duplicate(db, repo, str(draft.content), act.now)
    entry = _new(db, repo, draft, act, old)
    entry = entry._replace(key=entries.add(db, entry))
    indexing.put_entry(db, entry, [*links, *_links(old)], is_new=True)
    if old is not None:
        _supersede(db, repo, old, act)
    _note(db, repo, act, "create", None, entry)
    upkeep_due.owe(db, now=act.now)
    return entry


def update(db: apsw.Connection, repo: Repo, handle: str, given: EntryDraft, act: Act) -> Updated:
    """Change what ``given`` says and leave the rest, authorship included.

    Raises NotFound when this repository has no such entry.
    """
    before = entries.find(db, repo, handle)
    changes = _changes(
        db, repo, before, _checked(compose(_typed(given, before), before.content)), act
    )
    if not changes:
        raise InvalidArguments(
            f"nothing to change for {before.code}; send at least one field such as title, content, "
            "importance, tags, status or ttlDays.",
            field="id",
        )
    old = None
    if changes.get("supersedes") not in (None, before.supersedes):
        old = entries.find(db, repo, changes["supersedes"])
    after = before._replace(**changes, updated_at=act.now)
    entries.save(db, after)
    if indexing.read_of_entry(before) != indexing.read_of_entry(after):
        indexing.put_entry(db, after, _links(old or _superseded(db, repo, after)))
    if old is not None:
        _supersede(db, repo, old, act)
    _note(db, repo, act, "update", before, after)
    return Updated(after, before, tuple(changes))


def acknowledge(
    db: apsw.Connection,
    repo: Repo,
    handle: str,
    how: Acknowledgement,
    act: Act,
    *,
    context: str | None,
) -> Entry:
    """Count what became of an entry that was read; it weighs in later searches."""
    before = entries.find(db, repo, handle)
    counted: dict[str, Any] = {str(how): getattr(before, how) + 1}
    if how is Acknowledgement.USED:
        counted["last_used_at"] = act.now
    after = before._replace(**counted)
    entries.save(db, after)
    said: dict[str, JSON] = {"acknowledge": str(how), "application_context": context}
    change = Change("acknowledge", Kind.ENTRY, after.id, after.code, after=said)
    actions.log(db, repo, act, change)
    topics.note(db, repo, (topics.MEMORIES,), f"memory://{after.id}", now=act.now)
    return after


def archive(db: apsw.Connection, repo: Repo, handle: str, act: Act) -> Entry:
    """Put an entry away; ``status: active`` brings it back.  A second time changes nothing."""
    before = entries.find(db, repo, handle)
    scope.check_named(db, repo, before, handle)
    if before.status is EntryStatus.ARCHIVED:
        return before
    return set_status(db, repo, before, EntryStatus.ARCHIVED, act)


def set_status(
    db: apsw.Connection, repo: Repo, before: Entry, status: EntryStatus, act: Act
) -> Entry:
    """Archive or restore an entry and log it under the act's tool."""
    after = before._replace(status=status, updated_at=act.now)
    entries.save(db, after)
    indexing.put_entry(db, after, _links(_superseded(db, repo, after)))
    operation = "archive" if status is EntryStatus.ARCHIVED else "restore"
    _note(db, repo, act, operation, before, after)
    return after


def _checked(draft: EntryDraft) -> EntryDraft:
    if draft.title is not None:
        rules.check_title(draft.title)
    if draft.content is not None:
        rules.check_text(draft.content, "content", rules.CONTENT_CHARS)
    if draft.metadata is not None:
        rules.check_object(json_column.encode(draft.metadata), "metadata")
    if draft.ttl_days is not None and not 0 < draft.ttl_days <= MAX_TTL_DAYS:
        raise InvalidArguments(
            f"ttlDays must be more than 0 and at most {MAX_TTL_DAYS:,}.", field="ttlDays"
        )
    rules.check_brief(draft, "role", "model", "branch", "folder", "language")
    if draft.completed_at is not None:
        completed_at = times.to_text(times.parse(draft.completed_at, "completed_at"))
        draft = draft._replace(completed_at=completed_at)
    if draft.folder is not None:
        draft = draft._replace(folder=bare(draft.folder))
    if draft.tags is None:
        return draft
    return draft._replace(tags=rules.check_list(draft.tags, "tags", rules.TAG_CHARS))


def _check_complete(draft: EntryDraft) -> None:
    missing = [name for name in _NEEDED if getattr(draft, name) is None]
    if missing:
        raise InvalidArguments(
            f"{', '.join(missing)} missing: a new entry needs {', '.join(_NEEDED)}; to change or "
            "acknowledge one send its id or code.",
            field=missing[0],
            missing=missing,
        )


def _typed(given: EntryDraft, before: Entry) -> EntryDraft:
    """Give the short forms the entry's own type where the update names none."""
    uses_short_form = given.context or given.rationale or given.alternatives
    if given.type is None and (uses_short_form or given.key_decisions or given.next_steps):
        return given._replace(type=before.type)
    return given


def _new(db: apsw.Connection, repo: Repo, draft: EntryDraft, act: Act, old: Entry | None) -> Entry:
    language = draft.language
    tags = [*(draft.tags or ()), *([language.lower()] if language else [])]
    return Entry(
        key=0,
        id=act.new_id(),
        repo=repo.key,
        code=_code(db, repo, draft.code),
        type=EntryType(str(draft.type)),
        title=str(draft.title),
        content=str(draft.content),
        importance=int(draft.importance or 1),
        agent=act.agent,
        role=draft.role or UNKNOWN,
        model=draft.model or UNKNOWN,
        branch=draft.branch,
        folder=draft.folder,
        language=language,
        created_at=act.now,
        updated_at=act.now,
        completed_at=draft.completed_at,
        used=0,
        irrelevant=0,
        contradictory=0,
        last_used_at=None,
        expires_at=_expiry(draft, act.now),
        decayed_at=None,
        supersedes=None if old is None else old.id,
        status=EntryStatus.ACTIVE,
        is_global=bool(draft.is_global),
        tags=tuple(dict.fromkeys(tags)),
        metadata=draft.metadata or {},
    )


def _code(db: apsw.Connection, repo: Repo, chosen: str | None) -> str:
    if chosen is None:
        return codes.take(db, repo, Kind.ENTRY)
    code = rules.check_code(chosen)
    if entries.holds_code(db, repo, code):
        raise Conflict(
            f"code {code} is taken in {scope.full_name(repo)}; leave code out to get the next one.",
            code=code,
        )
    codes.reserve(db, repo, Kind.ENTRY, code)
    return code


def _changes(
    db: apsw.Connection, repo: Repo, before: Entry, draft: EntryDraft, act: Act
) -> dict[str, Any]:
    """Return the columns that the draft changes, by name."""
    plain = {name: getattr(draft, name) for name in _PLAIN if getattr(draft, name) is not None}
    if draft.type is before.type:
        plain.pop("type", None)
    if draft.status is not None:
        plain["status"] = EntryStatus(draft.status)
    if draft.ttl_days is not None:
        plain["expires_at"] = _expiry(draft, act.now)
    if draft.supersedes is not None:
        plain["supersedes"] = _other(db, repo, before, draft.supersedes)
    return plain


_PLAIN: Final = (
    "type",
    "title",
    "content",
    "importance",
    "role",
    "model",
    "tags",
    "metadata",
    "is_global",
    "branch",
    "folder",
    "language",
    "completed_at",
)


def _other(db: apsw.Connection, repo: Repo, entry: Entry, handle: str) -> str:
    other = entries.find(db, repo, handle)
    if other.key == entry.key:
        raise InvalidArguments(f"{entry.code} cannot supersede itself.", field="supersedes")
    return other.id


def _expiry(draft: EntryDraft, now: int) -> int | None:
    return None if draft.ttl_days is None else now + int(draft.ttl_days * DAY_US)


def _refuse_duplicate(db: apsw.Connection, repo: Repo, content: str, now: int) -> None:
    """Compare with everything that the repository can see."""
    homes = (indexing.scope_of(repo.key), indexing.scope_of(indexing.GLOBAL))
    found = similarity.alike(db, content, Kind.ENTRY, homes, at_least=CONFLICT_COSINE)
    known = entries.by_keys(db, [key for key, _ in found]) if found else {}
    live = [known[key] for key, _ in found if not known[key].is_expired(now)]
    if live:
        raise _duplicate(live[0])


def _duplicate(entry: Entry) -> Conflict:
    return Conflict(
        f"Rejected due to conflict with [{entry.code}] “{entry.title}”, which says nearly the "
        f"same. Update it (id: {entry.code}), or send supersedes: {entry.code} to replace it.",
        reason="MEMORY_CONFLICT",
        conflicting_memory={
            "id": entry.id,
            "code": entry.code,
            "title": entry.title,
            "content": entry.content[:_SHOWN_CHARS],
        },
        instruction=f"Update {entry.code}, or supersede it.",
    )


def _supersede(db: apsw.Connection, repo: Repo, old: Entry, act: Act) -> None:
    if old.status is EntryStatus.ACTIVE:
        set_status(db, repo, old, EntryStatus.ARCHIVED, act)


def _superseded(db: apsw.Connection, repo: Repo, entry: Entry) -> Entry | None:
    """Return the entry that this one replaced, if it is still there."""
    found = None if entry.supersedes is None else entries.anywhere(db, entry.supersedes)
    return found if found is not None and found.repo == repo.key else None


def _links(old: Entry | None) -> list[Link]:
    return [] if old is None else [Link("supersedes", Kind.ENTRY, old.key)]


def _note(
    db: apsw.Connection, repo: Repo, act: Act, operation: str, before: Entry | None, after: Entry
) -> None:
    shown = None if before is None else actions.snapshot(before)
    change = Change(operation, Kind.ENTRY, after.id, after.code, shown, actions.snapshot(after))
    actions.log(db, repo, act, change)
    topics.note(db, repo, (topics.MEMORIES,), f"memory://{after.id}", now=act.now)
