"""An embedder that knows a few synonyms: small, quick, the same everywhere."""

from __future__ import annotations

import hashlib
import time

import apsw

from memrpc.recall import likeness, vectors
from memrpc.recall.embedders import BuiltIn, Model
from memrpc.recall.meaning import Embedders
from memrpc.recall.vectors import Origin, Purpose
from memrpc.store.database import Database
from memrpc.store.errors import Unavailable

DIMENSION = 256
TOY = Model("toy:1", DIMENSION, "ab" * 32, trust=0.5, trust_in_code=0.5, chance=0.25, floor=0.4)
_SYNONYMS = {"vessel": "boat", "haven": "harbour"}


class ToyEncoder:
    """Each word is a fixed direction, synonyms the same one; a text is the sum of its words."""

    def __init__(self, salt: str = "") -> None:
        self.salt = salt
        self.read: list[str] = []

    def __call__(self, texts: list[str]):
        import numpy as np

        self.read += texts
        rows = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for number, text in enumerate(texts):
            for word in text.casefold().replace(".", " ").replace("?", " ").split():
                rows[number] += self._direction(_SYNONYMS.get(word, word))
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.where(lengths > 0, lengths, 1)

    def _direction(self, word: str):
        import numpy as np

        seed = hashlib.sha256((self.salt + word).encode("utf-8", "replace")).digest()[:4]
        return np.random.default_rng(int.from_bytes(seed)).standard_normal(DIMENSION)


def toy(model: Model = TOY, encoder: ToyEncoder | None = None) -> BuiltIn:
    made = encoder or ToyEncoder()
    return BuiltIn(model, lambda: made)


def loaded(model: Model = TOY, encoder: ToyEncoder | None = None) -> BuiltIn:
    """A toy whose encoder is there already, so that a fast search waits for nothing."""
    embedder = toy(model, encoder)
    embedder.query("")
    return embedder


def broken() -> BuiltIn:
    def fail():
        raise Unavailable("The weights are gone.")

    return BuiltIn(TOY, fail)


def origin_of(model: Model, weights: str | None = None) -> Origin:
    return Origin(
        Purpose.BUILTIN,
        model.id,
        model.dimension,
        weights or model.weights,
        model.usual,
        model.spread,
    )


def embed_all(
    db: apsw.Connection, embedders: Embedders, *, now: int = 1, limit: int = 1_000_000
) -> int:
    """What the worker does, at once; says how many texts there were."""
    maker = embedders.builtin

    def encode(texts: list[str]):
        return maker.documents(texts, lambda: None)

    return embed_for(db, origin_of(maker.model), encode, now=now, limit=limit)


def embed_for(db: apsw.Connection, origin: Origin, encode, *, now: int = 1, limit: int) -> int:
    known = vectors.find_set(db, origin.embedder)
    owed = vectors.owed(db, known.done if known else 0, limit)
    if owed:
        slots = likeness.packed(
            encode([each.text for each in owed]), [each.unit_id for each in owed]
        )
        vector_set = vectors.ensure_set(db, origin, now=now)
        vectors.add(db, vector_set, zip(owed, slots, strict=True), now=now)
    return len(owed)


def slots_of(db: apsw.Connection) -> list[bytes]:
    """The content of every block."""
    return [bytes(slots) for (slots,) in db.execute("SELECT slots FROM vector_slots").fetchall()]


def wait_until(database: Database, holds, timeout_s: float = 20.0) -> None:
    """Look at the database until something holds of it."""
    end = time.monotonic() + timeout_s
    while not database.read_blocking(holds):
        assert time.monotonic() < end
        time.sleep(0.01)
