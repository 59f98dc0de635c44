"""A database of so many turns of chats, with their vectors, made once for each size and kept.

It is loaded in bulk and yet through the product's own functions: each turn's rows, statements and
units are as ``memory_record`` and the workers would leave them, only that a turn is indexed once,
when its neighbours are known, and not again for each of them.  A real turn's vector is what the
embedder makes of it; that of a distractor is the mean of the two turns' that it is made of, for a
scan takes the same time whatever it compares.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import random
from collections.abc import Iterator
from pathlib import Path

import apsw

from memrpc.archive import events, extraction_verbatim, memories, scopes
from memrpc.archive.memories import Origin
from memrpc.archive.model import (
    DEFAULT_SCOPE,
    Category,
    Event,
    Extraction,
    ExtractionState,
    Method,
    Role,
)
from memrpc.recall import index, likeness, sources, vectors
from memrpc.recall.embedders import built_in
from memrpc.recall.model import Document, Kind
from memrpc.store.database import Database

from .chats import Chats, Turn, stream

EMBEDDER = "builtin:use3"
VECTOR_BYTES = 512 + 12  # a byte a dimension, the unit and the scale
BATCH_SESSIONS = 40
_DONE = Extraction(ExtractionState.COMPLETE, Method.VERBATIM, 1)
_VERSION = 1


def database(folder: Path, chats: Chats, count: int) -> Path:
    """The file, made if it is not there yet in the schema of today."""
    path = folder / f"chats-{chats.name}-{count}-{_fingerprint()}.db"
    if not path.exists():
        print(f"Loading {count:,} turns into {path.name}, once.", flush=True)
        unfinished = path.with_suffix(".unfinished")
        for left in folder.glob(
            f"chats-{chats.name}-{count}-*"
        ):  # Of an older schema or a dead run.
            left.unlink()
        _load(unfinished, chats, count)
        unfinished.rename(path)
    _migrate(path)
    return path


def _migrate(path: Path) -> None:
    """Bring the file itself up to date, not only its log: copies are made of it."""
    store = Database(path, jitter=random.Random(0).random)
    store.write_blocking(lambda _: None)
    store.close()


def _fingerprint() -> str:
    """What decides whether a file of another day still fits; newer migrations it will be given."""
    from memrpc.store import migrate

    folder = Path(migrate.__file__).parent / "migrations"
    text = b"".join(file.read_bytes() for file in sorted(folder.glob("000[236]_*.sql")))
    return hashlib.sha256(text + str(_VERSION).encode()).hexdigest()[:12]


def _load(path: Path, chats: Chats, count: int) -> None:
    store = Database(path, jitter=random.Random(0).random)
    loader = _Loader(chats)
    sessions = stream(chats, count)
    while batch := list(itertools.islice(sessions, BATCH_SESSIONS)):
        store.write_blocking(lambda db, batch=batch: loader.add(db, batch))
    store.close()
    with contextlib.suppress(FileNotFoundError):
        path.with_name(path.name + "-wal").unlink()


class _Loader:
    """Puts sessions into a database, one batch a transaction."""

    def __init__(self, chats: Chats) -> None:
        self._builtin = built_in(EMBEDDER)
        texts = [source for session in chats.sessions for source in _sources(session)]
        self._rows = self._builtin.documents(texts, lambda: None)
        self._numbers = itertools.count(1)

    def add(self, db: apsw.Connection, sessions: list[list[Turn]]) -> None:
        model = self._builtin.model
        known_by = (model.id, model.dimension, model.weights, model.usual, model.spread)
        origin = vectors.Origin(vectors.Purpose.BUILTIN, *known_by)
        turns = [turn for session in sessions for turn in self._record(db, session)]
        made = vectors.ensure_set(db, origin, now=0)
        owed = vectors.owed(db, made.done, 1_000_000)
        of = {seq: turn.of for seq, turn in turns}
        rows = self._means([of[self._subject(db, each.unit_id)] for each in owed])
        slots = likeness.packed(rows, [each.unit_id for each in owed])
        vectors.add(db, made, zip(owed, slots, strict=True), now=0)

    @staticmethod
    def _subject(db: apsw.Connection, unit_id: int) -> int:
        return db.execute("SELECT subject FROM units WHERE unit_id = ?", (unit_id,)).get

    def _means(self, groups: list[tuple[int, ...]]) -> likeness.Vectors:
        import numpy as np

        rows = np.stack([self._rows[list(group)].mean(axis=0) for group in groups])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def _record(self, db: apsw.Connection, session: list[Turn]) -> Iterator[tuple[int, Turn]]:
        scope = scopes.ensure(db, DEFAULT_SCOPE)
        for turn, document in zip(session, documents(session, scope), strict=True):
            seq = self._event(db, turn, scope)
            index.put(db, document(seq))
            yield seq, turn

    def _event(self, db: apsw.Connection, turn: Turn, scope: int) -> int:
        event = Event(
            seq=0,
            event_id=turn.id,
            scope=scope,
            session_id=turn.session,
            role=Role.USER,
            category=Category.CONVERSATION,
            source=turn.speaker,
            text=turn.text,
            occurred_at=turn.occurred_at,
            recorded_at=turn.occurred_at,
            reason=None,
            extraction=_DONE,
        )
        seq = events.insert(db, event, hashlib.sha256(turn.id.encode()).digest())
        for position, statement in enumerate(extraction_verbatim.extract(event)):
            origin = Origin(scope, seq, extraction_verbatim.VERSION, position, turn.occurred_at)
            memories.insert(db, statement, origin, f"memory-{next(self._numbers)}")
        return seq


def _sources(session: list[Turn]) -> list[str]:
    return [
        sources.source(document(0), 0, len(turn.text))
        for turn, document in zip(session, documents(session, 0), strict=True)
    ]


def documents(session, scope):
    """For each turn what makes its document, once its place is known."""
    texts = [turn.text for turn in session]
    for place, turn in enumerate(session):
        yield lambda seq, place=place, turn=turn: Document(
            kind=Kind.EVENT,
            subject=seq,
            scope=scope,
            text=turn.text,
            speaker=turn.speaker,
            role=Role.USER,
            occurred_at=turn.occurred_at,
            session=turn.session,
            before=tuple(reversed(texts[max(place - 2, 0) : place])),
            after=tuple(texts[place + 1 : place + 3]),
        )
