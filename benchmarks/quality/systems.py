"""Systems under test: memrpc's recall as a library, and the baselines that it must not lose to.

A system remembers one haystack after another and answers questions to the one it was given last.
"""

from __future__ import annotations

import re
from typing import Any, Protocol

import apsw

from memrpc.recall import index, likeness, vectors
from memrpc.recall.choosing import Choice, embedders
from memrpc.recall.model import Document, Kind, SearchRequest
from memrpc.recall.search import search
from memrpc.store.migrate import migrate

from .datasets import Haystack, Item


class System(Protocol):
    """What the runner asks of a system."""

    name: str

    def remember(self, haystack: Haystack) -> None: ...

    def ask(self, question: str, k: int) -> list[str]: ...


class Library:
    """``memrpc.recall`` without the server: all haystacks in one database, a scope each."""

    def __init__(self, embedder: str = "none") -> None:
        self.name = f"memrpc (library, {embedder})"
        self.embedders = embedders(Choice(embedder))
        self.db = apsw.Connection(":memory:")
        migrate(self.db)
        self.scope = 0
        self.items: list[Item] = []

    def remember(self, haystack: Haystack) -> None:
        self.scope += 1
        self.items = haystack.items
        with self.db:
            for position in range(len(self.items)):
                index.put(self.db, self._document(position))
        self._embed()

    def _embed(self) -> None:
        maker = self.embedders.builtin
        if maker is None:
            return
        known = vectors.find_set(self.db, maker.model.id)
        owed = vectors.owed(self.db, known.done if known else 0, 1_000_000)
        rows = maker.documents([each.text for each in owed], lambda: None)
        slots = likeness.packed(rows, [each.unit_id for each in owed])
        model = maker.model
        known_by = (model.id, model.dimension, model.weights, model.usual, model.spread)
        origin = vectors.Origin(vectors.Purpose.BUILTIN, *known_by)
        with self.db:
            made = vectors.ensure_set(self.db, origin, now=0)
            vectors.add(self.db, made, zip(owed, slots, strict=True), now=0)

    def _document(self, position: int) -> Document:
        item = self.items[position]
        return Document(
            kind=Kind.EVENT,
            subject=self.scope * 1_000_000 + position,
            scope=self.scope,
            text=item.text,
            speaker=item.speaker,
            role="user",
            occurred_at=item.occurred_at or 0,
            session=item.session,
            before=self._neighbours(position, -1),
            after=self._neighbours(position, 1),
        )

    def _neighbours(self, position: int, step: int) -> tuple[str, ...]:
        session = self.items[position].session
        near = (position + step, position + 2 * step)
        return tuple(
            self.items[each].text
            for each in near
            if 0 <= each < len(self.items) and self.items[each].session == session
        )

    def ask(self, question: str, k: int) -> list[str]:
        meaning = self.embedders.at_once(question)
        request = SearchRequest(question, self.scope, (Kind.EVENT,), limit=k, meaning=meaning)
        found = search(self.db, request)
        return [self.items[hit.subject % 1_000_000].id for hit in found.hits]


class VectorsAlone(Library):
    """The embedder by itself: the texts as they are, the largest cosine first."""

    def __init__(self, embedder: str) -> None:
        super().__init__(embedder)
        self.name = f"vectors alone ({embedder})"
        self.rows: Any = None

    def remember(self, haystack: Haystack) -> None:
        self.items = haystack.items
        texts = [f"{each.speaker}: {each.text}" for each in haystack.items]
        self.rows = self.embedders.builtin.documents(texts, lambda: None)

    def ask(self, question: str, k: int) -> list[str]:
        cosines = self.rows @ self.embedders.builtin.query(question)
        return [self.items[place].id for place in (-cosines).argsort()[:k]]


class Grep:
    """Case-insensitive substring search in order of arrival, by all or by any of the words."""

    def __init__(self, name: str, quantifier: object) -> None:
        self.name = name
        self.holds = quantifier
        self.texts: list[tuple[str, str]] = []

    def remember(self, haystack: Haystack) -> None:
        self.texts = [(each.id, f"{each.speaker}: {each.text}".lower()) for each in haystack.items]

    def ask(self, question: str, k: int) -> list[str]:
        words = _words(question)
        return [id_ for id_, text in self.texts if self.holds(word in text for word in words)][:k]


class PlainBm25:
    """One FTS5 table of "source: text", the question's words joined by OR."""

    def __init__(self, tokenizer: str) -> None:
        self.name = f"FTS5 {tokenizer}"
        self.tokenizer = tokenizer
        self.ids: list[str] = []
        self.db = apsw.Connection(":memory:")

    def remember(self, haystack: Haystack) -> None:
        self.ids = [each.id for each in haystack.items]
        self.db = apsw.Connection(":memory:")
        self.db.execute(f"create virtual table t using fts5(body, tokenize='{self.tokenizer}')")
        rows = [(f"{each.speaker}: {each.text}",) for each in haystack.items]
        with self.db:
            self.db.executemany("insert into t(body) values (?)", rows)

    def ask(self, question: str, k: int) -> list[str]:
        match = " OR ".join(f'"{word}"' for word in self._terms(question))
        if not match:
            return []
        sql = "select rowid from t where t match ? order by rank limit ?"
        return [self.ids[row - 1] for (row,) in self.db.execute(sql, (match, k)).fetchall()]

    def _terms(self, question: str) -> list[str]:
        words = _words(question)
        if self.tokenizer != "trigram":
            return words
        return [word[at : at + 3] for word in words for at in range(len(word) - 2)]


def _words(question: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"\w+", question.lower())))


def baselines() -> list[System]:
    return [
        Grep("grep, all words", all),
        Grep("grep, any word", any),
        PlainBm25("unicode61"),
        PlainBm25("porter"),
        PlainBm25("trigram"),
    ]
