"""Likeness of whole texts, and how much of a question a text holds.

Compared is which content words two texts hold (cosine), all chunks of a subject together; how often
does not count, because the parts of identifiers repeat.  ``alike`` compares with the subjects whose
sketches agree, so it looks at a few rows whatever the size of the collection.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final

from memrpc.recall import index, sketches
from memrpc.recall.query import parse
from memrpc.recall.text import index_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    import apsw

TEXTS: Final = """
SELECT subject, own, head, joined FROM json_each(:subjects) CROSS JOIN units
ON units.kind = :kind AND units.subject = json_each.value"""


def alike(
    db: apsw.Connection, text: str, kind: str, scopes: Iterable[int], *, at_least: float
) -> list[tuple[int, float]]:
    """The subjects of some scopes that are so like ``text``, with their cosine, best first.

    All but certainly all of them, if ``at_least`` is not much below 0.85.
    """
    tokens = index_text(text).parts
    subjects = _agreeing(db, tokens, [index.collection_prefix(kind, each) for each in scopes])
    wanted = sketches.content_words(tokens)
    texts: dict[int, set[str]] = {}
    for subject, own, _, _ in _texts(db, kind, subjects) if subjects else ():
        texts.setdefault(subject, set()).update(sketches.content_words(own))
    scored = [(subject, _cosine(wanted, words)) for subject, words in texts.items()]
    found = [each for each in scored if each[1] >= at_least]
    return sorted(found, key=lambda each: (-each[1], each[0]))


def _agreeing(db: apsw.Connection, tokens: str, collections: list[str]) -> list[int]:
    """The subjects whose sketches agree, after seeing to it that all subjects have one."""
    marks = [mark for each in collections for mark in sketches.marks(tokens, each)]
    found = sketches.agreeing(db, [sketches.OWED, *marks])
    if 0 not in found:
        return found
    index.sketch_everything(db)
    return sketches.agreeing(db, marks)


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


def _cosine(left: set[str], right: set[str]) -> float:
    product = len(left) * len(right)
    return len(left & right) / math.sqrt(product) if product else 0.0
