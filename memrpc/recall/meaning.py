"""The meaning of one question: which vectors serve it, and how alike each collection is to it.

``Embedders`` is what the settings chose: an embedder inside the process and, beside it, one at an
endpoint.  A search gets a ``Meaning``.  A ``fast`` one is compared with the vectors of the built-in
embedder.  The others take the endpoint's where there is one; it has been asked by then, because
no transaction waits for a network.

*Which set serves.*  The endpoint's before the built-in ones', a newer one before an older; but not
before it has nearly as much of the collection as the others, so while a new embedder's vectors are
being made, the old one's serve.  With a model that is not loaded yet a fast search goes on without
it and begins to load it.
"""

from __future__ import annotations

import dataclasses
import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from memrpc.recall import likeness, vectors
from memrpc.recall.embedders import BUILT_IN, BuiltIn, Model
from memrpc.recall.likeness import BlockCache, Likeness, Scope
from memrpc.recall.vectors import Purpose, VectorSet
from memrpc.store.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from memrpc.recall.embedders import Vectors
    from memrpc.recall.embedding_endpoint import EndpointEmbedder
    from memrpc.recall.lexical import Collection

RECENT_VECTORS: Final = 100_000
NEARLY: Final = 0.9
"""A set with so much of what another one has serves, if it is preferred to that."""
INSTEAD: Final = "The built-in vectors were searched."
LENIENCY: Final = 0.06
"""So much less likeness is enough where a search by meaning was asked for by name."""


class Reach(enum.StrEnum):
    """How far a search looks for what a question means."""

    FAST = "fast"
    SEMANTIC = "semantic"
    DEEP = "deep"


@dataclass(slots=True, eq=False)
class Embedders:
    """What makes vectors here; shared by every call of the process."""

    builtin: BuiltIn | None = None
    configured: EndpointEmbedder | None = None
    recent: int = RECENT_VECTORS
    cache: BlockCache = field(default_factory=BlockCache)
    _former: dict[str, BuiltIn] = field(default_factory=dict)

    @property
    def is_none(self) -> bool:
        """Whether there is no embedder at all."""
        return self.builtin is None and self.configured is None

    async def meaning(self, text: str, reach: Reach) -> Meaning | None:
        """The question as a search can use it; an endpoint is asked here."""
        if self.is_none:
            return None
        meaning = Meaning(self, text, reach)
        if self.configured is not None and reach is not Reach.FAST:
            try:
                meaning.asked = await self.configured.query(text)
            except DomainError as error:
                meaning.warnings.append(f"{error.message} {INSTEAD}")
        return meaning

    def at_once(self, text: str) -> Meaning | None:
        """The question for a fast search, which asks nobody outside."""
        return None if self.is_none else Meaning(self, text, Reach.FAST)

    def local(self, embedder: str) -> BuiltIn | None:
        """The built-in embedder of this id, also one that is not the chosen one any more."""
        if self.builtin is not None and self.builtin.model.id == embedder:
            return self.builtin
        if embedder not in self._former:
            known = [parts for parts in BUILT_IN.values() if parts[0].id == embedder]
            if self.builtin is None or not known:
                return None
            self._former[embedder] = BuiltIn(*known[0])
        return self._former[embedder]


@dataclass(frozen=True, slots=True)
class Compared:
    """What a collection's vectors said, and by which model."""

    likeness: Likeness
    model: Model


@dataclass(slots=True, eq=False)
class Counts:
    """One collection: its units, their vectors, and how many of these were compared."""

    units: int
    held: int
    scanned: int = 0


@dataclass(slots=True, eq=False)
class Meaning:
    """One question; collects what a reader of the answer should know."""

    embedders: Embedders
    text: str
    reach: Reach
    asked: Vectors | None = None
    """The question's vector by the endpoint."""
    warnings: list[str] = field(default_factory=list)
    _counts: dict[tuple[str, int], Counts] = field(default_factory=dict)
    _questions: dict[str, Vectors | None] = field(default_factory=dict)

    def compare(
        self,
        db: apsw.Connection,
        collection: Collection,
        scope: int,
        allowed: set[int] | None,
        checkpoint: Callable[[], None],
    ) -> Compared | None:
        """Compare with a collection; None where no vector can be.

        Only ``allowed`` units, if it is not None, may be among the best.
        """
        wanted = Scope(collection.kind, scope, self.most, allowed)
        serving, held = self._serving(db, wanted)
        counts = self._counts[collection.kind, scope] = Counts(collection.units, held)
        question = None if serving is None else self._question(serving)
        if serving is None or question is None:
            return None
        cache = self.embedders.cache
        found = likeness.compare(db, cache, serving, question, wanted, checkpoint)
        if found is None:
            return None
        counts.scanned = found.scanned
        self._tell_what_served(serving)
        return Compared(found, self._model(serving))

    @property
    def eligible(self) -> int:
        """How many vectors the collections have that were searched."""
        return sum(each.held for each in self._counts.values())

    @property
    def scanned(self) -> int:
        """How many of them were compared."""
        return sum(each.scanned for each in self._counts.values())

    @property
    def pending(self) -> int:
        """How many of their texts have no vector yet."""
        return sum(max(each.units - each.held, 0) for each in self._counts.values())

    @property
    def most(self) -> int | None:
        """How many of the newest vectors are compared; None for all."""
        return None if self.reach is Reach.DEEP else self.embedders.recent

    def _serving(self, db: apsw.Connection, scope: Scope) -> tuple[VectorSet | None, int]:
        """The preferred set among those that have nearly as much of the collection as any."""
        counted = [
            (each, vectors.held(db, each, scope.kind, scope.scope)) for each in self._askable(db)
        ]
        most = max((held for _, held in counted), default=0)
        if not most:
            return None, 0
        return next(each for each in counted if each[1] >= NEARLY * most)

    def _askable(self, db: apsw.Connection) -> list[VectorSet]:
        """The sets that the question can be put to, the preferred first."""
        known = sorted(vectors.sets(db), key=lambda each: (each.purpose, each.key), reverse=True)
        return [each for each in known if self._can_ask(each)]

    def _can_ask(self, each: VectorSet) -> bool:
        configured = self.embedders.configured
        if each.purpose is Purpose.BUILTIN:
            return self.embedders.local(each.embedder) is not None
        if self.asked is None or configured is None:
            return False
        return each.embedder == configured.id and each.dimension == len(self.asked)

    def _question(self, serving: VectorSet) -> Vectors | None:
        if serving.embedder not in self._questions:
            self._questions[serving.embedder] = self._vector(serving)
        return self._questions[serving.embedder]

    def _vector(self, serving: VectorSet) -> Vectors | None:
        if serving.purpose is Purpose.CONFIGURED:
            return self.asked
        embedder = self.embedders.local(serving.embedder)
        if embedder is None:
            return None
        if self.reach is Reach.FAST and not embedder.is_loaded:
            embedder.begin_loading()
            return None
        try:
            return embedder.query(self.text)
        except DomainError as error:
            self.warnings.append(f"{error.message} Full text alone was searched.")
            return None

    def _tell_what_served(self, serving: VectorSet) -> None:
        """Warn where the endpoint was asked and the built-in vectors had to answer."""
        if self.asked is None or serving.purpose is Purpose.CONFIGURED:
            return
        there = "" if self.embedders.configured is None else self.embedders.configured.id
        told = f"{there} has not embedded enough of these texts yet. {INSTEAD}"
        if told not in self.warnings:
            self.warnings.append(told)

    def _model(self, serving: VectorSet) -> Model:
        model = self._strict_model(serving)
        if self.reach is Reach.FAST:
            return model
        chance, floor = model.chance - LENIENCY, model.floor - LENIENCY
        return dataclasses.replace(model, chance=chance, floor=floor)

    def _strict_model(self, serving: VectorSet) -> Model:
        configured = self.embedders.configured
        if serving.purpose is Purpose.CONFIGURED and configured is not None:
            return configured.described(serving.origin)
        embedder = self.embedders.local(serving.embedder)
        assert embedder is not None  # noqa: S101 -- a question was made by it
        return embedder.model
