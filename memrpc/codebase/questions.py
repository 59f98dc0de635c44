"""Questions: the symbols that answer what is asked in plain words, ranked as all that is recalled.

Nothing is kept for this but the words by which symbols are searched.  FTS5 cannot rank by them,
since it has not kept the texts; so the rarest words of the question, as many as are together in few
enough symbols, propose by their rarity.  What they propose is taken apart anew, from its name, its
signature and its comment, and scored by ``recall.ranking``.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, Final, LiteralString, NamedTuple

from memrpc.codebase import languages, words
from memrpc.recall import query, ranking
from memrpc.recall.lexical import Candidate, Collection, WeighedTerm
from memrpc.recall.model import DEFAULT_FLOOR
from memrpc.recall.text import index_text
from memrpc.store import json_column
from memrpc.store.where import compose

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import apsw

    from memrpc.recall.query import Term

CANDIDATES: Final = 64
MATCHING: Final = 12_000
"""So many symbols, more or less, the words that propose may stand in."""
PREFIX_LETTERS: Final = 4
MAX_DOC_CHARS: Final = 2_000
KIND: Final = "symbol"
_LANGUAGES: Final = languages.BY_NAME.keys() - {languages.TEXT}

_SYMBOLS: Final = "SELECT count(*) FROM code_symbols"
_COUNT: Final = "SELECT count(*) FROM code_words WHERE code_words MATCH :expression"
_PROPOSED: Final = """
WITH proposed (id, worth) AS MATERIALIZED (
  SELECT w.rowid, sum(a.value ->> 1)
  FROM json_each(:asked) AS a CROSS JOIN code_words AS w ON w.code_words MATCH a.value ->> 0
  GROUP BY w.rowid)
SELECT s.id, s.name, s.signature, substr(s.doc, 1, :chars), f.language
FROM proposed AS h JOIN code_symbols AS s ON s.id = h.id JOIN code_files AS f ON f.id = s.id >> 18
"""
_BEST: Final = "ORDER BY h.worth DESC, s.exported DESC, s.id LIMIT :limit"


class _Asked(NamedTuple):
    """A term, what FTS5 looks for to find it, and in how many symbols that stands."""

    term: Term
    expression: str
    symbols: int


def answering(
    db: apsw.Connection,
    text: str,
    conditions: Sequence[LiteralString],
    values: dict[str, str | int],
) -> list[int]:
    """The ids of the symbols that answer the question, best first.

    ``conditions`` say of the symbols ``s`` and their files ``f`` which there are to choose among.
    """
    terms = query.parse(text)
    units: int = db.execute(_SYMBOLS).get
    asked = [_asked(db, term, units) for term in terms.content]
    portions = (_weighed(portion, units) for portion in _portions(asked))
    proposals = (_proposed(db, portion, conditions, values) for portion in portions)
    rows = next(filter(None, proposals), [])
    candidates = [_candidate(*row) for row in rows]
    tokens = sum(each.tokens for each in candidates) // max(len(candidates), 1)
    collection = Collection(KIND, "", units, units * tokens)
    content = [WeighedTerm.of(each.term, (each.symbols,), collection) for each in asked]
    scored = ranking.score(candidates, content, [], collection, terms)
    hits = ranking.relevant(ranking.best_by_subject(scored), DEFAULT_FLOOR)
    return [hit.candidate.subject for hit in hits]


def _asked(db: apsw.Connection, term: Term, units: int) -> _Asked:
    """Any spelling of the term; what is long enough may go on, as what is stemmed does.

    A language is taken for that of every other symbol, whose head names it, see ``_candidate``.
    """
    spellings = (" AND ".join(map(_started, spelling)) for spelling in term.spellings)
    expression = " OR ".join(f"({each})" for each in spellings)
    count: int = db.execute(_COUNT, {"expression": expression}).get
    is_language = not _LANGUAGES.isdisjoint(spelling[-1] for spelling in term.spellings)
    return _Asked(term, expression, max(count, units // 2) if is_language else count)


def _started(token: str) -> str:
    return words.quoted(token) + "*" * (len(token) >= PREFIX_LETTERS)


def _portions(asked: list[_Asked]) -> Iterator[list[_Asked]]:
    """The rarest words, and, as other repositories alone may hold these, each of the others."""
    held = sorted((each for each in asked if each.symbols), key=lambda each: each.symbols)
    totals = itertools.accumulate(each.symbols for each in held)
    rarest = max(sum(total <= MATCHING for total in totals), 1)
    yield held[:rarest]
    yield from ([each] for each in held[rarest:])


def _weighed(asked: list[_Asked], units: int) -> list[tuple[str, float]]:
    """What FTS5 looks for to find the words, each with its rarity."""
    return [(each.expression, math.log(1 + units / each.symbols)) for each in asked]


def _proposed(
    db: apsw.Connection,
    asked: list[tuple[str, float]],
    conditions: Sequence[LiteralString],
    values: dict[str, str | int],
) -> list[Any]:
    sql = compose(_PROPOSED, conditions, _BEST)
    own = {"asked": json_column.encode(asked), "chars": MAX_DOC_CHARS, "limit": CANDIDATES}
    rows: list[Any] = db.execute(sql, {**values, **own}).fetchall()
    return rows


def _candidate(symbol: int, name: str, signature: str, doc: str | None, language: str) -> Candidate:
    """A symbol as a unit of recall: who asks for code names its language and what it does."""
    own = index_text(f"{signature}\n{doc or ''}")
    head = index_text(f"{language}\n{name}")
    joined = " ".join(filter(None, (own.joined, head.joined)))
    tokens = len(own.parts.split()) + len(head.parts.split())
    context = "", "", "", ""
    said_by = 0, "", "", "", 0, 0, 1
    columns = own.parts, joined, head.parts
    return Candidate(symbol, KIND, symbol, 0, 0, *said_by, tokens, *columns, *context)
