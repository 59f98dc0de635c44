"""Vectors in the database: which embedder made them, where each stands, and what is still owed.

A *set* holds the vectors of one embedder.  A set is made of *blocks* of up to 1,024 slots, each
block for one collection (one kind in one scope), so a search reads the vectors of its own scope
only.  A slot is a unit's number, a scale and one signed byte a dimension.  A vector that goes is
overwritten with zeros in the transaction in which its text goes, in every set.

Nothing here needs numpy: what a vector is, only those who make or compare it know.  The file is
longer than others because its statements, which belong together, take a third of it.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import apsw

BLOCK_SLOTS: Final = 1_024
FIRST_SLOTS: Final = 16
HEADER_BYTES: Final = 12
DAY_US: Final = 86_400_000_000
_UNIT: Final = struct.Struct("<q")

SOURCE: Final = "SELECT text FROM unit_sources WHERE unit_id = :unit_id"
ADD_SOURCE: Final = """
INSERT OR REPLACE INTO unit_sources (unit_id, text) VALUES (:unit_id, :text)"""
DELETE_SOURCE: Final = "DELETE FROM unit_sources WHERE unit_id = :unit_id"
LAST_VERSION: Final = "SELECT coalesce(max(version), 0) FROM unit_sources"
OWED: Final = """
SELECT version, unit_sources.unit_id, kind, scope, text
FROM unit_sources JOIN units ON units.unit_id = unit_sources.unit_id
WHERE version > :done ORDER BY version LIMIT :limit"""
IS_CURRENT: Final = """
SELECT 1 FROM unit_sources WHERE version = :version AND unit_id = :unit_id"""

SETS: Final = """
SELECT vector_set, done, used_at, purpose, embedder, dimension, weights, usual, spread
FROM vector_sets
ORDER BY vector_set"""
ADD_SET: Final = """
INSERT INTO vector_sets (purpose, embedder, dimension, weights, usual, spread, used_at)
VALUES (:purpose, :embedder, :dimension, :weights, :usual, :spread, :now)"""
SET_DONE: Final = """
UPDATE vector_sets SET done = :done, used_at = :now WHERE vector_set = :vector_set"""
DELETE_SET: Final = "DELETE FROM vector_sets WHERE vector_set = :vector_set"
DELETE_PLACES_OF: Final = "DELETE FROM unit_vectors WHERE vector_set = :vector_set"
BLOCKS_OF_SET: Final = "SELECT block FROM vector_blocks WHERE vector_set = :vector_set"

BLOCKS: Final = """
SELECT block, held, revision FROM vector_blocks
WHERE vector_set = :vector_set AND kind = :kind AND scope = :scope ORDER BY block DESC"""
HELD: Final = """
SELECT coalesce(sum(held), 0) FROM vector_blocks
WHERE vector_set = :vector_set AND kind = :kind AND scope = :scope"""
HELD_IN_SET: Final = """
SELECT coalesce(sum(held), 0) FROM vector_blocks WHERE vector_set = :vector_set"""
UNITS: Final = "SELECT coalesce(sum(units), 0) FROM collections"
WITH_ROOM: Final = """
SELECT block, held, capacity FROM vector_blocks
WHERE vector_set = :vector_set AND kind = :kind AND scope = :scope AND held < :most
ORDER BY block LIMIT 1"""
ADD_BLOCK: Final = """
INSERT INTO vector_blocks (vector_set, kind, scope, held, capacity, revision)
VALUES (:vector_set, :kind, :scope, 0, :capacity, 0) RETURNING block"""
ADD_SLOTS: Final = "INSERT INTO vector_slots (block, slots) VALUES (:block, zeroblob(:size))"
GROW_SLOTS: Final = """
UPDATE vector_slots SET slots = CAST(slots || zeroblob(:size) AS BLOB) WHERE block = :block"""
GROW_BLOCK: Final = "UPDATE vector_blocks SET capacity = :capacity WHERE block = :block"
COUNT_BLOCK: Final = """
UPDATE vector_blocks SET held = held + :change, revision = revision + 1 WHERE block = :block
RETURNING held"""
DELETE_SLOTS: Final = "DELETE FROM vector_slots WHERE block = :block"
DELETE_BLOCK: Final = "DELETE FROM vector_blocks WHERE block = :block"
DIMENSION_OF_BLOCK: Final = """
SELECT dimension FROM vector_blocks JOIN vector_sets USING (vector_set) WHERE block = :block"""
PLACES: Final = """
SELECT vector_set, block, slot FROM unit_vectors WHERE unit_id = :unit_id"""
PLACES_OF_UNITS: Final = """
SELECT unit_id, block, slot FROM json_each(:unit_ids) CROSS JOIN unit_vectors
ON unit_vectors.unit_id = json_each.value AND vector_set = :vector_set"""
ADD_PLACE: Final = """
INSERT INTO unit_vectors (unit_id, vector_set, block, slot)
VALUES (:unit_id, :vector_set, :block, :slot)"""
DELETE_PLACES: Final = "DELETE FROM unit_vectors WHERE unit_id = :unit_id"
DELETE_EVERYTHING: Final = (
    "DELETE FROM unit_vectors",
    "DELETE FROM vector_slots",
    "DELETE FROM vector_blocks",
    "DELETE FROM unit_sources",
    "UPDATE vector_sets SET done = 0",
)


class Purpose(enum.StrEnum):
    """What an embedder is for: ``fast`` recalls, or those that may ask an endpoint."""

    BUILTIN = "builtin"
    CONFIGURED = "configured"


@dataclass(frozen=True, slots=True)
class Origin:
    """Which embedder makes a set, and how alike its vectors of unlike texts are."""

    purpose: Purpose
    embedder: str
    dimension: int
    weights: str
    usual: float
    spread: float


@dataclass(frozen=True, slots=True)
class VectorSet:
    """The vectors of one embedder."""

    key: int
    done: int
    used_at: int
    origin: Origin

    @property
    def embedder(self) -> str:
        """The id of the embedder."""
        return self.origin.embedder

    @property
    def purpose(self) -> Purpose:
        """What the embedder is for."""
        return self.origin.purpose

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self.origin.dimension

    @property
    def slot_bytes(self) -> int:
        """The size of one slot."""
        return HEADER_BYTES + self.dimension


@dataclass(frozen=True, slots=True)
class Owed:
    """A unit's text that a set has no vector of."""

    version: int
    unit_id: int
    kind: str
    scope: int
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """A block as a search needs to know it."""

    block: int
    held: int
    revision: int


@dataclass(frozen=True, slots=True)
class Summary:
    """A set as people see it."""

    purpose: Purpose
    embedder: str
    dimension: int
    vectors: int
    pending: int


def note(db: apsw.Connection, unit_id: int, text: str, *, is_new: bool) -> None:
    """Keep ``text`` as what the unit is to be embedded by; vectors of another text go."""
    known = None if is_new else db.execute(SOURCE, {"unit_id": unit_id}).get
    if known == text:
        return
    if known is not None:
        _empty_slots(db, unit_id)
    db.execute(ADD_SOURCE, {"unit_id": unit_id, "text": text}).fetchall()


def forget(db: apsw.Connection, unit_id: int) -> None:
    """Take the unit's text and its vectors out of every set."""
    _empty_slots(db, unit_id)
    db.execute(DELETE_SOURCE, {"unit_id": unit_id}).fetchall()


def forget_all(db: apsw.Connection) -> None:
    """Empty everything; the sets stay and begin anew."""
    for statement in DELETE_EVERYTHING:
        db.execute(statement).fetchall()


def sets(db: apsw.Connection) -> list[VectorSet]:
    """Every set, the oldest first."""
    rows: list[Any] = db.execute(SETS).fetchall()
    return [
        VectorSet(key, done, used_at, Origin(Purpose(purpose), *rest))
        for key, done, used_at, purpose, *rest in rows
    ]


def find_set(db: apsw.Connection, embedder: str) -> VectorSet | None:
    """The set that this embedder made."""
    return next((each for each in sets(db) if each.embedder == embedder), None)


def ensure_set(db: apsw.Connection, origin: Origin, *, now: int) -> VectorSet:
    """The embedder's set; one of other weights under the same name is dropped for a new one."""
    known = find_set(db, origin.embedder)
    if known is not None and _is_same_model(known.origin, origin):
        return known
    if known is not None:
        drop_set(db, known)
    db.execute(ADD_SET, {**dataclasses.asdict(origin), "now": now}).fetchall()
    made = find_set(db, origin.embedder)
    assert made is not None  # noqa: S101 -- it was inserted one line above
    return made


def _is_same_model(one: Origin, other: Origin) -> bool:
    return (one.dimension, one.weights) == (other.dimension, other.weights)


def drop_set(db: apsw.Connection, vector_set: VectorSet) -> None:
    """Delete a set with all its vectors."""
    values = {"vector_set": vector_set.key}
    rows: list[Any] = db.execute(BLOCKS_OF_SET, values).fetchall()
    for (block,) in rows:
        _delete_block(db, block)
    db.execute(DELETE_PLACES_OF, values).fetchall()
    db.execute(DELETE_SET, values).fetchall()


def last_version(db: apsw.Connection) -> int:
    """The newest version of any unit's text; 0 when there is none."""
    version: int = db.execute(LAST_VERSION).get
    return version


def owed(db: apsw.Connection, done: int, limit: int) -> list[Owed]:
    """The next texts after version ``done``, oldest first."""
    rows: list[Any] = db.execute(OWED, {"done": done, "limit": limit}).fetchall()
    return [Owed(*row) for row in rows]


def add(
    db: apsw.Connection, vector_set: VectorSet, made: Iterable[tuple[Owed, bytes]], *, now: int
) -> None:
    """Store slots (``made``, by rising version) and note that their versions are done.

    What has changed or gone since its text was read is left out: its newer version comes later.
    """
    done = vector_set.done
    for text, slot in made:
        done = text.version
        _replace(db, vector_set, text, slot)
    db.execute(SET_DONE, {"vector_set": vector_set.key, "done": done, "now": now}).fetchall()


def blocks(db: apsw.Connection, vector_set: VectorSet, kind: str, scope: int) -> list[Block]:
    """The blocks of a collection, the newest first."""
    values = {"vector_set": vector_set.key, "kind": kind, "scope": scope}
    rows: list[Any] = db.execute(BLOCKS, values).fetchall()
    return [Block(*row) for row in rows]


def slots(db: apsw.Connection, block: int) -> bytes:
    """The slots of a block, empty ones too."""
    with db.blob_open("main", "vector_slots", "slots", block, writeable=False) as blob:
        content: bytes = blob.read()
    return content


def places(
    db: apsw.Connection, vector_set: VectorSet, unit_ids: Sequence[int]
) -> Iterator[tuple[int, int, int]]:
    """Unit, block and slot of those of ``unit_ids`` that the set has a vector of."""
    values = {"unit_ids": json.dumps(unit_ids), "vector_set": vector_set.key}
    rows: list[Any] = db.execute(PLACES_OF_UNITS, values).fetchall()
    yield from rows


def held(db: apsw.Connection, vector_set: VectorSet, kind: str, scope: int) -> int:
    """How many units of a collection the set has a vector of."""
    values = {"vector_set": vector_set.key, "kind": kind, "scope": scope}
    count: int = db.execute(HELD, values).get
    return count


def held_in_set(db: apsw.Connection, vector_set: VectorSet) -> int:
    """How many vectors the set has."""
    count: int = db.execute(HELD_IN_SET, {"vector_set": vector_set.key}).get
    return count


def summaries(db: apsw.Connection) -> list[Summary]:
    """How far each set is, the oldest first."""
    units: int = db.execute(UNITS).get
    found = ((each, held_in_set(db, each)) for each in sets(db))
    return [
        Summary(each.purpose, each.embedder, each.dimension, count, max(units - count, 0))
        for each, count in found
    ]


def _replace(db: apsw.Connection, vector_set: VectorSet, text: Owed, slot: bytes) -> None:
    values = {"version": text.version, "unit_id": text.unit_id}
    if not slot or db.execute(IS_CURRENT, values).get is None:
        return
    rows: list[Any] = db.execute(PLACES, {"unit_id": text.unit_id}).fetchall()
    if any(key == vector_set.key for key, _, _ in rows):
        return  # A batch that ran twice: the vector is there.
    block, number = _room(db, vector_set, text)
    _write(db, block, number * len(slot), slot)
    place = {"unit_id": text.unit_id, "vector_set": vector_set.key, "block": block, "slot": number}
    db.execute(ADD_PLACE, place).fetchall()
    db.execute(COUNT_BLOCK, {"block": block, "change": 1}).fetchall()


def _room(db: apsw.Connection, vector_set: VectorSet, text: Owed) -> tuple[int, int]:
    """A block with an empty slot, and the slot's number."""
    values = {"vector_set": vector_set.key, "kind": text.kind, "scope": text.scope}
    row = db.execute(WITH_ROOM, {**values, "most": BLOCK_SLOTS}).get
    if row is None:
        block = db.execute(ADD_BLOCK, {**values, "capacity": FIRST_SLOTS}).get
        size = FIRST_SLOTS * vector_set.slot_bytes
        db.execute(ADD_SLOTS, {"block": block, "size": size}).fetchall()
        return block, 0
    block, held_there, capacity = row
    if held_there == capacity:
        size = capacity * vector_set.slot_bytes
        db.execute(GROW_SLOTS, {"block": block, "size": size}).fetchall()
        db.execute(GROW_BLOCK, {"block": block, "capacity": 2 * capacity}).fetchall()
        return block, capacity
    return block, _empty_slot(db, block, vector_set.slot_bytes, held_there)


def _empty_slot(db: apsw.Connection, block: int, slot_bytes: int, likely: int) -> int:
    """The first empty slot; without holes it is the one after the last vector."""
    with db.blob_open("main", "vector_slots", "slots", block, writeable=False) as blob:
        blob.seek(likely * slot_bytes)
        if _is_empty(blob.read(_UNIT.size)):
            return likely
        blob.seek(0)
        content = blob.read()
    starts = range(0, len(content), slot_bytes)
    return next(at for at in starts if _is_empty(content[at : at + _UNIT.size])) // slot_bytes


def _is_empty(unit: bytes) -> bool:
    return not any(unit)


def _empty_slots(db: apsw.Connection, unit_id: int) -> None:
    rows: list[Any] = db.execute(PLACES, {"unit_id": unit_id}).fetchall()
    for _, block, slot in rows:
        size = HEADER_BYTES + db.execute(DIMENSION_OF_BLOCK, {"block": block}).get
        _write(db, block, slot * size, bytes(size))
        if db.execute(COUNT_BLOCK, {"block": block, "change": -1}).get == 0:
            _delete_block(db, block)
    if rows:
        db.execute(DELETE_PLACES, {"unit_id": unit_id}).fetchall()


def _delete_block(db: apsw.Connection, block: int) -> None:
    db.execute(DELETE_SLOTS, {"block": block}).fetchall()
    db.execute(DELETE_BLOCK, {"block": block}).fetchall()


def _write(db: apsw.Connection, block: int, offset: int, content: bytes) -> None:
    with db.blob_open("main", "vector_slots", "slots", block, writeable=True) as blob:
        blob.seek(offset)
        blob.write(content)
