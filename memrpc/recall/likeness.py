"""Likeness: how near a question's vector is to the vectors of a collection, all of them, exactly.

Vectors are stored as one signed byte a dimension with a scale of their own and widened to floats a
few hundred at a time, so that the widened ones stay in the processor's cache.  Against floats of
four bytes that takes the same time and a quarter of the memory, in the file too, at the same recall
(docs/recall.md).  Between blocks there is a look at whether anybody still waits.

Blocks are kept in memory as they are stored, up to ``CACHE_BYTES``; a block that has changed since,
in whatever process, has another revision and is read again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memrpc.recall import vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    import apsw
    import numpy as np
    from numpy.typing import NDArray

    from memrpc.recall.embedders import Vectors
    from memrpc.recall.vectors import Block, VectorSet

CACHE_BYTES: Final = 256 * 1024 * 1024
WIDENED: Final = 256
BEST: Final = 100
LEAST_SPREAD: Final = 0.02
"""Of cosines: in a handful of vectors chance may put them all side by side."""
_LARGEST: Final = 127


class BlockCache:
    """Blocks as they are stored, the least recently used leaving first; safe to share."""

    def __init__(self, most_bytes: int = CACHE_BYTES) -> None:
        self._most_bytes = most_bytes
        self._lock = threading.Lock()
        self._blocks: OrderedDict[int, tuple[int, bytes]] = OrderedDict()
        self.size_bytes = 0

    def slots(self, db: apsw.Connection, block: Block) -> bytes:
        """The slots of the block in the revision that ``db`` sees."""
        with self._lock:
            revision, content = self._blocks.get(block.block, (-1, b""))
            if revision == block.revision:
                self._blocks.move_to_end(block.block)
                return content
        content = vectors.slots(db, block.block)
        self._keep(block, content)
        return content

    def _keep(self, block: Block, content: bytes) -> None:
        with self._lock:
            _, old = self._blocks.pop(block.block, (0, b""))
            self._blocks[block.block] = block.revision, content
            self.size_bytes += len(content) - len(old)
            while self.size_bytes > self._most_bytes:
                _, (_, gone) = self._blocks.popitem(last=False)
                self.size_bytes -= len(gone)


@dataclass(frozen=True, slots=True)
class Likeness:
    """The cosines of a question and what was scanned of one collection."""

    cosines: Vectors
    """By place: the slots of the scanned blocks, one block after the other."""
    starts: dict[int, int]
    """Block -> the place of its first slot."""
    mean: float
    spread: float
    best: tuple[int, ...]
    """The units nearest to the question, of those that may be hits."""
    scanned: int
    vector_set: VectorSet

    def of(self, db: apsw.Connection, unit_ids: Sequence[int]) -> dict[int, float]:
        """The cosines of those of ``unit_ids`` that were scanned."""
        places = vectors.places(db, self.vector_set, unit_ids)
        return {
            unit_id: float(self.cosines[self.starts[block] + slot])
            for unit_id, block, slot in places
            if block in self.starts
        }

    def standard(self, cosine: float) -> float:
        """How far a cosine is above the collection's mean, in spreads."""
        return (cosine - self.mean) / self.spread


@dataclass(frozen=True, slots=True)
class Scope:
    """What is to be compared: a collection, at most so many of its newest vectors."""

    kind: str
    scope: int
    most: int | None
    allowed: Collection[int] | None
    """The only units that may be among the best; None: any."""


def packed(rows: Vectors, unit_ids: Sequence[int]) -> list[bytes]:
    """Each row as a slot of its unit."""
    import numpy as np

    scales = np.abs(rows).max(axis=1) / _LARGEST
    scales[scales == 0] = 1
    slots: NDArray[Any] = np.zeros(len(rows), dtype=slot_type(rows.shape[1]))
    slots["unit"], slots["scale"] = unit_ids, scales
    slots["vector"] = np.rint(rows / scales[:, None])
    return [slot.tobytes() for slot in slots]


def compare(
    db: apsw.Connection,
    cache: BlockCache,
    vector_set: VectorSet,
    question: Vectors,
    scope: Scope,
    checkpoint: Callable[[], None],
) -> Likeness | None:
    """Compare ``question`` with the vectors of ``scope``; None where there are none."""
    import numpy as np

    layout = slot_type(vector_set.dimension)
    wide = np.empty((WIDENED, vector_set.dimension), dtype=np.float32)
    units: list[NDArray[np.int64]] = []
    cosines: list[Vectors] = []
    starts: dict[int, int] = {}
    place = 0
    for block in _newest(vectors.blocks(db, vector_set, scope.kind, scope.scope), scope.most):
        checkpoint()
        slots = np.frombuffer(cache.slots(db, block), dtype=layout)
        cosines += _cosines(slots, question, wide)
        units.append(slots["unit"])
        starts[block.block] = place
        place += len(slots)
    if not place:
        return None
    return _likeness(np.concatenate(units), np.concatenate(cosines), starts, vector_set, scope)


def _cosines(slots: NDArray[Any], question: Vectors, wide: Vectors) -> Iterator[Vectors]:
    import numpy as np

    for start in range(0, len(slots), WIDENED):
        part = slots[start : start + WIDENED]
        rows = wide[: len(part)]
        np.copyto(rows, part["vector"])
        yield rows @ question * part["scale"]


def _likeness(
    units: NDArray[np.int64],
    cosines: Vectors,
    starts: dict[int, int],
    vector_set: VectorSet,
    scope: Scope,
) -> Likeness:
    import numpy as np

    held = units != 0
    values = cosines[held].astype(np.float64)
    may_be_hit = held
    if scope.allowed is not None:
        may_be_hit = held & np.isin(units, np.fromiter(scope.allowed, np.int64))
    ranked = np.where(may_be_hit, cosines, -np.inf)
    count = min(BEST, int(may_be_hit.sum()))
    nearest = np.argpartition(-ranked, count - 1)[:count] if count else np.empty(0, np.int64)
    return Likeness(
        cosines=cosines,
        starts=starts,
        mean=float(values.mean()),
        spread=max(float(values.std()), LEAST_SPREAD),
        best=tuple(units[nearest].tolist()),
        scanned=len(values),
        vector_set=vector_set,
    )


def _newest(blocks: list[Block], most: int | None) -> list[Block]:
    """The newest blocks that together hold ``most`` vectors."""
    if most is None:
        return blocks
    chosen: list[Block] = []
    count = 0
    for block in blocks:
        if count >= most:
            break
        chosen.append(block)
        count += block.held
    return chosen


def slot_type(dimension: int) -> np.dtype[Any]:
    """What a slot is to numpy."""
    import numpy as np

    return np.dtype([("unit", "<i8"), ("scale", "<f4"), ("vector", "i1", (dimension,))])
