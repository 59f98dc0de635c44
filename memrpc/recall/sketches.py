"""Sketches: eight numbers of a text by which those that share most of its words are found.

The numbers come from MinHash.  Put the words of two texts in one random order: the chance that both
begin with the same word is the share of words that they have in common.  A *mark* is made of the
first and the last word in one such order, so texts with a cosine of 0.85 agree in one mark of two,
in one of eight all but certainly, and texts that have some words in common in hardly any.  Near
duplicates are thus found by eight look-ups, however many texts there are.

The orders are fixed for good, for the marks are kept.  A mark tells no word, and texts of different
collections have no mark in common.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from memrpc.recall.query import COMMON_WORDS
from memrpc.store import json_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

MARKS: Final = 8
MAX_ROWS: Final = 400
MAX_AGREEING: Final = 5
OWED: Final = -1
"""The mark of an older file whose texts have none."""

ADD: Final = """
INSERT OR IGNORE INTO sketches (mark, subject) SELECT value, :subject FROM json_each(:marks)"""
REMOVE: Final = """
DELETE FROM sketches
WHERE mark IN (SELECT value FROM json_each(:marks)) AND subject = :subject"""
HOLDERS: Final = """
SELECT subject FROM json_each(:marks) CROSS JOIN sketches ON sketches.mark = json_each.value
LIMIT :limit"""
CLEAR: Final = "DELETE FROM sketches"

_ODD: Final = 0x9E3779B97F4A7C15
_ORDERS: Final = tuple(pow(_ODD, power, 1 << 64) for power in range(1, MARKS + 1))
"""Factors by which the numbers of words are put in order, one for each mark."""
_ORDER_BITS: Final = (1 << 64) - 1
_MARK_BITS: Final = (1 << 63) - 1


def content_words(tokens: str) -> set[str]:
    """The different tokens that are no function words."""
    return set(tokens.split()) - COMMON_WORDS


def marks(tokens: str, collection: str) -> list[int]:
    """The marks of a text with these tokens; none for a text without content."""
    seed = crc32(collection.encode())
    return [(mark + seed * _ODD) & _MARK_BITS for mark in _marks(tokens)]


@lru_cache(maxsize=64)
def _marks(tokens: str) -> tuple[int, ...]:
    """The marks in no collection; a text is looked for and then kept."""
    words = content_words(tokens)
    numbers = [crc32(word.encode("utf-8", "surrogatepass")) for word in words]
    ordered = [[number * order & _ORDER_BITS for number in numbers] for order in _ORDERS]
    return tuple(
        min(each) * order + max(each) * 31
        for each, order in zip(ordered, _ORDERS, strict=True)
        if each
    )


def add(db: apsw.Connection, subject: int, found: Sequence[int]) -> None:
    """Keep a subject's marks."""
    db.execute(ADD, {"subject": subject, "marks": json_column.encode(found)}).fetchall()


def remove(db: apsw.Connection, subject: int, found: Sequence[int]) -> None:
    """Forget a subject's marks."""
    db.execute(REMOVE, {"subject": subject, "marks": json_column.encode(found)}).fetchall()


def agreeing(db: apsw.Connection, found: Sequence[int]) -> list[int]:
    """The subjects that have most of the marks, a few, the best first."""
    values = {"marks": json_column.encode(found), "limit": MAX_ROWS}
    rows: list[Any] = db.execute(HOLDERS, values).fetchall()
    return [subject for (subject,), _ in Counter(rows).most_common(MAX_AGREEING)]


def clear(db: apsw.Connection) -> None:
    """Forget every mark, for a rebuild."""
    db.execute(CLEAR).fetchall()
