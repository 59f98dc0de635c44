"""Putting texts on a shelf and asking which of them a question finds."""

from __future__ import annotations

from collections.abc import Iterable

import apsw
from hypothesis import strategies as st

from memrpc.recall import index
from memrpc.recall.model import Document, Kind, SearchRequest
from memrpc.recall.search import search

SCOPE = 1
DAY_US = 86_400_000_000

any_text = st.text(st.characters(codec=None, exclude_categories=()), max_size=300)
"""Lone surrogates and unassigned code points too."""


def document(subject: int, text: str, scope: int = SCOPE, **rest: object) -> Document:
    return Document(Kind.EVENT, subject, scope, text, **rest)


def fill(db: apsw.Connection, texts: Iterable[str], scope: int = SCOPE) -> None:
    for subject, text in enumerate(texts):
        index.put(db, document(subject, text, scope))


def refill(db: apsw.Connection, documents: Iterable[Document]) -> None:
    index.clear(db)
    for each in documents:
        index.put(db, each)


def found(db: apsw.Connection, question: str, scope: int = SCOPE, **rest: object) -> list[int]:
    result = search(db, SearchRequest(question, scope, **rest))
    assert (result.reason is None) == bool(result.hits)
    return [hit.subject for hit in result.hits]


def vocabulary(db: apsw.Connection) -> list[tuple]:
    db.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.instances "
        "USING fts5vocab(main, unit_text, instance)"
    ).fetchall()
    return db.execute("SELECT term, doc, col FROM temp.instances").fetchall()
