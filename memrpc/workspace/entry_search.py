"""Searching entries: filters, the window, the places one may see, what fits where one works."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from memrpc.store.json_column import decode_list
from memrpc.store.where import compose
from memrpc.workspace import entries, graph, indexing, inline, scope, searching, windows
from memrpc.workspace.graph import Subgraph
from memrpc.workspace.indexing import GLOBAL
from memrpc.workspace.inline import Inline
from memrpc.workspace.model import Entry, EntryStatus, EntryType, Kind
from memrpc.workspace.naming import number_of
from memrpc.workspace.searching import NO_AIDS, Aids, Mark, Place

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.entries import Standing
    from memrpc.workspace.model import Repo
    from memrpc.workspace.windows import Window

INLINE_KEYS: Final = frozenset(
    {"tag", "language", "branch", "folder", "path", "type", "entity", "owner", "repo"}
)
MAX_OTHER_REPOS: Final = 20
_AFFINITY: Final = 0.3
_TRUSTED: Final = 0.2
_DOUBTED: Final = -0.3
_ARCHIVE: Final = -0.4
_MONTH_US: Final = 30 * 86_400_000_000

_SELECT: Final = "SELECT entry FROM entries"
_OF_REPO: Final = "repo = :repo AND status = :status AND is_global = 0"
_OF_ALL: Final = "is_global = 1 AND status = :status"
_CREATED: Final = "created_at >= :since AND created_at < :until"
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
_NEWEST: Final = "ORDER BY created_at DESC LIMIT 1000"
_OTHERS: Final = """
SELECT entries.repo, entries.entry FROM entry_tags JOIN entries ON entries.entry = entry_tags.entry
WHERE entry_tags.tag IN (SELECT value FROM json_each(:tags)) AND entries.repo <> :repo
AND entries.status = 'active' AND entries.is_global = 0
"""
_FOREVER: Final = 1 << 62


@dataclass(frozen=True, slots=True)
class EntryQuestion:
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


@dataclass(frozen=True, slots=True)
class EntryHit:
    """An entry that matched."""

    entry: Entry
    mark: Mark | None


@dataclass(frozen=True, slots=True)
class EntryAnswer:
    """A page of hits, best first, with what was searched; a reason and near names when empty."""

    hits: tuple[EntryHit, ...]
    total: int
    window: Window | None
    graph: Subgraph
    reason: str | None = None
    near: tuple[str, ...] = ()


def search(
    db: apsw.Connection,
    repo: Repo,
    question: EntryQuestion,
    *,
    now: int,
    aids: Aids = NO_AIDS,
    explains: bool = True,
) -> EntryAnswer:
    """Find entries that answer the question; without words the newest that pass its filters.

    Unless it ``explains``, hits are not marked and nothing around them is shown.
    """
    asked = inline.parse(question.query, INLINE_KEYS)
    text, window = windows.extract(asked.text, now)
    view = _View(repo, question, asked, window, now)
    if not text:
        found = _newest(db, view)
        return _answer(db, view, [EntryHit(entry, None) for entry in found], question, None)
    result = searching.ranked(
        db, text, Kind.ENTRY, _places(db, view), lambda keys: _priors(db, view, keys), aids
    )
    page = result.subjects[question.offset : question.offset + question.limit]
    known = entries.by_keys(db, page)
    marks = searching.marks(db, text, Kind.ENTRY, page) if explains else [None] * len(page)
    hits = [EntryHit(known[key], mark) for key, mark in zip(page, marks, strict=True)]
    if not hits and not result.subjects:
        return _empty(db, view, text, result.reason)
    return _page(db, view, hits, len(result.subjects), explains=explains)


@dataclass(frozen=True, slots=True)
class _View:
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
        return {_CREATED: {"since": since or -_FOREVER, "until": until or _FOREVER}}

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
            (_FOLDER, "folder", _bare(self.asked.one("folder"))),
            (_PATH, "path", _bare(self.asked.one("path"))),
        )
        return {fragment: {key: value} for fragment, key, value in named if value is not None}


def _bare(path: str | None) -> str | None:
    return None if path is None else path.replace("\\", "/").removeprefix("./").rstrip("/")


def _selected(db: apsw.Connection, view: _View, home: str, status: EntryStatus) -> set[int]:
    """Return the entries of a home (a fragment) that pass every filter."""
    conditions = view.conditions()
    values: dict[str, Any] = {"status": str(status)}
    if home == _OF_REPO:
        values["repo"] = view.repo.key
    for bound in conditions.values():
        values |= bound
    statement = compose(_SELECT, [home, *conditions])
    rows: list[Any] = db.execute(statement, values).fetchall()
    return {key for (key,) in rows}


def _statuses(view: _View) -> tuple[EntryStatus, ...]:
    return tuple(EntryStatus) if view.question.include_archived else (EntryStatus.ACTIVE,)


def _places(db: apsw.Connection, view: _View) -> list[Place]:
    """Return where to look: this repository, what is global, and what the tags in use open."""
    places: list[Place] = []
    is_filtered = view.is_filtered()
    for status in _statuses(view):
        for key, home in ((view.repo.key, _OF_REPO), (GLOBAL, _OF_ALL)):
            number = indexing.scope_of(key, archived=status is EntryStatus.ARCHIVED)
            within = _selected(db, view, home, status) if is_filtered else None
            if key or home is _OF_ALL:
                places.append(Place(number, within))
    return [*places, *_others(db, view)]


def _others(db: apsw.Connection, view: _View) -> list[Place]:
    """Return the entries of other repositories that carry one of the tags in use."""
    tags = [number_of(tag) for tag in view.question.current_tags]
    if not tags:
        return []
    values = {"tags": json.dumps(tags), "repo": view.repo.key}
    found: defaultdict[int, set[int]] = defaultdict(set)
    rows: list[Any] = db.execute(_OTHERS, values).fetchall()
    for repo, key in rows:
        found[repo].add(key)
    chosen = sorted(found, key=lambda repo: (-len(found[repo]), repo))[:MAX_OTHER_REPOS]
    return [Place(indexing.scope_of(repo), found[repo]) for repo in chosen]


def _priors(db: apsw.Connection, view: _View, keys: Collection[int]) -> dict[int, float]:
    """Weigh what is known of each entry besides its words; expired ones are left out."""
    workplace = _Workplace.of(view.question)
    found = entries.standings(db, keys, now=view.now)
    return {each.key: _prior(view.now, workplace, each) for each in found}


def _prior(now: int, workplace: _Workplace, entry: Standing) -> float:
    trust = _TRUSTED * (entry.used > 0) + _DOUBTED * (entry.contradictory > entry.used)
    doubt = _DOUBTED / 2 * (entry.irrelevant > entry.used)
    archive = _ARCHIVE * entry.is_archive
    recency = math.exp2(-max(0, now - entry.created_at) / _MONTH_US)
    return trust + doubt + archive + _TRUSTED * recency + _AFFINITY * workplace.fits(entry)


@dataclass(frozen=True, slots=True)
class _Workplace:
    """Where the caller works: its branch, path and folder, and the tags that are in use there."""

    branch: str | None
    path: str
    folder: str | None
    language: str | None
    tags: frozenset[str]

    @classmethod
    def of(cls, question: EntryQuestion) -> _Workplace:
        """Read it from a question."""
        return cls(
            branch=question.branch,
            path=_bare(question.current_path) or "",
            folder=_bare(question.folder),
            language=None if question.language is None else question.language.casefold(),
            tags=frozenset(tag.casefold() for tag in question.current_tags),
        )

    def fits(self, entry: Standing) -> int:
        """Count the ways in which an entry belongs there."""
        fit = self.branch is not None and self.branch == entry.branch
        return fit + self._is_near(entry.folder) + self._shares_tags(entry.tags)

    def _is_near(self, folder: str | None) -> bool:
        here = _bare(folder) if self.path or self.folder else None
        return bool(here) and (self.path.startswith(f"{here}/") or self.folder == here)

    def _shares_tags(self, column: str) -> int:
        if self.language is None and not self.tags:
            return 0
        tags = {tag.casefold() for tag in decode_list(column)}
        return (self.language in tags) + (not self.tags.isdisjoint(tags))


def _newest(db: apsw.Connection, view: _View) -> list[Entry]:
    homes = (_OF_REPO, _OF_ALL)
    keys = {
        k for status in _statuses(view) for home in homes for k in _selected(db, view, home, status)
    }
    found = [each for each in entries.by_keys(db, keys).values() if not each.is_expired(view.now)]
    return sorted(found, key=lambda each: (-each.created_at, -each.key))


def _answer(
    db: apsw.Connection,
    view: _View,
    hits: list[EntryHit],
    question: EntryQuestion,
    reason: str | None,
) -> EntryAnswer:
    page = hits[question.offset : question.offset + question.limit]
    if not hits:
        return _empty(db, view, "", reason or searching.OUTSIDE_FILTERS)
    return _page(db, view, page, len(hits), explains=True)


def _page(
    db: apsw.Connection, view: _View, hits: list[EntryHit], total: int, *, explains: bool
) -> EntryAnswer:
    keys = [hit.entry.key for hit in hits] if explains else []
    around = graph.around(db, Kind.ENTRY, keys) if keys else Subgraph()
    return EntryAnswer(tuple(hits), total, view.window, around)


def _empty(db: apsw.Connection, view: _View, text: str, reason: str | None) -> EntryAnswer:
    """Say why nothing was found: an empty scope, the filters, or that nothing is known."""
    if not entries.tallies(db, view.repo):
        reason = searching.SCOPE_EMPTY
    elif text and view.is_filtered() and _would_match(db, view, text):
        is_window = view.window is not None and len(view.conditions()) == 1
        reason = searching.OUTSIDE_WINDOW if is_window else searching.OUTSIDE_FILTERS
    near = tuple(scope.near(db, view.repo))
    return EntryAnswer((), 0, view.window, Subgraph(), reason, near)


def _would_match(db: apsw.Connection, view: _View, text: str) -> bool:
    bare = replace(
        view,
        asked=Inline(text, {}),
        window=None,
        question=replace(view.question, types=(), tags=()),
    )
    places = _places(db, bare)
    found = searching.ranked(db, text, Kind.ENTRY, places, lambda keys: _priors(db, bare, keys))
    return bool(found.subjects)
