"""Filters of entries: what a question restricts, as fragments of SQL, before anything is ranked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from memrpc.store.where import compose
from memrpc.workspace.inline import Inline
from memrpc.workspace.model import EntryStatus, EntryType
from memrpc.workspace.naming import number_of

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.model import Repo
    from memrpc.workspace.windows import Window

INLINE_KEYS: Final = frozenset(
    {"tag", "language", "branch", "folder", "path", "type", "entity", "owner", "repo"}
)
SELECT: Final = "SELECT entry FROM entries"
BORN: Final = "SELECT created_at, entry FROM entries"
COUNT: Final = "SELECT count(*) FROM entries"
FRESH: Final = "expires_at IS NULL OR expires_at > :now"
OF_REPO: Final = "repo = :repo AND status = :status AND is_global = 0"
OF_ALL: Final = "is_global = 1 AND status = :status"
CREATED: Final = "created_at >= :since AND created_at < :until"
_TYPE: Final = "type IN (SELECT value FROM json_each(:types))"
_LANGUAGE: Final = "language = :language COLLATE NOCASE"
_BRANCH: Final = "branch = :branch"
_FOLDER: Final = "folder = :folder OR substr(folder, 1, length(:folder) + 1) = :folder || '/'"
_PATH: Final = "folder = :path OR substr(:path, 1, length(folder) + 1) = folder || '/'"
_TAG: Final = """
entry IN (SELECT entry FROM entry_tags WHERE tag IN (SELECT value FROM json_each(:tags)))"""
_MORE_TAGS: Final = """
NOT EXISTS (SELECT 1 FROM json_each(:tag_groups) AS wanted WHERE NOT EXISTS (
  SELECT 1 FROM entry_tags JOIN json_each(wanted.value) AS one ON one.value = entry_tags.tag
  WHERE entry_tags.entry = entries.entry))"""
_NAMED: Final = """
entry IN (SELECT mentions.subject FROM entities JOIN mentions ON mentions.entity = entities.entity
  WHERE entities.key = :name AND mentions.kind = 'entry')"""
NEWEST: Final = "ORDER BY created_at DESC, entry DESC LIMIT :limit"
_FOREVER: Final = 1 << 62

Home: TypeAlias = tuple[str, EntryStatus]
"""A fragment that says whose entries, and their status."""


class EntryQuestion(NamedTuple):
    """What memory-read takes for a search."""

    query: str
    current_tags: tuple[str, ...] = ()
    current_path: str | None = None
    branch: str | None = None
    folder: str | None = None
    language: str | None = None
    types: tuple[EntryType, ...] = ()
    tags: tuple[str, ...] = ()
    include_archived: bool = False
    limit: int = 5
    offset: int = 0


class View(NamedTuple):
    """A question as it was understood."""

    repo: Repo
    question: EntryQuestion
    asked: Inline
    window: Window | None
    now: int

    def is_filtered(self) -> bool:
        """Say whether anything but words restricts the hits."""
        return bool(self.conditions())

    def conditions(self) -> dict[str, dict[str, Any]]:
        """Return the fragments that apply, each with the values that it binds."""
        chosen = {**self._of_window(), **self._of_tags(), **self._of_place()}
        types = [kind for group in self.asked.groups("type") for kind in group]
        if types or self.question.types:
            chosen[_TYPE] = {"types": json.dumps([*types, *self.question.types])}
        name = self.asked.one("entity")
        if name is not None:
            chosen[_NAMED] = {"name": number_of(name)}
        return chosen

    def _of_window(self) -> dict[str, dict[str, Any]]:
        if self.window is None:
            return {}
        since, until = self.window.since, self.window.until
        return {CREATED: {"since": since or -_FOREVER, "until": until or _FOREVER}}

    def _of_tags(self) -> dict[str, dict[str, Any]]:
        wanted = (*self.asked.groups("tag"), *((tag,) for tag in self.question.tags))
        groups = [[number_of(tag) for tag in group] for group in wanted]
        if not groups:
            return {}
        first = {_TAG: {"tags": json.dumps(groups[0])}}
        return (
            first if len(groups) == 1 else {**first, _MORE_TAGS: {"tag_groups": json.dumps(groups)}}
        )

    def _of_place(self) -> dict[str, dict[str, Any]]:
        named = (
            (_LANGUAGE, "language", self.asked.one("language")),
            (_BRANCH, "branch", self.asked.one("branch")),
            (_FOLDER, "folder", bare(self.asked.one("folder"))),
            (_PATH, "path", bare(self.asked.one("path"))),
        )
        return {fragment: {key: value} for fragment, key, value in named if value is not None}


def bare(path: str | None) -> str | None:
    """Return a path as folders are kept."""
    return None if path is None else path.replace("\\", "/").removeprefix("./").rstrip("/")


def homes(view: View) -> list[Home]:
    """List where entries are that a question may be about: here, and what is for all."""
    statuses = EntryStatus if view.question.include_archived else (EntryStatus.ACTIVE,)
    return [(home, status) for status in statuses for home in (OF_REPO, OF_ALL)]


def selected(db: apsw.Connection, view: View, home: Home) -> set[int]:
    """Return the entries of a home that pass every filter."""
    rows: list[Any] = read(db, view, SELECT, home).fetchall()
    return {key for (key,) in rows}


def read(
    db: apsw.Connection, view: View, columns: str, home: Home, limit: int | None = None
) -> apsw.Cursor:
    """Read columns of what passes the filters in one home, the newest first if not all."""
    fragment, status = home
    conditions = view.conditions()
    values: dict[str, Any] = {"status": str(status), "now": view.now, "repo": view.repo.key}
    for bound in conditions.values():
        values |= bound
    order = "" if limit is None else NEWEST
    statement = compose(columns, [fragment, *conditions, FRESH], order)
    named = {**values, "limit": limit}
    return db.execute(statement, {n: v for n, v in named.items() if f":{n}" in statement})
