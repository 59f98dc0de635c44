"""The audit: look for forgotten text in the bytes on disk, not in what SQLite would answer.

Searched are the file, its write-ahead log and shared-memory file, and the automatic backups.
Sought are the text, piece by piece because a long one is stored in several pages; each of its
words; and, in scripts that are written without spaces, each pair of neighbours, which is how a
full-text index keeps them.  Each is sought in every case, composed and decomposed.  A word inside
a longer one counts: an audit may be too strict, never too kind.  A word or a pair that a record
which was kept holds too, or the schema, is told and is no trace.

A full-text index stores a term as what differs from the term before it, so a term may stand in
the bytes without its beginning.  Therefore the vocabulary is searched too, through SQLite.

Closing a file that one has read releases the locks which SQLite holds on it in the same process
(POSIX advisory locks), so run this only in a process that has no connection to the file.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

import apsw

from memrpc.store import backups, json_column
from memrpc.store.failures import Translated

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator
    from pathlib import Path

_TEXTS: Final = """
SELECT t.name, c.name FROM pragma_table_list AS t JOIN pragma_table_info(t.name) AS c
WHERE t.schema = 'main' AND upper(c.type) = 'TEXT'
  AND t.name IN (SELECT value FROM json_each(:records))
"""

CHUNK_BYTES: Final = 1 << 22
PIECE_CHARS: Final = 24  # short enough to lie within one page more often than not
MAX_PIECES: Final = 64  # of a long text, spread evenly over it
MIN_WORD_CHARS: Final = 3

_SIDE_FILES: Final = ("", "-wal", "-shm", "-journal")
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_WORDS: Final = re.compile(f"(?P<run>[{_UNSPACED}]+)|(?P<word>[^\\W{_UNSPACED}]+)")


class Kind(Enum):
    """What was found of the text."""

    TEXT = "text"
    WORD = "word"
    PAIR = "pair"


@dataclass(frozen=True, slots=True)
class Finding:
    """One trace: what was sought, and the first place in one file where it stands."""

    path: Path
    kind: Kind
    sought: str
    offset: int | None  # bytes from the start; None for a term of a full-text index
    is_kept: bool = False
    """Whether something that was kept has it too, so that it tells nothing."""


def audit(
    path: Path, text: str, *, vocabularies: Iterable[str] = (), records: Collection[str] = ()
) -> list[Finding]:
    """List what is left of ``text`` in the file at ``path`` and the files beside it.

    Without any that is not kept, no piece of the text is there, and no word and no pair of it that
    nothing else has.  ``vocabularies`` are statements, constants of whoever owns a full-text index,
    that select from the JSON array ``:terms`` what occurs in a term of the index.  ``records`` are
    the tables in which texts are kept, as they were given.
    """
    sought = _sought(text)
    findings = [found for each in files(path) for found in _search(each, sought)]
    with Translated(path):
        for vocabulary in vocabularies:
            findings += _search_vocabulary(path, vocabulary, sought)
        kept = _kept(
            path, {each.sought for each in findings if each.kind is not Kind.TEXT}, records
        )
    return [replace(each, is_kept=each.sought in kept) for each in findings]


def files(path: Path) -> list[Path]:
    """List the files in which content of the database at ``path`` may stand."""
    return [each for each in own_files(path) if each.exists()] + backups.every(path)


def own_files(path: Path) -> list[Path]:
    """List the names that the database at ``path`` uses, whether they are there or not."""
    return [path.with_name(path.name + suffix) for suffix in _SIDE_FILES]


def _sought(text: str) -> dict[str, Kind]:
    """Return all that is to be sought of ``text``, the most telling kind of each."""
    sought = dict.fromkeys(_pairs(text), Kind.PAIR)
    words = (match["word"] or "" for match in _WORDS.finditer(text))
    sought |= dict.fromkeys((w for w in words if len(w) >= MIN_WORD_CHARS), Kind.WORD)
    sought |= dict.fromkeys(_pieces(text), Kind.TEXT)
    return sought


def _pieces(text: str) -> list[str]:
    """Cut ``text`` into whole pieces, all of them or an even selection."""
    last = max(1, len(text) - PIECE_CHARS + 1)
    pieces = [text[at : at + PIECE_CHARS] for at in range(0, last, PIECE_CHARS)]
    stride = -(-len(pieces) // MAX_PIECES)
    return [piece for piece in pieces[::stride] if piece.strip()]


def _pairs(text: str) -> Iterator[str]:
    for match in _WORDS.finditer(text):
        run = match["run"] or ""
        yield from (run[at : at + 2] for at in range(len(run) - 1))


def _forms(sought: str) -> set[str]:
    """Return the ways in which ``sought`` may be written; ASCII's case is left to the search."""
    cases = {sought, sought.casefold(), sought.lower(), sought.upper(), sought.title()}
    plain = "".join(
        c for c in unicodedata.normalize("NFKD", sought) if not unicodedata.combining(c)
    )
    cases |= {plain, plain.casefold(), plain.upper()}
    return {unicodedata.normalize(way, case) for way in ("NFC", "NFD", "NFKC") for case in cases}


def _search(path: Path, sought: dict[str, Kind]) -> list[Finding]:
    """Find the first place of each of ``sought`` in the bytes of one file."""
    patterns = {each: [form.encode().lower() for form in _forms(each)] for each in sought}
    overlap = max((len(p) for forms in patterns.values() for p in forms), default=1) - 1
    findings = []
    for start, chunk in _chunks(path, overlap):
        for each in list(patterns):
            places = [at for p in patterns[each] if (at := chunk.find(p)) >= 0]
            if places:
                findings.append(Finding(path, sought[each], each, start + min(places)))
                del patterns[each]
    return findings


def _chunks(path: Path, overlap: int) -> Iterator[tuple[int, bytes]]:
    """Read a file in lower case, each chunk beginning with the end of the one before."""
    tail, start = b"", 0
    with path.open("rb") as file:
        while block := file.read(CHUNK_BYTES):
            chunk = tail + block.lower()
            yield start, chunk
            tail = chunk[len(chunk) - overlap :]
            start += len(chunk) - len(tail)


def _search_vocabulary(path: Path, vocabulary: str, sought: dict[str, Kind]) -> list[Finding]:
    """Find what of ``sought`` occurs in a term of a full-text index."""
    forms = {form: each for each in sought for form in _forms(each)}
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        values = {"terms": json_column.encode(sorted(forms))}
        rows: list[Any] = db.execute(vocabulary, values).fetchall()
    finally:
        db.close(True)
    held = dict.fromkeys(forms[form] for (form,) in rows)
    return [Finding(path, sought[each], each, None) for each in held]


def _kept(path: Path, sought: set[str], records: Collection[str]) -> set[str]:
    """Return those of ``sought`` that stand in a text of the tables ``records``."""
    if not sought or not records:
        return set()
    db = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        values = {"records": json_column.encode(sorted(records))}
        columns: list[Any] = db.execute(_TEXTS, values).fetchall()
        return {each for each in sought if any(_holds(db, column, each) for column in columns)}
    finally:
        db.close(True)


def _holds(db: apsw.Connection, column: tuple[str, str], sought: str) -> bool:
    """Say whether a text of the column holds ``sought``; the names are those of the schema."""
    table, name = column
    held = f'instr(lower(t."{name}"), form.value)'
    sql = f'SELECT 1 FROM "{table}" AS t, json_each(:forms) AS form WHERE {held} LIMIT 1'
    forms = sorted({form.encode().lower().decode() for form in _forms(sought)})
    return db.execute(sql, {"forms": json_column.encode(forms)}).get is not None
