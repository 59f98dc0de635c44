"""The parts of a recall by themselves, on one connection, each in milliseconds of CPU."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from memrpc.archive import assertions, recalling, scopes
from memrpc.archive.model import DEFAULT_SCOPE
from memrpc.archive.recalling import RecallInput
from memrpc.recall import query, search, vectors
from memrpc.recall.embedders import built_in
from memrpc.recall.index import collection_prefix
from memrpc.recall.likeness import slot_type
from memrpc.recall.model import Kind, SearchRequest
from memrpc.store.database import CACHE_KIB
from memrpc.surface.shapes import to_json
from memrpc.wire.codec import compact

from .chat_store import EMBEDDER

if TYPE_CHECKING:
    import numpy as np

NOW = 2_000_000_000_000_000
NEWEST = 100_000
_PRAGMAS = (
    f"PRAGMA cache_size = -{CACHE_KIB}",
    "PRAGMA temp_store = memory",
    "PRAGMA secure_delete = 1",
    "PRAGMA synchronous = normal",
)
_RANKED = """
SELECT unit_id, kind, subject, start, length, occurred_at, session, speaker, role, tokens,
       own, joined, head, prev, next, near, meta
FROM (SELECT rowid FROM unit_text WHERE unit_text MATCH :expression ORDER BY rank LIMIT :limit)
     AS best CROSS JOIN units ON units.unit_id = best.rowid"""


def forget() -> None:
    """Forget what was made of a question and of its answer, for it will be asked again."""
    query.parse.cache_clear()
    assertions.tokens.cache_clear()


class Library:
    """A connection to one file, with the lanes' settings."""

    def __init__(self, path: Path, *, writes: bool = False) -> None:
        flags = apsw.SQLITE_OPEN_READWRITE if writes else apsw.SQLITE_OPEN_READONLY
        self.db = apsw.Connection(str(path), flags=flags)
        for pragma in _PRAGMAS:
            self.db.execute(pragma).fetchall()
        self.scope = scopes.find(self.db, DEFAULT_SCOPE)
        self._prefix = collection_prefix(Kind.EVENT, self.scope)
        self._builtin = built_in(EMBEDDER)
        self._rows: np.ndarray | None = None

    def close(self) -> None:
        self.db.close()

    def rank(self, text: str) -> float:
        """Q."""
        expression = query.expression(query.parse(text).content, self._prefix)
        started = time.thread_time()
        self.db.execute(_RANKED, {"expression": expression, "limit": 10}).fetchall()
        return (time.thread_time() - started) * 1000

    def recall(self, text: str) -> float:
        """A recall without a server, as JSON."""
        forget()
        started = time.thread_time()
        compact(to_json(recalling.recall(self.db, RecallInput(text), now=NOW)))
        return (time.thread_time() - started) * 1000

    def embed(self, text: str) -> float:
        started = time.thread_time()
        self._builtin.query(text)
        return (time.thread_time() - started) * 1000

    def scan(self, text: str) -> float:
        """The newest vectors as one matrix of floats, times the question's."""
        if self._rows is None:
            self._rows = self._floats()
        question = self._builtin.query(text)
        started = time.thread_time()
        self._rows @ question
        return (time.thread_time() - started) * 1000

    def _floats(self) -> np.ndarray:
        import numpy as np

        (made,) = vectors.sets(self.db)
        blocks = vectors.blocks(self.db, made, Kind.EVENT, self.scope)[: NEWEST // 1_024 + 1]
        slots = b"".join(vectors.slots(self.db, block.block) for block in blocks)
        rows = np.frombuffer(slots, dtype=slot_type(made.dimension))
        rows = rows[rows["unit"] != 0][:NEWEST]
        return rows["vector"].astype(np.float32) * rows["scale"][:, None]

    def best(self, text: str, *, exact: bool) -> list[int]:
        found = search.search(self.db, SearchRequest(text, self.scope, limit=10, exact=exact))
        return [hit.subject for hit in found.hits]

    def write(self, statements: Iterable[tuple[str, object]]) -> float:
        """Run them in one transaction."""
        started = time.thread_time()
        self.db.execute("BEGIN IMMEDIATE").fetchall()
        for sql, values in statements:
            self.db.execute(sql, values).fetchall()
        self.db.execute("COMMIT").fetchall()
        return (time.thread_time() - started) * 1000


def overlap(path: Path, questions: list[str]) -> tuple[float, float]:
    """Shares of the exact ten best, and of the exact first, that a default search keeps."""
    library = Library(path)
    pairs = [tuple(library.best(each, exact=e) for e in (True, False)) for each in questions]
    library.close()
    known = [(exact, found) for exact, found in pairs if exact]
    ten = statistics.mean(len({*exact} & {*found}) / len(exact) for exact, found in known)
    return ten, statistics.mean(exact[:1] == found[:1] for exact, found in known)
