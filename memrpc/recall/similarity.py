"""Likeness of whole texts, and how much of a question a text holds.

``alike`` finds near duplicates without looking at every row: two texts that share most of their
words share rare ones, so only rows with one of the text's rarest tokens are compared, and the
number of compared rows is bounded whatever the size of the collection.  Compared are the counts of
the content words (cosine), of all chunks of a subject together.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from memrpc.recall.index import collection_prefix
from memrpc.recall.query import COMMON_WORDS, parse
from memrpc.recall.text import index_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

MAX_COMPARED: Final = 200
"""So many units hold the rare tokens together, at most; one token is always looked up."""
MAX_RARE: Final = 16

FREQUENCY: Final = "SELECT doc FROM unit_terms WHERE term = :token"
SHARING: Final = """
SELECT DISTINCT units.subject FROM unit_text CROSS JOIN units ON units.unit_id = unit_text.rowid
WHERE unit_text MATCH :expression LIMIT :limit"""
TEXTS: Final = """
SELECT subject, own, head, joined FROM json_each(:subjects) CROSS JOIN units
ON units.kind = :kind AND units.subject = json_each.value"""


def alike(
    db: apsw.Connection, text: str, kind: str, scope: int, *, at_least: float
) -> list[tuple[int, float]]:
    """The subjects of a collection that are so like ``text``, with their cosine, best first."""
    wanted = _counts(index_text(text).parts)
    subjects = _sharing_rare_tokens(db, wanted, collection_prefix(kind, scope))
    rows = _texts(db, kind, subjects)
    texts: dict[int, Counter[str]] = {}
    for subject, own, _, _ in rows:
        texts.setdefault(subject, Counter()).update(_counts(own))
    scored = [(subject, _cosine(wanted, counts)) for subject, counts in texts.items()]
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


def _counts(tokens: str) -> Counter[str]:
    return Counter(token for token in tokens.split() if token not in COMMON_WORDS)


def _sharing_rare_tokens(db: apsw.Connection, wanted: Counter[str], prefix: str) -> list[int]:
    held = ((db.execute(FREQUENCY, {"token": prefix + t}).get or 0, t) for t in wanted)
    rarest = sorted(each for each in held if each[0])[:MAX_RARE]
    chosen: list[str] = []
    total = 0
    for frequency, token in rarest:
        if chosen and total + frequency > MAX_COMPARED:
            break
        total += frequency
        chosen.append(f'"{prefix}{token}"')
    if not chosen:
        return []
    values = {"expression": " OR ".join(chosen), "limit": MAX_COMPARED}
    rows: list[Any] = db.execute(SHARING, values).fetchall()
    return [subject for (subject,) in rows]


def _cosine(left: Counter[str], right: Counter[str]) -> float:
    product = sum(count * right[token] for token, count in left.items() if token in right)
    norms = _norm(left) * _norm(right)
    return product / norms if norms else 0.0


def _norm(counts: Counter[str]) -> float:
    return math.sqrt(sum(count * count for count in counts.values()))
