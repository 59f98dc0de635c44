"""Make the vectors that texts still lack, in the background and in slices.

That a text lacks a vector is a fact of the rows themselves, written with the text: its version is
newer than what a set has done.  ``Watch`` looks for such texts a moment after somebody has written
and owes a job for each embedder that has some; the job's lease sees to it that one process does it.
A job reads a batch, has it embedded away from the lanes, and stores the vectors of what has not
changed since.  After a second it gives way to other jobs.

An embedder that cannot be had for now, because an endpoint is down or a package is missing, is
tried again every minute: its texts stay pending and nothing else waits for them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import anyio
import apsw

from memrpc.recall import errands, likeness, vectors
from memrpc.recall.embedders import SPREAD, STRANGERS, USUAL, BuiltIn, strangeness
from memrpc.recall.embedding_endpoint import EndpointEmbedder
from memrpc.recall.endpoint import Declined
from memrpc.recall.errands import Leash
from memrpc.recall.meaning import Embedders
from memrpc.recall.vectors import Origin, Owed, Purpose, VectorSet
from memrpc.store import jobs
from memrpc.store.database import Database
from memrpc.store.errors import DomainError, Unavailable
from memrpc.store.jobs import Lease

JOB_KIND: Final = "embed"
BATCH: Final = 64
QUIET_S: Final = 1.0
SLICE_US: Final = 1_000_000
RETRY_US: Final = 60_000_000
KEPT_US: Final = vectors.DAY_US
"""So long a set is kept after its embedder was last at work: another host may still have it."""

Made: TypeAlias = list[tuple[Owed, bytes]]
Maker: TypeAlias = BuiltIn | EndpointEmbedder


@dataclass(frozen=True, slots=True)
class Batch:
    """Vectors of some texts, with what to know of the embedder that made them."""

    made: Made
    dimension: int
    weights: str
    usual: float = USUAL
    spread: float = SPREAD


class Watch:
    """Looks, a moment after somebody wrote, whether texts lack vectors."""

    def __init__(
        self,
        database: Callable[[], Database],
        embedders: Callable[[], Embedders],
        now_us: Callable[[], int],
        work_is_due: Callable[[], None],
    ) -> None:
        self._database = database
        self._embedders = embedders
        self._now_us = now_us
        self._work_is_due = work_is_due
        self._stirred: anyio.Event | None = None

    def stir(self) -> None:
        """Somebody may have written."""
        if self._stirred is not None:
            self._stirred.set()

    async def run(self) -> None:
        """Look until cancelled.  What is written during a look asks for another one."""
        self._stirred = anyio.Event()
        while True:
            await self._stirred.wait()
            self._stirred = anyio.Event()
            await anyio.sleep(QUIET_S)
            await self._look()

    async def _look(self) -> None:
        try:
            lacking = await self._database().read(lambda db: lacks(db, self._embedders()))
            if lacking:
                await self._database().write(lambda db: _owe(db, lacking, self._now_us()))
                self._work_is_due()
        except Unavailable:
            self.stir()  # The file is busy: look again.
        except DomainError:
            return  # The settings name no embedder that there is; each call says so.


def lacks(db: apsw.Connection, embedders: Embedders) -> list[Purpose]:
    """The purposes whose embedder has texts to do and no job that owes it."""
    newest = vectors.last_version(db)
    done = {each.embedder: each.done for each in vectors.sets(db)}
    return [
        purpose
        for purpose, maker in makers(embedders).items()
        if done.get(_id(maker), 0) < newest and not jobs.is_owed(db, JOB_KIND, purpose)
    ]


def makers(embedders: Embedders) -> dict[Purpose, Maker]:
    """The embedders that there are, by what they are for."""
    both = {Purpose.BUILTIN: embedders.builtin, Purpose.CONFIGURED: embedders.configured}
    return {purpose: maker for purpose, maker in both.items() if maker is not None}


async def embed(
    lease: Lease, database: Database, embedders: Embedders, now_us: Callable[[], int]
) -> None:
    """One slice of the job that owes the vectors of one embedder."""
    purpose = Purpose(lease.subject)
    maker = makers(embedders).get(purpose)
    if maker is None:  # Another process has other settings.
        await database.write(lambda db: jobs.complete(db, lease, now=now_us()))
        return
    end = now_us() + SLICE_US
    try:
        while await _batch(database, purpose, maker, now_us):
            if now_us() >= end:
                await _put_off(database, lease, now_us(), "giving way to other jobs")
                return
    except DomainError as error:
        await _put_off(database, lease, now_us() + RETRY_US, error.message)
        return
    await database.write(lambda db: _finish(db, lease, maker, now_us()))


async def _batch(
    database: Database, purpose: Purpose, maker: Maker, now_us: Callable[[], int]
) -> bool:
    """Embed the next few texts; False when there are none."""
    done, texts = await database.read(lambda db: _next(db, maker))
    if not texts:
        return False
    batch = await _made(maker, texts)
    if done == 0 and isinstance(maker, EndpointEmbedder):
        usual, spread = strangeness(await maker.documents(STRANGERS))
        batch = dataclasses.replace(batch, usual=usual, spread=spread)
    origin = Origin(purpose, _id(maker), batch.dimension, batch.weights, batch.usual, batch.spread)

    def keep(db: apsw.Connection) -> None:
        vector_set = vectors.ensure_set(db, origin, now=now_us())
        if vector_set.done == done:  # else it was begun anew, or somebody was faster
            vectors.add(db, vector_set, batch.made, now=now_us())

    await database.write(keep)
    return True


def _next(db: apsw.Connection, maker: Maker) -> tuple[int, list[Owed]]:
    known = vectors.find_set(db, _id(maker))
    done = 0 if known is None else known.done
    return done, vectors.owed(db, done, BATCH)


async def _made(maker: Maker, texts: list[Owed]) -> Batch:
    if isinstance(maker, BuiltIn):
        return await errands.run(lambda leash: _made_here(maker, texts, leash))
    try:
        return await _made_there(maker, texts)
    except Declined:
        return await _made_one_by_one(maker, texts)


def _made_here(maker: BuiltIn, texts: list[Owed], leash: Leash) -> Batch:
    rows = maker.documents([each.text for each in texts], leash.checkpoint)
    slots = likeness.packed(rows, [each.unit_id for each in texts])
    made = list(zip(texts, slots, strict=True))
    return Batch(made, maker.model.dimension, maker.model.weights)


async def _made_there(maker: EndpointEmbedder, texts: list[Owed]) -> Batch:
    rows = await maker.documents([each.text for each in texts])
    slots = likeness.packed(rows, [each.unit_id for each in texts])
    return Batch(list(zip(texts, slots, strict=True)), rows.shape[1], "")


async def _made_one_by_one(maker: EndpointEmbedder, texts: list[Owed]) -> Batch:
    """The same for a batch that was declined: a text that is declined alone goes without."""
    made: Made = []
    dimension = 0
    for text in texts:
        try:
            alone = await _made_there(maker, [text])
        except Declined:
            made.append((text, b""))
            continue
        made += alone.made
        dimension = alone.dimension
    if not dimension:
        raise Declined(f"{maker.endpoint.url} declined every text.", url=maker.endpoint.url)
    return Batch(made, dimension, "")


def _id(maker: Maker) -> str:
    return maker.model.id if isinstance(maker, BuiltIn) else maker.id


def _owe(db: apsw.Connection, lacking: list[Purpose], now: int) -> None:
    for purpose in lacking:
        jobs.enqueue(db, JOB_KIND, purpose, now=now)


async def _put_off(database: Database, lease: Lease, due: int, reason: str) -> None:
    await database.write(lambda db: jobs.put_off(db, lease, due=due, reason=reason))


def _finish(db: apsw.Connection, lease: Lease, maker: Maker, now: int) -> None:
    """Nothing is owed: drop the sets that this one replaces, and the job."""
    known = {each.embedder: each for each in vectors.sets(db)}
    current = known.get(_id(maker))
    if current is not None:
        for each in known.values():
            if _is_replaced(each, current, now):
                vectors.drop_set(db, each)
    jobs.complete(db, lease, now=now)


def _is_replaced(old: VectorSet, current: VectorSet, now: int) -> bool:
    is_same_purpose = old.purpose is current.purpose and old.key != current.key
    return is_same_purpose and old.used_at < now - KEPT_US
