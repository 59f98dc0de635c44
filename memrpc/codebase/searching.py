"""Searching symbols: exact, prefix, parts of the name, substring, misspelt, and what comments say.

These ways are asked in one statement and each symbol keeps its best one, so a hit in a comment
never hides a name.  When no name matches, it may be a file's or a folder's, or a misspelt one, or
else a question in plain words (``questions``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, LiteralString, NamedTuple

from memrpc.codebase import filters, questions, words
from memrpc.codebase.answers import Found, SearchAnswer
from memrpc.codebase.candidates import TraceRequest, candidates, split_owner
from memrpc.store import json_column
from memrpc.store.errors import InvalidArguments
from memrpc.store.where import compose

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

MAX_QUERY_CHARS: Final = 1_000
MIN_GRAM: Final = 3
MAX_FUZZY: Final = 60
NEAR_NAMES: Final = 5
SHORT_NAME: Final = 6
"""Up to this length one slip is allowed, two in longer names."""
_LAST_NAME_TIER: Final = 4
_MISSPELT: Final = 5
_FILES: Final = 7
_WORDS: Final = 8
_HIGHEST: Final = "\U0010ffff"
_TAG: Final = re.compile(r"(?:^|\s)(kind|file|path|language|lang):(?!:)(\S+)")
_WAYS: Final = {
    1: ("exact", 1.0),
    2: ("prefix", 0.85),
    3: ("parts", 0.75),
    4: ("substring", 0.6),
    _MISSPELT: ("misspelt", 0.4),
    6: ("doc", 0.3),
    _FILES: ("path", 0.25),
    _WORDS: ("words", 0.2),
}

_EXACT: Final = "SELECT id, 1 AS tier, 0 AS rank FROM code_symbols WHERE name = :q COLLATE NOCASE"
_PREFIX: Final = """
SELECT id, 2, 0 FROM code_symbols
WHERE name >= :q COLLATE NOCASE AND name < :q_end COLLATE NOCASE
"""
_PARTS: Final = "SELECT rowid, 3, 0 FROM code_words WHERE code_words MATCH :parts"
_SUBSTRING: Final = """
SELECT s.id, 4, 0 FROM code_symbols AS s
WHERE s.id IN (SELECT rowid FROM code_grams WHERE code_grams MATCH :grams)
  AND instr(lower(s.name), lower(:q)) > 1
"""
_TEXTS: Final = "SELECT rowid, 6, 1e9 FROM code_words WHERE code_words MATCH :texts"
_IN_FILES: Final = """
SELECT s.id, :given, 0 FROM code_files AS f
JOIN code_symbols AS s ON s.id BETWEEN f.id << 18 AND (f.id << 18) + 262143
WHERE f.repository IN (SELECT value FROM json_each(:repositories)) AND f.state = 'live'
  AND instr('/' || lower(f.path), '/' || lower(:q)) > 0
"""
_GIVEN: Final = "SELECT value, :given, key FROM json_each(:ids)"
_SELECT: Final = """)
SELECT s.id, s.name, s.kind, f.path, s.name_line, s.end_line, s.signature, s.exported, min(h.tier),
  s.owner, p.owner || '/' || p.name,
  count(*) OVER (), min(min(h.tier)) OVER (), max(min(h.tier)) OVER ()
FROM hits AS h JOIN code_symbols AS s ON s.id = h.id JOIN code_files AS f ON f.id = s.id >> 18
JOIN code_repositories AS p ON p.id = f.repository
"""
_TAIL: Final = """
GROUP BY s.id
ORDER BY min(h.tier), s.name <> :q, count(*) DESC, min(h.rank), s.exported DESC,
  length(f.path) - length(replace(f.path, '/', '')), f.path, s.id
LIMIT :limit OFFSET :offset
"""
_HERE: Final = (
    "f.repository IN (SELECT value FROM json_each(:repositories))",
    "f.state = 'live'",
)
_KIND: Final = "s.kind IN (SELECT value FROM json_each(:kinds))"
_EXPORTED: Final = "s.exported"
_LANGUAGE: Final = "f.language = :language"
_PATH: Final = """(f.path = :path OR f.path LIKE '%/' || :path_like ESCAPE '\\'
  OR f.path LIKE :path_like || '/%' ESCAPE '\\')"""
_SPELT_ALIKE: Final = """
SELECT s.id, s.name FROM code_grams AS g JOIN code_symbols AS s ON s.id = g.rowid
JOIN code_files AS f ON f.id = s.id >> 18
WHERE code_grams MATCH :grams AND f.state = 'live'
  AND f.repository IN (SELECT value FROM json_each(:repositories))
ORDER BY g.rank LIMIT :limit
"""


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What to look for, and among which symbols."""

    query: str
    repositories: tuple[int, ...]
    kinds: tuple[str, ...] = ()
    language: str | None = None
    path: str | None = None
    exported_only: bool = False
    shows_repo: bool = False
    limit: int = 50
    offset: int = 0


def with_tags(request: SearchRequest) -> SearchRequest:
    """The request with ``kind:function`` and the like taken out of its query as filters.

    Raises InvalidArguments.
    """
    tags = _TAG.findall(request.query)
    if not tags:
        return request
    named = {name.replace("path", "file").replace("language", "lang"): v for name, v in tags}
    kinds = tuple(value for name, value in tags if name == "kind")
    return replace(
        request,
        query=_TAG.sub(" ", request.query).strip(),
        kinds=request.kinds or filters.kinds(kinds),
        language=request.language or filters.language(named.get("lang")),
        path=request.path or named.get("file"),
    )


class _Page(NamedTuple):
    """Rows of matches, of how many, and the best and the worst way in which any of these match."""

    rows: list[Any]
    total: int = 0
    best: int = _WORDS
    worst: int = 0


class _Given(NamedTuple):
    """Symbols that are found otherwise: on which tier, how, and, best first, which."""

    tier: int
    ids: Sequence[int] = ()
    way: LiteralString = _GIVEN


def search(db: apsw.Connection, request: SearchRequest) -> SearchAnswer:
    """A page of the matching symbols, best first.

    Raises InvalidArguments.
    """
    if len(request.query) > MAX_QUERY_CHARS:
        raise InvalidArguments(
            f"query is longer than {MAX_QUERY_CHARS} characters; ask for less.", field="query"
        )
    request = with_tags(request)
    page = _page(db, request, _members(db, request))
    if page.best > _LAST_NAME_TIER:
        page = _otherwise(db, request) or page
    symbols = tuple(_found(row, shows_repo=request.shows_repo) for row in page.rows)
    reason = None if page.total else "no_match"
    ids = tuple(row[0] for row in page.rows)
    place = page.total, request.offset, request.limit
    return SearchAnswer(request.query, symbols, *place, reason, ids)


def _members(db: apsw.Connection, request: SearchRequest) -> _Given | None:
    """The symbols that a name with its owner or its module means, which is no part of a name."""
    if " " in request.query or split_owner(request.query)[0] is None:
        return None
    meant = [
        candidates(db, repository, TraceRequest(request.query)).groups
        for repository in request.repositories
    ]
    return _Given(1, [symbol for groups in meant for group in groups for symbol in group])


def _otherwise(db: apsw.Connection, request: SearchRequest) -> _Page | None:
    """What a text finds that is no part of a name: files, a misspelt name, or what answers it."""
    if len(request.query) >= MIN_GRAM and " " not in request.query:
        in_files = _page(db, request, _Given(_FILES, way=_IN_FILES))
        if in_files.worst == _FILES:
            return in_files
    if near := _misspelt(db, request.repositories, request.query):
        return _page(db, request, _Given(_MISSPELT, near))
    among = _conditions(request), _values(request)
    answers = questions.answering(db, request.query, *among)
    return _page(db, request, _Given(_WORDS, answers)) if answers else None


def _page(db: apsw.Connection, request: SearchRequest, given: _Given | None = None) -> _Page:
    """The page that is asked for; one beyond the last match has no rows."""
    rows = _rows(db, request, given)
    if rows or not request.offset:
        return _Page(rows, *rows[0][-3:]) if rows else _Page(rows)
    first = _page(db, replace(request, offset=0, limit=1), given)
    return first._replace(rows=[])


def _ways(query: str) -> list[LiteralString]:
    """The ways of matching that a query admits."""
    chosen: list[LiteralString] = [_EXACT, _PREFIX]
    if words.name_words(query):
        chosen += [_PARTS, _TEXTS]
    if len(query) >= MIN_GRAM and " " not in query:
        chosen.append(_SUBSTRING)
    return chosen


def _rows(db: apsw.Connection, request: SearchRequest, given: _Given | None) -> list[Any]:
    ways = [*_ways(request.query), *([given.way] if given else [])]
    union: LiteralString = " UNION ALL ".join(ways)
    sql = compose(f"WITH hits (id, tier, rank) AS ({union}{_SELECT}", _conditions(request), _TAIL)
    tier, ids, _ = given or _Given(_WORDS)
    values = _values(request) | {"given": tier, "ids": json_column.encode(list(ids))}
    rows: list[Any] = db.execute(sql, values).fetchall()
    return rows


def _conditions(request: SearchRequest) -> list[LiteralString]:
    chosen: list[LiteralString] = list(_HERE)
    chosen += [_KIND] if request.kinds else []
    chosen += [_EXPORTED] if request.exported_only else []
    chosen += [_LANGUAGE] if request.language else []
    chosen += [_PATH] if request.path else []
    return chosen


def _values(request: SearchRequest) -> dict[str, str | int]:
    query, path = request.query, (request.path or "").removeprefix("./").rstrip("/")
    found = _tokens(query)
    escaped = re.sub(r"([\\%_])", r"\\\1", path)
    return {
        "q": query,
        "q_end": query + _HIGHEST,
        "parts": "names : (" + " AND ".join(_starred(found)) + ")",
        "texts": "texts : (" + " AND ".join(_starred(found)) + f" OR {_joined(query)})",
        "grams": " AND ".join(words.quoted(gram) for gram in _grams(query)),
        "repositories": json_column.encode(list(request.repositories)),
        "kinds": json_column.encode(list(request.kinds)),
        "language": (request.language or "").lower(),
        "path": path,
        "path_like": escaped,
        "limit": request.limit,
        "offset": request.offset,
    }


def _tokens(query: str) -> list[str]:
    """The parts of every word of the query."""
    return [part for word in query.split() for part in words.parts(word)] or [query]


def _starred(tokens: Sequence[str]) -> list[str]:
    """Every token as it is; the last one may go on, while it is being typed."""
    last = tokens[-1]
    star = "*" if len(last) >= MIN_GRAM else ""
    return [*(words.quoted(token) for token in tokens[:-1]), words.quoted(last) + star]


def _joined(query: str) -> str:
    """The query in one word, as a text would spell a name."""
    return words.quoted("".join(re.findall(r"[^\W_]+", query.lower())) or query) + "*"


def _grams(query: str) -> list[str]:
    lower = query.lower()
    return list(dict.fromkeys(lower[at : at + 3] for at in range(max(1, len(lower) - 2))))


def _misspelt(db: apsw.Connection, repositories: Sequence[int], query: str) -> list[int]:
    """Symbols whose names are a slip or two away, nearest first."""
    if len(query) < MIN_GRAM + 1 or " " in query:
        return []
    allowed = 1 if len(query) <= SHORT_NAME else 2
    near = sorted(
        (slips, symbol)
        for symbol, name in _spelt_alike(db, repositories, query)
        if (slips := distance(query.lower(), name.lower(), allowed)) <= allowed
    )
    return [symbol for _, symbol in near]


def _spelt_alike(
    db: apsw.Connection, repositories: Sequence[int], name: str
) -> list[tuple[int, str]]:
    values = {
        "grams": " OR ".join(words.quoted(gram) for gram in _grams(name)),
        "repositories": json_column.encode(list(repositories)),
        "limit": MAX_FUZZY,
    }
    rows: list[Any] = db.execute(_SPELT_ALIKE, values).fetchall()
    return rows


def near_names(db: apsw.Connection, repository: int, name: str) -> list[str]:
    """A few names that are spelt much like this one."""
    if len(name) < MIN_GRAM:
        return []
    limit = max(2, len(name) // 3)
    scored = sorted(
        (slips, other)
        for _, other in _spelt_alike(db, (repository,), name)
        if (slips := distance(name.lower(), other.lower(), limit)) <= limit
    )
    return list(dict.fromkeys(other for _, other in scored))[:NEAR_NAMES]


def distance(left: str, right: str, limit: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours; more than ``limit`` is enough.

    Source: optimal string alignment distance.
    """
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        before, last, row = row, before, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return row[-1]


def _found(row: Sequence[Any], *, shows_repo: bool) -> Found:
    _, name, kind, path, line, end_line, signature, exported, tier, owner, repo, *_ = row
    way, score = _WAYS[tier]
    return Found(
        name,
        kind,
        path,
        line,
        end_line,
        signature,
        bool(exported),
        tier,
        way,
        score,
        owner,
        repo if shows_repo else None,
    )
