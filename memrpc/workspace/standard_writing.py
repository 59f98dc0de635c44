"""Writing standards: create, update, delete; each in the caller's transaction."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.recall import similarity
from memrpc.store import json_column, lanes
from memrpc.store.errors import Conflict, InvalidArguments
from memrpc.workspace import actions, codes, indexing, rules, scope, standards, topics
from memrpc.workspace.actions import Change
from memrpc.workspace.model import UNKNOWN, Kind, Standard

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.model import Act, Object, Repo

CONFLICT_COSINE: Final = 0.82
DEFAULT_CONTEXT: Final = "general"
DEFAULT_VERSION: Final = "1.0.0"
_SHOWN_CHARS: Final = 500
_NOT_SLUG: Final = re.compile(r"[\W_]+")


class StandardDraft(NamedTuple):
    """What a caller says of a standard; None is what it did not say."""

    name: str | None = None
    content: str | None = None
    parent_id: str | None = None
    context: str | None = None
    version: str | None = None
    language: str | None = None
    stack: tuple[str, ...] | None = None
    is_global: bool | None = None
    tags: tuple[str, ...] | None = None
    metadata: Object | None = None
    model: str | None = None


class StandardUpdated(NamedTuple):
    """A standard after a change, and which fields are new."""

    standard: Standard
    fields: tuple[str, ...]


def create(db: apsw.Connection, repo: Repo, given: StandardDraft, act: Act) -> Standard:
    """Keep a new standard.

    Raises InvalidArguments for what is missing, Conflict when nearly the same rule holds already.
    """
    draft = _checked(given)
    _check_complete(draft)
    parent = _parent(db, repo, None, draft.parent_id)
    standard = _new(draft, repo, parent, codes.take(db, repo, Kind.STANDARD), act)
    _refuse_duplicate(db, repo, standard)
    standard = standard._replace(key=standards.add(db, standard))
    indexing.put_standard(db, standard, is_new=True)
    _log(db, repo, act, "create", None, standard)
    return standard


def update(
    db: apsw.Connection, repo: Repo, handle: str, given: StandardDraft, act: Act
) -> StandardUpdated:
    """Change what ``given`` says; the standard's repository and author stay.

    Raises NotFound, or Conflict when the new content says what another standard says.
    """
    draft = _checked(given)
    before = standards.find(db, repo, handle)
    changes = _changes(db, repo, before, draft)
    if not changes:
        raise InvalidArguments(
            f"nothing to change for {before.code}; send at least one field such as content, name, "
            "tags or version.",
            field="id",
        )
    after = before._replace(**changes, updated_at=act.now)
    if after.content != before.content:
        _refuse_duplicate(db, repo, after)
    standards.save(db, after)
    if indexing.read_of_standard(before) != indexing.read_of_standard(after):
        indexing.put_standard(db, after)
    _log(db, repo, act, "update", before, after)
    named = {"title": "name", "parent": "parent_id"}
    return StandardUpdated(after, tuple(named.get(field, field) for field in changes))


def delete(db: apsw.Connection, repo: Repo, handle: str, act: Act) -> Standard:
    """Delete a standard for good; what extended it stands alone."""
    standard = standards.find(db, repo, handle)
    scope.check_named(db, repo, standard, handle)
    children = standards.children(db, standard)
    indexing.remove(db, Kind.STANDARD, standard.key)
    standards.delete(db, standard)
    for child in standards.by_keys(db, children).values():
        lanes.checkpoint()
        indexing.put_standard(db, child)
    change = Change("delete", Kind.STANDARD, standard.id, standard.code, actions.snapshot(standard))
    actions.log(db, repo, act, change)
    topics.note(db, repo, (topics.STANDARDS,), now=act.now)
    return standard


def slug(text: str) -> str:
    """Return a context as it is compared: lower case, words joined by hyphens."""
    return _NOT_SLUG.sub("-", text.casefold()).strip("-") or DEFAULT_CONTEXT


def _checked(draft: StandardDraft) -> StandardDraft:
    if draft.name is not None:
        rules.check_text(draft.name, "name", rules.ENTRY_TITLE_CHARS)
    if draft.content is not None:
        rules.check_text(draft.content, "content", rules.CONTENT_CHARS)
    if draft.metadata is not None:
        rules.check_object(json_column.encode(draft.metadata), "metadata")
    rules.check_brief(draft, "context", "version", "language", "model")
    tags = None if draft.tags is None else rules.check_list(draft.tags, "tags", rules.TAG_CHARS)
    stack = None if draft.stack is None else rules.check_list(draft.stack, "stack", rules.TAG_CHARS)
    context = None if draft.context is None else slug(draft.context)
    return draft._replace(tags=tags, stack=stack, context=context)


def _check_complete(draft: StandardDraft) -> None:
    missing = [name for name in ("name", "content", "tags", "metadata") if not getattr(draft, name)]
    if missing:
        raise InvalidArguments(
            f"{', '.join(missing)} missing: a new standard needs name, content, at least one tag "
            'and metadata with at least one key, such as {"source": "team"}.',
            field=missing[0],
            missing=missing,
        )


def _new(draft: StandardDraft, repo: Repo, parent: int | None, code: str, act: Act) -> Standard:
    return Standard(
        key=0,
        id=act.new_id(),
        repo=repo.key,
        code=code,
        title=str(draft.name),
        content=str(draft.content),
        parent=parent,
        context=draft.context or DEFAULT_CONTEXT,
        version=draft.version or DEFAULT_VERSION,
        language=draft.language,
        stack=draft.stack or (),
        is_global=bool(draft.is_global),
        tags=draft.tags or (),
        metadata=draft.metadata or {},
        agent=act.agent,
        model=draft.model or UNKNOWN,
        created_at=act.now,
        updated_at=act.now,
    )


def _changes(
    db: apsw.Connection, repo: Repo, before: Standard, draft: StandardDraft
) -> dict[str, Any]:
    """Return the columns that the draft changes, by name."""
    named = {_COLUMNS.get(name, name): getattr(draft, name) for name in _PLAIN}
    changes = {name: value for name, value in named.items() if value is not None}
    if draft.parent_id is not None:
        changes["parent"] = _parent(db, repo, before, draft.parent_id)
    for name in ("tags", "metadata"):
        if name in changes and not changes[name]:
            raise InvalidArguments(f"{name} cannot be emptied; a standard needs it.", field=name)
    return changes


_COLUMNS: Final = {"name": "title"}
_PLAIN: Final = (
    "name",
    "content",
    "context",
    "version",
    "language",
    "stack",
    "is_global",
    "tags",
    "metadata",
    "model",
)


def _parent(
    db: apsw.Connection, repo: Repo, standard: Standard | None, handle: str | None
) -> int | None:
    """Return the key of the standard to extend; refuse a circle."""
    if handle is None or not handle.strip():
        return None
    parent = standards.find(db, repo, handle)
    above: Standard | None = parent
    while above is not None and standard is not None:
        if above.key == standard.key:
            raise InvalidArguments(
                f"parent_id {parent.code} would make {standard.code} extend itself.",
                field="parent_id",
            )
        above = standards.by_keys(db, [above.parent or 0]).get(above.parent or 0)
    return parent.key


def _refuse_duplicate(db: apsw.Connection, repo: Repo, standard: Standard) -> None:
    """Compare the content with that of every standard that the repository can see."""
    homes = (indexing.scope_of(repo.key), indexing.scope_of(indexing.GLOBAL))
    text = standard.content
    found = similarity.alike(db, text, Kind.STANDARD, homes, at_least=CONFLICT_COSINE)
    known = standards.by_keys(db, [key for key, _ in found]) if found else {}
    rivals = (known[key] for key, _ in found if key != standard.key)
    rival = next((each for each in rivals if _are_rivals(standard, each)), None)
    if rival is not None:
        raise _duplicate(rival)


def _are_rivals(one: Standard, other: Standard) -> bool:
    """Say whether two standards speak of the same version, language and stack."""
    if one.version != other.version:
        return False
    if one.language and other.language and one.language.casefold() != other.language.casefold():
        return False
    stacks = [{part.casefold() for part in each.stack} for each in (one, other)]
    return not (stacks[0] and stacks[1] and stacks[0].isdisjoint(stacks[1]))


def _duplicate(standard: Standard) -> Conflict:
    return Conflict(
        f"Rejected due to conflict with [{standard.code}] “{standard.title}”, which says nearly "
        f"the same. Update it (id: {standard.code}), or send another version, language or stack.",
        reason="STANDARD_CONFLICT",
        conflicting_standard={
            "id": standard.id,
            "code": standard.code,
            "title": standard.title,
            "version": standard.version,
            "language": standard.language,
            "stack": list(standard.stack),
            "content": standard.content[:_SHOWN_CHARS],
        },
        instruction=f"Update {standard.code}, or say how the new one differs.",
    )


def _log(
    db: apsw.Connection,
    repo: Repo,
    act: Act,
    operation: str,
    before: Standard | None,
    after: Standard,
) -> None:
    shown = None if before is None else actions.snapshot(before)
    change = Change(operation, Kind.STANDARD, after.id, after.code, shown, actions.snapshot(after))
    actions.log(db, repo, act, change)
    topics.note(db, repo, (topics.STANDARDS,), now=act.now)
