"""Writing an index: new versions of files beside the old ones, and the switch from old to new.

What is staged is seen by no reader.  ``switch`` makes it live and what it replaces dead, in one
transaction of the size of what changed; ``sweep`` deletes dead rows afterwards, in batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.codebase.model import FILE_BITS, MAX_ORDINAL
from memrpc.store import json_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import apsw

    from memrpc.codebase.parsing import Outcome, Stamp

SWEPT_AT_ONCE: Final = 100

_LIVE: Final = """
SELECT path, id, hash, size, mtime_ns, ctime_ns, language, problem FROM code_files
WHERE repository = :repository AND state = 'live'
"""
_ADD_FILE: Final = """
INSERT INTO code_files (repository, path, state, language, hash, size, lines, mtime_ns, ctime_ns,
  problem, indexed_at)
VALUES (:repository, :path, 'staged', :language, :hash, :size, :lines, :mtime_ns, :ctime_ns,
  :problem, :now)
RETURNING id
"""
_ADD_SYMBOL: Final = f"INSERT INTO code_symbols VALUES ({', '.join('?' * 15)})"
_ADD_REFERENCE: Final = f"INSERT INTO code_references VALUES ({', '.join('?' * 9)})"
_ADD_LINK: Final = f"INSERT INTO code_links VALUES ({', '.join('?' * 7)}, NULL)"
_ADD_WORDS: Final = "INSERT INTO code_words (rowid, names, texts) VALUES (?, ?, ?)"
_ADD_GRAMS: Final = "INSERT INTO code_grams (rowid, name) VALUES (?, ?)"
_DROP_STAGED: Final = """
UPDATE code_files SET state = 'dead' WHERE repository = :repository AND state = 'staged'
"""
_KILL: Final = """
UPDATE code_files SET state = 'dead' WHERE id IN (SELECT value FROM json_each(:ids))
"""
_GO_LIVE: Final = """
UPDATE code_files SET state = 'live' WHERE repository = :repository AND state = 'staged'
"""
_MOVE: Final = """
UPDATE code_files SET path = :path, mtime_ns = :mtime_ns, ctime_ns = :ctime_ns WHERE id = :id
"""
_STAMP: Final = """
UPDATE code_files SET size = ?, mtime_ns = ?, ctime_ns = ? WHERE id = ?
"""
_AIM: Final = "UPDATE code_links SET target = ? WHERE id = ?"
_DEAD: Final = """
SELECT id FROM code_files WHERE repository = :repository AND state = 'dead' LIMIT :limit
"""
_SWEEP: Final = (
    "DELETE FROM code_words WHERE rowid BETWEEN :first AND :last",
    "DELETE FROM code_grams WHERE rowid BETWEEN :first AND :last",
    "DELETE FROM code_links WHERE id BETWEEN :first AND :last",
    "DELETE FROM code_references WHERE id BETWEEN :first AND :last",
    "DELETE FROM code_symbols WHERE id BETWEEN :first AND :last",
    "DELETE FROM code_files WHERE id = :file",
)
_COUNT: Final = """
SELECT (SELECT count(*) FROM code_files WHERE repository = :repository AND state = 'live'),
  (SELECT count(*) FROM code_files AS f
   JOIN code_symbols AS s ON s.id BETWEEN f.id << 18 AND (f.id << 18) + 262143
   WHERE f.repository = :repository AND f.state = 'live')
"""


class Known(NamedTuple):
    """A live file as the index knows it."""

    id: int
    digest: bytes
    size: int
    mtime_ns: int
    ctime_ns: int
    language: str
    problem: str | None


class Move(NamedTuple):
    """A live file that has another path by now."""

    id: int
    path: str
    stamp: Stamp


def known_files(db: apsw.Connection, repository: int) -> dict[str, Known]:
    """The live files by path."""
    rows: list[Any] = db.execute(_LIVE, {"repository": repository}).fetchall()
    return {path: Known(*rest) for path, *rest in rows}


def drop_staged(db: apsw.Connection, repository: int) -> None:
    """Give up what a run that was stopped has left."""
    db.execute(_DROP_STAGED, {"repository": repository}).fetchall()


def stage(
    db: apsw.Connection, repository: int, outcomes: Iterable[Outcome], *, now: int, racy_ns: int
) -> list[tuple[str, int]]:
    """Write parsed files; their paths and new ids.

    A file that changed after ``racy_ns`` may change again without a new stamp, so its stamp is not
    relied on.
    """
    staged = [(each, _add_file(db, repository, each, now, racy_ns)) for each in outcomes]
    db.executemany(_ADD_SYMBOL, _rows(staged, "symbols")).fetchall()
    db.executemany(_ADD_REFERENCE, _rows(staged, "references")).fetchall()
    db.executemany(_ADD_LINK, _rows(staged, "links")).fetchall()
    db.executemany(_ADD_WORDS, _word_rows(staged)).fetchall()
    db.executemany(_ADD_GRAMS, _gram_rows(staged)).fetchall()
    return [(each.task.path, file) for each, file in staged]


def _add_file(
    db: apsw.Connection, repository: int, outcome: Outcome, now: int, racy_ns: int
) -> int:
    size, mtime_ns, ctime_ns = outcome.stamp or (0, 0, 0)
    is_racy = max(mtime_ns, ctime_ns) >= racy_ns
    values = {
        "repository": repository,
        "path": outcome.task.path,
        "language": outcome.language or outcome.task.language,
        "hash": outcome.digest,
        "size": size,
        "lines": outcome.lines,
        "mtime_ns": 0 if is_racy else mtime_ns,
        "ctime_ns": 0 if is_racy else ctime_ns,
        "problem": outcome.problem,
        "now": now,
    }
    file: int = db.execute(_ADD_FILE, values).get
    return file


def _rows(staged: list[tuple[Outcome, int]], part: str) -> Iterator[tuple[Any, ...]]:
    for outcome, file in staged:
        first = file << FILE_BITS
        for ordinal, row in enumerate(getattr(outcome.rows, part)):
            yield (first + ordinal, *row)


def _word_rows(staged: list[tuple[Outcome, int]]) -> Iterator[tuple[int, str, str]]:
    for outcome, file in staged:
        first = file << FILE_BITS
        for ordinal, (names, texts) in enumerate(outcome.words):
            yield first + ordinal, names, texts


def _gram_rows(staged: list[tuple[Outcome, int]]) -> Iterator[tuple[int, str]]:
    for outcome, file in staged:
        first = file << FILE_BITS
        for ordinal, (name, *_) in enumerate(outcome.rows.symbols):
            yield first + ordinal, name


def switch(
    db: apsw.Connection,
    repository: int,
    *,
    replaced: Sequence[int],
    moves: Sequence[Move],
    targets: Mapping[int, int | None],
) -> None:
    """Make what is staged the index, in the place of the ``replaced`` files."""
    db.execute(_KILL, {"ids": json_column.encode(list(replaced))}).fetchall()
    for move in moves:
        stamps = {"mtime_ns": move.stamp.mtime_ns, "ctime_ns": move.stamp.ctime_ns}
        db.execute(_MOVE, {"id": move.id, "path": move.path, **stamps}).fetchall()
    db.execute(_GO_LIVE, {"repository": repository}).fetchall()
    db.executemany(_AIM, ((target, link) for link, target in targets.items())).fetchall()


def restamp(db: apsw.Connection, stamps: Mapping[int, Stamp]) -> None:
    """Note the new stamps of files whose content is the same."""
    db.executemany(_STAMP, ((*stamp, file) for file, stamp in stamps.items())).fetchall()


def sweep(db: apsw.Connection, repository: int) -> bool:
    """Delete the rows of some dead files; whether there may be more."""
    values = {"repository": repository, "limit": SWEPT_AT_ONCE}
    rows: list[Any] = db.execute(_DEAD, values).fetchall()
    for (file,) in rows:
        first = file << FILE_BITS
        for statement in _SWEEP:
            bounds = {"first": first, "last": first + MAX_ORDINAL, "file": file}
            used = {name: bounds[name] for name in bounds if f":{name}" in statement}
            db.execute(statement, used).fetchall()
    return len(rows) == SWEPT_AT_ONCE


def count(db: apsw.Connection, repository: int) -> tuple[int, int]:
    """How many live files and symbols there are."""
    rows: list[Any] = db.execute(_COUNT, {"repository": repository}).fetchall()
    files, symbols = rows[0]
    return files, symbols
