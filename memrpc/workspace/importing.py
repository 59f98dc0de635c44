"""Importing: what an export holds of the workspace, taken over where it is newer than what is here.

Subjects keep their ids and codes.  One that is already here under the same id gives way to a later
version of itself, which the action log shows, and stays as it is otherwise; comments are added to
those that are here.  A code or an id that something else has here is a conflict.  What was redacted
here stays away.  Parents and dependencies are tied, and everything is indexed, when all lines are
in; one that is neither here nor in the lines is left out.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.recall import index
from memrpc.store import transfer
from memrpc.store.errors import Conflict, DomainError, InvalidArguments
from memrpc.store.transfer import BadLine, Importer, Outcome, Reader, Record
from memrpc.workspace import (
    actions,
    codes,
    entries,
    indexing,
    lines,
    rebuilding,
    redacting,
    rules,
    scope,
    standards,
    taking_over,
    task_writing,
    tasks,
    topics,
    upkeep_due,
)
from memrpc.workspace.actions import Change
from memrpc.workspace.model import (
    Comment,
    Entry,
    Kind,
    Standard,
    Task,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

    import apsw

    from memrpc.workspace.model import Act, Repo

    Subject = Entry | Task | Standard

_BY_ID: Final = {
    Kind.ENTRY: "SELECT entry FROM entries WHERE id = :id",
    Kind.TASK: "SELECT task FROM tasks WHERE id = :id",
    Kind.STANDARD: "SELECT standard FROM standards WHERE id = :id",
}
_BY_CODE: Final = {
    Kind.ENTRY: "SELECT id FROM entries WHERE repo = :repo AND code = :code",
    Kind.TASK: "SELECT id FROM tasks WHERE repo = :repo AND code = :code",
    Kind.STANDARD: "SELECT id FROM standards WHERE repo = :repo AND code = :code",
}
_COMMENTED: Final = "SELECT task FROM comments WHERE id = :id"
_EXTENDS: Final = """
WITH RECURSIVE above (standard) AS (
  SELECT :start
  UNION
  SELECT standards.parent FROM above JOIN standards ON standards.standard = above.standard
  WHERE standards.parent IS NOT NULL
)
SELECT 1 FROM above WHERE standard = :sought
"""


class _Shelf(NamedTuple):
    """Where the subjects of a kind stand."""

    kind: Kind
    form: Callable[..., Subject]
    rows: ModuleType
    topic: str
    uri: str | None
    refs: tuple[str, ...] = ()


class Tie(NamedTuple):
    """A subject that was written or may have loose ends, and by field the ids that it names."""

    shelf: _Shelf
    key: int
    others: dict[str, str]
    is_changed: bool = True


_SHELVES: Final = (
    _Shelf(Kind.ENTRY, Entry, entries, topics.MEMORIES, "memory"),
    _Shelf(Kind.TASK, Task, tasks, topics.TASKS, "task", ("parent", "depends_on")),
    _Shelf(Kind.STANDARD, Standard, standards, topics.STANDARDS, None, ("parent",)),
)


def reader(act: Act) -> Reader:
    """Return what reads the workspace's lines, on behalf of ``act``."""
    subjects: dict[str, Importer] = {
        shelf.kind: partial(_import_subject, act, shelf) for shelf in _SHELVES
    }
    return Reader(
        {
            "repository": partial(_import_repository, act),
            Kind.SUMMARY: partial(taking_over.import_summary, act),
            **subjects,
            Kind.HANDOFF: partial(taking_over.import_handoff, act),
            Kind.CLAIM: partial(taking_over.import_claim, act),
        },
        _finish,
        _settle,
    )


def _import_repository(
    act: Act, db: apsw.Connection, record: Record
) -> tuple[Outcome, Sequence[Tie]]:
    is_known = scope.find(db, transfer.text(record, "owner"), transfer.text(record, "repo")).key
    repo = taking_over.repo_of(db, record, act)
    for kind, prefix in codes.PREFIXES.items():
        codes.reserve(db, repo, kind, f"{prefix}-{int(record['codes'][str(kind)])}")
    upkeep_due.owe(db, now=act.now)
    return Outcome.KNOWN if is_known else Outcome.IMPORTED, ()


def _import_subject(
    act: Act, shelf: _Shelf, db: apsw.Connection, record: Record
) -> tuple[Outcome, Sequence[Tie]]:
    if redacting.is_redacted(db, transfer.text(record, "id")):
        return Outcome.FORGOTTEN, ()
    repo = taking_over.repo_of(db, record, act)
    found: Subject = lines.read(shelf.form, record, key=0, repo=repo.key)
    others = {name: transfer.text(record, name) for name in shelf.refs if record[name] is not None}
    before = _find(db, shelf, found.id)
    if before is None:
        key = _add(db, shelf, repo, found)
    else:
        _check_same(shelf, before, found)
        key = before.key
    is_newer = before is None or found.updated_at > before.updated_at
    if before is not None and is_newer:
        shelf.rows.save(db, found._replace(key=key))
    has_remarks = shelf.kind is Kind.TASK and _import_comments(db, key, record)
    if before is not None and not (is_newer or has_remarks):
        return Outcome.KNOWN, _loose_ends(shelf, before, found, others)
    _note(db, repo, act, shelf, before, found if is_newer or before is None else before)
    return Outcome.IMPORTED, (Tie(shelf, key, others if is_newer else {}),)


def _loose_ends(
    shelf: _Shelf, before: Subject, found: Subject, others: dict[str, str]
) -> Sequence[Tie]:
    """What an import that was stopped half-way may have left to tie."""
    if before.updated_at != found.updated_at:
        return ()
    loose = {name: id_ for name, id_ in others.items() if getattr(before, name) is None}
    names_others = bool(loose or getattr(found, "supersedes", None) or found.metadata)
    return (Tie(shelf, before.key, loose, is_changed=False),) if names_others else ()


def _find(db: apsw.Connection, shelf: _Shelf, subject_id: str) -> Subject | None:
    key: int | None = db.execute(_BY_ID[shelf.kind], {"id": subject_id}).get
    subject: Subject | None = None if key is None else shelf.rows.by_keys(db, [key])[key]
    return subject


def _add(db: apsw.Connection, shelf: _Shelf, repo: Repo, found: Subject) -> int:
    code = rules.check_code(found.code)
    holder: str | None = db.execute(_BY_CODE[shelf.kind], {"repo": repo.key, "code": code}).get
    if holder is not None:
        raise Conflict(
            f"code {code} is taken in {scope.full_name(repo)} by another {shelf.kind}, {holder}."
        )
    codes.reserve(db, repo, shelf.kind, code)
    key: int = shelf.rows.add(db, found)
    return key


def _check_same(shelf: _Shelf, before: Subject, found: Subject) -> None:
    if (before.repo, before.code) != (found.repo, found.code):
        raise Conflict(
            f"id {found.id} is taken here by another {shelf.kind}: {before.code}, or of another "
            "repository."
        )


def _import_comments(db: apsw.Connection, task: int, record: Record) -> bool:
    """Add the comments that are not here, and say whether there were any."""
    remarks = [lines.read(Comment, each) for each in record["comments"]]
    homes = {each.id: db.execute(_COMMENTED, {"id": each.id}).get for each in remarks}
    if set(homes.values()) - {None, task}:
        raise Conflict("a comment's id is taken here by a comment on another task.")
    owner = tasks.by_keys(db, [task])[task]
    new = [remark for remark in remarks if homes[remark.id] is None]
    for remark in new:
        tasks.add_comment(db, owner, remark)
    return bool(new)


def _note(
    db: apsw.Connection, repo: Repo, act: Act, shelf: _Shelf, before: Subject | None, after: Subject
) -> None:
    shown = None if before is None else actions.snapshot(before)
    change = Change("import", shelf.kind, after.id, after.code, shown, actions.snapshot(after))
    actions.log(db, repo, act, change)
    uris = () if shelf.uri is None else (f"{shelf.uri}://{after.id}",)
    scope.touch(db, repo, now=act.now)
    topics.note(db, repo, (shelf.topic,), *uris, now=act.now)


def _settle(db: apsw.Connection, ties: Sequence[tuple[int, Tie]]) -> None:
    """Tie the portion to what is here already, and index it."""
    for _, tie in ties:
        with suppress(DomainError):  # The end tells of it.
            _join(db, tie)
    for _, tie in ties:
        if tie.is_changed:
            _index(db, tie)


def _finish(db: apsw.Connection, ties: Sequence[tuple[int, Tie]]) -> list[BadLine]:
    """Tie what names others, wherever they stood; a circle is refused at a line of it."""
    bad: list[BadLine] = []
    for number, tie in ties:
        try:
            _join(db, tie)
        except DomainError as error:
            bad.append(BadLine(number, error.message))
    for _, tie in ties:
        _link(db, tie)
    return bad


def _join(db: apsw.Connection, tie: Tie) -> None:
    for name, other_id in tie.others.items():
        other, subject = _find(db, tie.shelf, other_id), _subject(db, tie)
        if other is None or subject is None or not _is_seen(subject, other):
            continue
        if getattr(subject, name) == other.key:
            continue
        if _is_circle(db, tie, name, other.key):
            raise InvalidArguments(f"{name} makes a circle: {other.code} leads back here.")
        tied: dict[str, Any] = {name: other.key}
        tie.shelf.rows.save(db, subject._replace(**tied))


def _is_seen(subject: Subject, other: Subject) -> bool:
    """Say whether one may name the other: nothing points out of its repository unless to all's."""
    return other.repo == subject.repo or getattr(other, "is_global", False)


def _is_circle(db: apsw.Connection, tie: Tie, name: str, other: int) -> bool:
    """Say whether the tie would lead back to where it begins."""
    if tie.shelf.kind is Kind.STANDARD:
        return db.execute(_EXTENDS, {"start": other, "sought": tie.key}).get is not None
    return tasks.waits_for(db, *((tie.key, other) if name == "parent" else (other, tie.key)))


def _index(db: apsw.Connection, tie: Tie) -> None:
    match _subject(db, tie):
        case Entry() as entry:
            index.put(db, indexing.entry_document(entry))
        case Task() as task:
            index.put(db, indexing.task_document(task, tasks.comments(db, task)))
        case Standard() as standard:
            index.put(db, indexing.standard_document(standard))
    _link(db, tie)


def _link(db: apsw.Connection, tie: Tie) -> None:
    """Make the subject's part of the graph, unless somebody has deleted it meanwhile."""
    match _subject(db, tie):
        case Entry() as entry:
            indexing.link_entry(db, entry, rebuilding.entry_links(db, entry))
        case Task() as task:
            decisions = task_writing.decisions_of(db, scope.by_key(db, task.repo), task)
            indexing.link_task(db, task, decisions)
        case Standard() as standard:
            indexing.link_standard(db, standard)


def _subject(db: apsw.Connection, tie: Tie) -> Subject | None:
    subject: Subject | None = tie.shelf.rows.by_keys(db, [tie.key]).get(tie.key)
    return subject
