"""Proposing: the units of one collection that FTS5 ranks best, for ``ranking`` to score in full.

FTS5's time is that of the units it ranks; finding them takes a tenth of it.  So in a large
collection the rarest words propose, as many as are together in few enough units; the others only
take part in ranking.  An ``exact`` search leaves none out.

Nor need FTS5 rank what cannot be among the best (MaxScore, Turtle and Flood 1995).  To BM25 a
phrase is worth its rarity times k1 + 1 at most.  Where all the commonest phrases together are worth
less than the last unit that is kept, a unit that holds nothing else is not kept; the expression
leaves it out.  What the last unit is worth is guessed from how common the phrases are, and checked
once it is known: if the guess was too high, everything is ranked after all.
"""

from __future__ import annotations

import itertools
import json
import math
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from memrpc.recall import frequencies, query

if TYPE_CHECKING:
    import apsw

    from memrpc.recall.lexical import Collection, WeighedTerm
    from memrpc.recall.model import SearchRequest

SCORED_UNITS: Final = 12_000
"""So many units FTS5 is made to score, more or less; in a smaller collection all that match."""
CANDIDATES: Final = 50
"""At least so many are scored in full; twice as many find the same and take longer."""
MORE_CANDIDATES: Final = 200
"""In a larger one, where the words that took no part in proposing may turn the order round."""
FTS5_K1: Final = 1.2
LEAST_RARITY: Final = 1e-6
"""What FTS5 takes for a phrase that most units hold."""
LEAST_WORTH: Final = LEAST_RARITY * (FTS5_K1 + 1)
GUESS: Final = 0.75
"""The share of what the last unit should be worth that it probably has: hardly one misses it."""
STEP: Final = 0.5
STEPS: Final = 32
"""How finely, and how far, worth is reckoned for that."""
WORTHWHILE: Final = 0.6
"""So large may the share be that is still ranked: to leave units out is work too."""

ROWS: Final = "SELECT sum(units) FROM collections"
# The plus keeps FTS5 from sorting every match itself, in a list that takes as long to free as to
# make: SQLite's own sort holds no more rows than the limit, and a cancel has nothing to wait for.
MATCHING: Final = """
SELECT rowid, rank FROM unit_text WHERE unit_text MATCH :expression ORDER BY +rank LIMIT :limit"""
MATCHING_WITHIN: Final = """
SELECT rowid, rank FROM unit_text WHERE unit_text MATCH :expression AND +rowid IN (
    SELECT unit_id FROM json_each(:subjects) CROSS JOIN units
    ON units.kind = :kind AND units.subject = json_each.value)
ORDER BY +rank LIMIT :limit"""


Ranks: TypeAlias = "list[tuple[int, float]]"
"""Units with what FTS5 ranks them by, the best first: the less, the better."""


class _Phrase(NamedTuple):
    """A spelling of a term, with its rarity to FTS5 and what it is worth there at most."""

    expression: str
    units: int
    rarity: float
    most: float

    @property
    def tells(self) -> bool:
        """Whether its worth is more than nothing: what most units hold tells none from another."""
        return self.most > LEAST_WORTH


def propose(
    db: apsw.Connection,
    request: SearchRequest,
    content: list[WeighedTerm],
    common: list[WeighedTerm],
    collection: Collection,
) -> list[int]:
    """The best units by FTS5's own rank, in order of their ids.

    That order keeps sums, and so scores, the same to the last bit whatever other scopes hold.
    """
    if content:
        held = sorted((each for each in content if each.frequency), key=lambda each: each.frequency)
        is_cut = collection.units > SCORED_UNITS and not request.exact
        found = _best(db, request, _rarest(held) if is_cut else held, collection)
    else:
        terms = tuple(each.term for each in common)
        whole = query.expression(terms, collection.prefix, "AND")
        found = _ranked(db, request, whole, collection, _limit(request, collection))
    return sorted(unit_id for unit_id, _ in found)


def _rarest(held: list[WeighedTerm]) -> list[WeighedTerm]:
    """The first terms that together are in few enough units to be scored, one at least."""
    totals = itertools.accumulate(each.frequency for each in held)
    count = sum(total <= SCORED_UNITS for total in totals)
    return held[: max(count, 1)]


def _best(
    db: apsw.Connection, request: SearchRequest, held: list[WeighedTerm], collection: Collection
) -> Ranks:
    if not held:
        return []
    limit = _limit(request, collection)
    phrases = _phrases(db, held, collection)
    is_whole = request.subjects(collection.kind) is None
    spared = _spared(phrases, collection.units, limit) if is_whole else []
    if spared:
        found = _ranked(db, request, _sparing(phrases, spared), collection, limit + 1)
        if _is_settled(found, spared, limit):
            return found[:limit]
    return _ranked(db, request, _any(phrases), collection, limit)


def _spared(phrases: list[_Phrase], units: int, limit: int) -> list[_Phrase]:
    """The commonest phrases that are probably not enough for a unit to be kept.

    Where that would leave most units to be ranked, they are only those that are worth nothing.
    """
    rarest = sorted(phrases, key=lambda each: each.units)
    totals = itertools.accumulate(each.units for each in rarest)
    enough = sum(total < limit for total in totals) + 1
    telling = [each for each in rarest if each.tells]
    guess = GUESS * _expected(telling, units, limit)
    worths = itertools.accumulate(each.most for each in reversed(rarest))
    first = max(len(rarest) - sum(worth <= guess for worth in worths), enough)
    told = sum(each.units for each in telling)
    is_worthwhile = sum(each.units for each in rarest[:first]) <= WORTHWHILE * told
    return [each for each in rarest[first:] if is_worthwhile or not each.tells]


def _expected(phrases: list[_Phrase], units: int, limit: int) -> float:
    """What the best ``limit`` of ``units`` should be worth at least, were chance to spread phrases.

    Units are counted by what they are worth, phrase by phrase.
    """
    counts = [float(units)] + [0.0] * (STEPS - 1)
    for each in phrases:
        share, worth = each.units / units, round(each.rarity / STEP)
        for at in reversed(range(STEPS)):
            if held := counts[at] * share:
                counts[at] -= held
                counts[min(at + worth, STEPS - 1)] += held
    above = itertools.accumulate(reversed(counts))
    return max(STEPS - 1 - sum(total < limit for total in above), 0) * STEP


def _sparing(phrases: list[_Phrase], spared: list[_Phrase]) -> str:
    """The expression for what holds any other phrase; what tells nothing is not even looked for."""
    rest = [each for each in phrases if each not in spared]
    telling = [each for each in spared if each.tells]
    if not telling:
        return _any(rest)
    whole = [each for each in phrases if each.tells]
    return f"({_any(whole)}) NOT (({_any(telling)}) NOT ({_any(rest)}))"


def _is_settled(found: Ranks, spared: list[_Phrase], limit: int) -> bool:
    """Whether what was spared could neither bring a unit among the first nor tell them apart."""
    if len(found) < limit:
        return False
    scores = [-rank for _, rank in found[limit - 1 :]]
    untold = sum(each.most for each in spared if not each.tells)
    is_apart = not untold or len(scores) == 1 or scores[0] - scores[1] > untold
    return is_apart and scores[0] > sum(each.most for each in spared)


def _any(phrases: list[_Phrase]) -> str:
    return " OR ".join(each.expression for each in phrases)


def _phrases(db: apsw.Connection, held: list[WeighedTerm], collection: Collection) -> list[_Phrase]:
    """What FTS5 looks for, spelling by spelling, without what no unit holds.

    A phrase of several tokens, or of beginnings, may be rarer than is known.
    """
    rows: int = db.execute(ROWS).get
    drift = frequencies.MAX_DRIFT * collection.units
    phrases = []
    for each in held:
        for spelling, units in zip(each.term.spellings, each.counts, strict=True):
            if not units:
                continue
            is_counted = len(spelling) == 1 and not each.term.is_prefix
            most = _rarity(max(units - drift, 0), rows) * (FTS5_K1 + 1) if is_counted else math.inf
            expression = query.phrase(spelling, collection.prefix, is_prefix=each.term.is_prefix)
            phrases.append(_Phrase(expression, units, _rarity(units, rows), most))
    return phrases


def _rarity(units: float, rows: int) -> float:
    """The inverse document frequency as FTS5 reckons it."""
    if 2 * units >= rows:
        return LEAST_RARITY
    return math.log((rows - units + 0.5) / (units + 0.5))


def _limit(request: SearchRequest, collection: Collection) -> int:
    least = CANDIDATES if collection.units <= SCORED_UNITS else MORE_CANDIDATES
    return max(least, request.limit)


def _ranked(
    db: apsw.Connection,
    request: SearchRequest,
    expression: str,
    collection: Collection,
    limit: int,
) -> Ranks:
    bindings = {"expression": expression, "limit": limit}
    subjects = request.subjects(collection.kind)
    if subjects is None:
        rows: list[Any] = db.execute(MATCHING, bindings).fetchall()
    else:
        bindings |= {"kind": collection.kind, "subjects": json.dumps(list(subjects))}
        rows = db.execute(MATCHING_WITHIN, bindings).fetchall()
    return rows
