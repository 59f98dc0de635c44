"""Searching entries: filters, the window, the places one may see, what fits where one works."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.store.json_column import decode_list
from memrpc.workspace import asking, entries, graph, indexing, inline, scope, searching, windows
from memrpc.workspace.entry_filters import (
    BORN,
    COUNT,
    INLINE_KEYS,
    OF_ALL,
    EntryQuestion,
    View,
    bare,
    homes,
    read,
    selected,
)
from memrpc.workspace.graph import Subgraph
from memrpc.workspace.indexing import GLOBAL
from memrpc.workspace.inline import Inline
from memrpc.workspace.model import Entry, EntryStatus, Kind
from memrpc.workspace.naming import number_of
from memrpc.workspace.searching import NO_AIDS, Aids, Mark, Place

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.entries import Standing
    from memrpc.workspace.model import Repo
    from memrpc.workspace.windows import Window

MAX_OTHER_REPOS: Final = 20
_ELSEWHERE: Final = """
SELECT (SELECT count(*) FROM entries WHERE is_global = 1 AND status = 'active' AND +repo = :repo)
+ (SELECT count(*) FROM entries
  WHERE status = 'active' AND expires_at <= :now AND is_global = 0 AND +repo = :repo)
"""
"""Of a repository's active entries those that are listed for all, or whose time is over."""
_AFFINITY: Final = 0.3
_TRUSTED: Final = 0.2
_DOUBTED: Final = -0.3
_ARCHIVE: Final = -0.4
_MONTH_US: Final = 30 * 86_400_000_000

_OTHERS: Final = """
SELECT entries.repo, entries.entry FROM entry_tags JOIN entries ON entries.entry = entry_tags.entry
WHERE entry_tags.tag IN (SELECT value FROM json_each(:tags)) AND entries.repo <> :repo
AND entries.status = 'active' AND entries.is_global = 0
"""


class EntryHit(NamedTuple):
    """An entry that matched."""

    entry: Entry
    mark: Mark | None


class EntryAnswer(NamedTuple):
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
    view = View(repo, question, asked, window, now)
    if not text:
        return _newest(db, view)
    wanted = asking.kinds(text)
    if wanted is not None and (wanted or window is not None):
        types = question.types or (() if asked.groups("type") else wanted)
        listed = _newest(db, view._replace(question=question._replace(types=types)))
        if listed.total or window is not None:
            return listed
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


def _places(db: apsw.Connection, view: View) -> list[Place]:
    """Return where to look: this repository, what is global, and what the tags in use open."""
    places: list[Place] = []
    is_filtered = view.is_filtered()
    for home, status in homes(view):
        key = GLOBAL if home is OF_ALL else view.repo.key
        if key or home is OF_ALL:
            number = indexing.scope_of(key, archived=status is EntryStatus.ARCHIVED)
            within = selected(db, view, (home, status)) if is_filtered else None
            places.append(Place(number, within))
    return [*places, *_others(db, view)]


def _others(db: apsw.Connection, view: View) -> list[Place]:
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


def _priors(db: apsw.Connection, view: View, keys: Collection[int]) -> dict[int, float]:
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


class _Workplace(NamedTuple):
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
            path=bare(question.current_path) or "",
            folder=bare(question.folder),
            language=None if question.language is None else question.language.casefold(),
            tags=frozenset(tag.casefold() for tag in question.current_tags),
        )

    def fits(self, entry: Standing) -> int:
        """Count the ways in which an entry belongs there."""
        fit = self.branch is not None and self.branch == entry.branch
        return fit + self._is_near(entry.folder) + self._shares_tags(entry.tags)

    def _is_near(self, folder: str | None) -> bool:
        here = bare(folder) if self.path or self.folder else None
        return bool(here) and (self.path.startswith(f"{here}/") or self.folder == here)

    def _shares_tags(self, column: str) -> int:
        if self.language is None and not self.tags:
            return 0
        tags = {tag.casefold() for tag in decode_list(column)}
        return (self.language in tags) + (not self.tags.isdisjoint(tags))


def _newest(db: apsw.Connection, view: View) -> EntryAnswer:
    """Answer without words: a page of what passes the filters, newest first."""
    question = view.question
    end = question.offset + question.limit
    total = _total(db, view)
    born: list[Any] = [
        row for home in homes(view) for row in read(db, view, BORN, home, end).fetchall()
    ]
    keys = [key for _, key in sorted(born, reverse=True)[question.offset : end]]
    known = entries.by_keys(db, keys)
    if not total:
        return _empty(db, view, "", searching.OUTSIDE_FILTERS)
    return _page(db, view, [EntryHit(known[key], None) for key in keys], total, explains=True)


def _total(db: apsw.Connection, view: View) -> int:
    """Count what passes the filters; what only has to be active is counted already."""
    if view.is_filtered() or view.question.include_archived:
        return sum(read(db, view, COUNT, home).get for home in homes(view))
    tallies = entries.tallies(db, view.repo).items()
    own = sum(count for (status, _), count in tallies if status is EntryStatus.ACTIVE)
    elsewhere: int = db.execute(_ELSEWHERE, {"repo": view.repo.key, "now": view.now}).get
    others: int = read(db, view, COUNT, (OF_ALL, EntryStatus.ACTIVE)).get
    return own - elsewhere + others


def _page(
    db: apsw.Connection, view: View, hits: list[EntryHit], total: int, *, explains: bool
) -> EntryAnswer:
    keys = [hit.entry.key for hit in hits] if explains else []
    around = graph.around(db, Kind.ENTRY, keys) if keys else Subgraph()
    return EntryAnswer(tuple(hits), total, view.window, around)


def _empty(db: apsw.Connection, view: View, text: str, reason: str | None) -> EntryAnswer:
    """Say why nothing was found: an empty scope, the filters, or that nothing is known."""
    if not entries.tallies(db, view.repo):
        reason = searching.SCOPE_EMPTY
    elif text and view.is_filtered() and _would_match(db, view, text):
        is_window = view.window is not None and len(view.conditions()) == 1
        reason = searching.OUTSIDE_WINDOW if is_window else searching.OUTSIDE_FILTERS
    near = tuple(scope.near(db, view.repo))
    return EntryAnswer((), 0, view.window, Subgraph(), reason, near)


def _would_match(db: apsw.Connection, view: View, text: str) -> bool:
    unfiltered = view._replace(
        asked=Inline(text, {}),
        window=None,
        question=view.question._replace(types=(), tags=()),
    )
    places = _places(db, unfiltered)
    found = searching.ranked(
        db, text, Kind.ENTRY, places, lambda keys: _priors(db, unfiltered, keys)
    )
    return bool(found.subjects)
