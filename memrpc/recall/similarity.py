"""Likeness of whole texts, and how much of a question a text holds.

``alike`` finds near duplicates without looking at every row: two texts that share most of their
words share rare ones, so only rows with one of the text's rare tokens are compared, and both the
looking up and the number of compared rows are bounded whatever the size of the collection.
Compared is which content words they hold (cosine), all chunks of a subject together; how often does
not count, because the parts of identifiers repeat.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final

from memrpc.recall.index import collection_prefix
from memrpc.recall.query import COMMON_WORDS, parse
from memrpc.recall.text import index_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

MAX_HOLDERS: Final = 25
"""A token that at most so many units hold is rare; its holders are compared."""
MAX_RARE: Final = 6
MAX_PAIRS: Final = 4
MAX_TRIED: Final = 12
"""Where so many long tokens are common, the rest, which is shorter, is hardly rare."""

HOLDERS: Final = """
SELECT rowid FROM unit_text WHERE unit_text MATCH :expression LIMIT :limit"""
SUBJECTS: Final = """
SELECT DISTINCT subject FROM units WHERE unit_id IN (SELECT value FROM json_each(:units))"""
UNITS: Final = "SELECT units FROM collections WHERE kind = :kind AND scope = :scope"
TEXTS: Final = """
SELECT subject, own, head, joined FROM json_each(:subjects) CROSS JOIN units
ON units.kind = :kind AND units.subject = json_each.value"""


def alike(
    db: apsw.Connection, text: str, kind: str, scope: int, *, at_least: float
) -> list[tuple[int, float]]:
    """The subjects of a collection that are so like ``text``, with their cosine, best first."""
    if not db.execute(UNITS, {"kind": kind, "scope": scope}).get:
        return []
    wanted = _words(index_text(text).parts)
    subjects = _possible(db, wanted, collection_prefix(kind, scope), at_least)
    rows = _texts(db, kind, subjects)
    texts: dict[int, set[str]] = {}
    for subject, own, _, _ in rows:
        texts.setdefault(subject, set()).update(_words(own))
    scored = [(subject, _cosine(wanted, words)) for subject, words in texts.items()]
    found = [each for each in scored if each[1] >= at_least]
    return sorted(found, key=lambda each: (-each[1], each[0]))


def shares(
    db: apsw.Connection, question: str, kind: str, subjects: Iterable[int]
) -> dict[int, float]:
    """How much of the question's content words each subject holds, from 0 to 1."""
    terms = parse(question)
    sought = [term.spellings for term in (terms.content or terms.common)]
    texts: dict[int, str] = {}
    for subject, *columns in _texts(db, kind, subjects):
        texts[subject] = f"{texts.get(subject, '')} {' '.join(columns)} "
    return {subject: _share(sought, text) for subject, text in texts.items()}


def _texts(db: apsw.Connection, kind: str, subjects: Iterable[int]) -> list[Any]:
    values = {"kind": kind, "subjects": json.dumps(list(subjects))}
    return db.execute(TEXTS, values).fetchall()


def _share(sought: list[tuple[tuple[str, ...], ...]], text: str) -> float:
    held = sum(any(f" {' '.join(each)}" in text for each in spellings) for spellings in sought)
    return held / len(sought) if sought else 0.0


def _words(tokens: str) -> set[str]:
    return {token for token in tokens.split() if token not in COMMON_WORDS}


def _possible(db: apsw.Connection, wanted: set[str], prefix: str, at_least: float) -> list[int]:
    """The subjects that may be so like the text: holders of its rare tokens.

    A text with a cosine c holds at least c² of the words, so when more than the rest are known to
    nobody the search is over.  Long tokens are tried first, for they are rare more often.
    """
    unknown = len(wanted) * (1 - at_least * at_least)
    tried = sorted(wanted, key=lambda token: (-len(token), token))
    units: list[int] = []
    rare = 0
    for token in tried[:MAX_TRIED]:
        holders = _holders(db, f'"{prefix}{token}"', MAX_HOLDERS + 1)
        unknown -= not holders
        if unknown < 0:
            return []
        if 0 < len(holders) <= MAX_HOLDERS:
            units += holders
            rare += 1
        if rare == MAX_RARE:
            break
    if not rare:
        units = _holders(db, _pairs(tried, prefix), MAX_RARE * MAX_HOLDERS)
    rows: list[Any] = db.execute(SUBJECTS, {"units": json.dumps(units)}).fetchall()
    return [subject for (subject,) in rows]


def _pairs(tokens: list[str], prefix: str) -> str:
    """An expression for those who hold two of the longest tokens, where no token is rare."""
    pairs = zip(tokens[::2], tokens[1::2], strict=False)
    chosen = [f'("{prefix}{one}" AND "{prefix}{other}")' for one, other in pairs][:MAX_PAIRS]
    return " OR ".join(chosen) or f'"{prefix}{tokens[0]}"' if tokens else ""


def _holders(db: apsw.Connection, expression: str, limit: int) -> list[int]:
    if not expression:
        return []
    rows: list[Any] = db.execute(HOLDERS, {"expression": expression, "limit": limit}).fetchall()
    return [unit for (unit,) in rows]


def _cosine(left: set[str], right: set[str]) -> float:
    product = len(left) * len(right)
    return len(left & right) / math.sqrt(product) if product else 0.0
