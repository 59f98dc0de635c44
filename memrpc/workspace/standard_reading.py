"""Reading standards: the list of those that hold, search, and one in full."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from memrpc.recall.query import parse as parse_query
from memrpc.store.errors import NotFound
from memrpc.workspace import asking, graph, indexing, inline, scope, searching, standards
from memrpc.workspace.graph import Subgraph
from memrpc.workspace.handles import resolve
from memrpc.workspace.model import Kind, Standard
from memrpc.workspace.scope import fold
from memrpc.workspace.searching import NO_AIDS, Aids, Mark, Place
from memrpc.workspace.standard_writing import slug

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.inline import Inline
    from memrpc.workspace.model import Repo

INLINE_KEYS: Final = frozenset(
    {"language", "stack", "tag", "context", "version", "is_global", "owner", "repo"}
)
_TRUE: Final = frozenset({"true", "1", "yes"})


class StandardFilter(NamedTuple):
    """Which standards are meant: all of ``stack`` and of ``tags``, each a group of alternatives."""

    stack: tuple[tuple[str, ...], ...] = ()
    tags: tuple[tuple[str, ...], ...] = ()
    language: str | None = None
    context: str | None = None
    version: str | None = None
    is_global: bool | None = None
    limit: int = 20
    offset: int = 0

    def joined(self, asked: Inline) -> StandardFilter:
        """Return the filter with the question's inline tags; its scalars win."""
        is_global = asked.one("is_global")
        return self._replace(
            stack=(*self.stack, *asked.groups("stack")),
            tags=(*self.tags, *asked.groups("tag")),
            language=asked.one("language") or self.language,
            context=asked.one("context") or self.context,
            version=asked.one("version") or self.version,
            is_global=self.is_global if is_global is None else is_global.casefold() in _TRUE,
        )

    def is_open(self) -> bool:
        """Say whether everything passes."""
        bare = StandardFilter(limit=self.limit, offset=self.offset)
        return self == bare

    def holds(self, standard: Standard) -> bool:
        """Say whether a standard is meant."""
        return (
            _has_all(standard.stack, self.stack)
            and _has_all(standard.tags, self.tags)
            and _is(standard.language, self.language)
            and (self.context is None or standard.context == slug(self.context))
            and _is(standard.version, self.version)
            and self.is_global in (None, standard.is_global)
        )


class StandardHit(NamedTuple):
    """A standard of a list, with how sure it is an answer and which words it holds."""

    standard: Standard
    mark: Mark | None = None
    terms: tuple[str, ...] = ()


class StandardList(NamedTuple):
    """A page of standards; a reason and near names when there are none."""

    hits: tuple[StandardHit, ...]
    total: int
    graph: Subgraph
    reason: str | None = None
    near: tuple[str, ...] = ()


def listing(db: apsw.Connection, repo: Repo, chosen: StandardFilter) -> StandardList:
    """List the standards that hold in the repository, newest first."""
    if chosen.is_open():
        page, total = standards.page(db, repo, limit=chosen.limit, offset=chosen.offset)
    else:
        found = [each for each in standards.seen(db, repo) if chosen.holds(each)]
        page, total = found[chosen.offset : chosen.offset + chosen.limit], len(found)
    if not total:
        return _nothing(db, repo, searching.OUTSIDE_FILTERS)
    around = graph.around(db, Kind.STANDARD, [each.key for each in page])
    return StandardList(tuple(map(StandardHit, page)), total, around)


def search(
    db: apsw.Connection,
    repo: Repo,
    query: str,
    chosen: StandardFilter,
    aids: Aids = NO_AIDS,
) -> StandardList:
    """Find standards that answer a question; without words those that pass the filters."""
    asked = inline.parse(query, INLINE_KEYS)
    chosen = chosen.joined(asked)
    if not asked.text:
        return listing(db, repo, chosen)
    homes = [repo.key] * bool(repo.key) + [indexing.GLOBAL]
    places = [Place(indexing.scope_of(home)) for home in homes]

    def priors(keys: Collection[int]) -> dict[int, float]:
        known = standards.by_keys(db, keys).values()
        return {each.key: 0.0 for each in known if chosen.holds(each)}

    if not chosen.is_open():
        within = [each.key for each in standards.seen(db, repo) if chosen.holds(each)]
        places = [place._replace(within=within) for place in places]
    result = searching.ranked(db, asked.text, Kind.STANDARD, places, priors, aids)
    page = result.subjects[chosen.offset : chosen.offset + chosen.limit]
    known = standards.by_keys(db, page)
    marks = searching.marks(db, asked.text, Kind.STANDARD, page)
    hits = tuple(
        StandardHit(known[key], mark, _terms(asked.text, known[key]))
        for key, mark in zip(page, marks, strict=True)
    )
    if not result.subjects and asking.is_for_all_standards(asked.text):
        return listing(db, repo, chosen)
    if not result.subjects:
        return _nothing(db, repo, result.reason)
    around = graph.around(db, Kind.STANDARD, page)
    return StandardList(hits, len(result.subjects), around)


def details(
    db: apsw.Connection, repo: Repo, handles: Sequence[str]
) -> tuple[list[Standard], list[str], Subgraph]:
    """Return the standards that these ids and codes name, in their order, and what names none.

    Raises NotFound when none is there.
    """
    found, missing = resolve(handles, lambda handle: standards.find(db, repo, handle))
    if not found:
        raise NotFound(
            f"No standards found for {', '.join(handles)} in {scope.full_name(repo)}.",
            ids=list(handles),
        )
    around = graph.around(db, Kind.STANDARD, [standard.key for standard in found])
    return found, missing, around


def _nothing(db: apsw.Connection, repo: Repo, reason: str | None) -> StandardList:
    if not standards.seen(db, repo):
        reason = searching.SCOPE_EMPTY
    return StandardList((), 0, Subgraph(), reason, tuple(scope.near(db, repo)))


def _terms(query: str, standard: Standard) -> tuple[str, ...]:
    """Return the words of the question that stand in the standard as they are."""
    text = fold(f"{standard.title} {standard.content} {' '.join(standard.tags)}")
    words = (word for term in parse_query(query).content for word in term.spellings[-1])
    return tuple(dict.fromkeys(word for word in words if word in text))


def _has_all(values: Collection[str], groups: tuple[tuple[str, ...], ...]) -> bool:
    held = {fold(value) for value in values}
    return all(any(fold(wanted) in held for wanted in group) for group in groups)


def _is(value: str | None, wanted: str | None) -> bool:
    return wanted is None or (value is not None and fold(value) == fold(wanted))
