"""Frequencies: in how many units a token stands, as full text counts it.

SQLite counts by reading all places of the token, which for a word of half the units takes longer
than the rest of a search.  So what was common is remembered, for each connection, until its
collection has grown or shrunk by a hundredth; how common it is hardly changes in between.  What is
rare is counted each time, because a few more make a difference there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    import apsw

    from memrpc.recall.lexical import Collection
    from memrpc.recall.query import Term

COMMON_UNITS: Final = 250
MAX_DRIFT: Final = 0.01
MAX_KEPT: Final = 4_096

FREQUENCY: Final = "SELECT doc FROM unit_terms WHERE term = :token"
PREFIX_FREQUENCY: Final = """
SELECT ifnull(sum(doc), 0) FROM unit_terms WHERE term >= :token AND term < :end"""

_KEPT: Final[WeakKeyDictionary[apsw.Connection, dict[str, tuple[int, int]]]] = WeakKeyDictionary()
"""By connection and token: the count, and how many units there were."""


def of_term(db: apsw.Connection, term: Term, collection: Collection) -> tuple[int, ...]:
    """How many units hold each spelling of ``term``, at most.

    A phrase is as frequent as its rarest token.
    """
    counts = []
    for spelling in term.spellings:
        *whole, last = (collection.prefix + token for token in spelling)
        found = [_count(db, token, collection.units) for token in whole]
        found.append(_count(db, last, collection.units, is_prefix=term.is_prefix))
        counts.append(min(found))
    return tuple(counts)


def _count(db: apsw.Connection, token: str, units: int, *, is_prefix: bool = False) -> int:
    kept = _KEPT.setdefault(db, {})
    key = token + " " * is_prefix
    count, then = kept.get(key, (0, 0))
    if count and abs(units - then) <= MAX_DRIFT * then:
        return count
    found = _counted_prefix(db, token) if is_prefix else _counted(db, token)
    if found >= COMMON_UNITS:
        if len(kept) >= MAX_KEPT:
            kept.clear()
        kept[key] = found, units
    return found


def _counted(db: apsw.Connection, token: str) -> int:
    return db.execute(FREQUENCY, {"token": token}).get or 0


def _counted_prefix(db: apsw.Connection, token: str) -> int:
    values = {"token": token, "end": token + "\U0010ffff"}
    found: int = db.execute(PREFIX_FREQUENCY, values).get
    return found
