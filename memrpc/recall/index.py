"""The index: documents in, units and full text out, always in the caller's transaction.

A document becomes one unit, or several chunks when it is long.  A unit has seven columns of
tokens: ``own`` (its words), ``joined`` (glued identifiers), ``head`` (its title, and what ``code``
makes of it), ``prev``, ``next`` and ``near`` (its neighbours in the session, bounded), ``meta``
(date and speaker).  Only a document that is short enough to be one unit carries neighbours: beside
a long one they hide it.

Every token that enters the full-text table begins with its collection (``collection_prefix``).
The tokens without it are kept in ``units``, so that a deletion hands FTS5 exactly what it was
given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memrpc.recall import code, sketches, vectors
from memrpc.recall.chunking import WHOLE_CHARS, Chunk, chunks
from memrpc.recall.dates import date_words
from memrpc.recall.model import Document, Kind
from memrpc.recall.sources import source
from memrpc.recall.text import IndexText, index_text
from memrpc.recall.turns import asks

if TYPE_CHECKING:
    import apsw

CONTEXT_CHARS: Final = 300
COLUMNS: Final = ("own", "joined", "head", "prev", "next", "near", "meta")

SKETCHED: Final = frozenset({Kind.ENTRY, Kind.STANDARD})
"""What is looked for before it is written again."""

_COLLECTION_LETTERS: Final = {
    Kind.EVENT: "e",
    Kind.MEMORY: "m",
    Kind.ENTRY: "n",
    Kind.TASK: "t",
    Kind.STANDARD: "s",
}

UNITS_OF: Final = """
SELECT unit_id, chunk, start, length, scope, occurred_at, session, speaker, role, asks, answers,
       is_code, own, joined, head, prev, next, near, meta
FROM units WHERE kind = :kind AND subject = :subject ORDER BY chunk"""
UNLIKE: Final = (
    "SELECT unit_id FROM units EXCEPT SELECT id FROM unit_text_docsize LIMIT 1",
    "SELECT id FROM unit_text_docsize EXCEPT SELECT unit_id FROM units LIMIT 1",
    """
    SELECT kind, scope, count(*), sum(tokens) FROM units GROUP BY kind, scope
    EXCEPT SELECT kind, scope, units, tokens FROM collections LIMIT 1""",
)
UPSERT_UNIT: Final = """
INSERT INTO units (kind, subject, chunk, scope, start, length, occurred_at, session, speaker, role,
                   asks, answers, is_code, tokens, own, joined, head, prev, next, near, meta)
VALUES (:kind, :subject, :chunk, :scope, :start, :length, :occurred_at, :session, :speaker, :role,
        :asks, :answers, :is_code, :tokens, :own, :joined, :head, :prev, :next, :near, :meta)
ON CONFLICT (kind, subject, chunk) DO UPDATE SET
    scope = excluded.scope, start = excluded.start, length = excluded.length,
    occurred_at = excluded.occurred_at, session = excluded.session, speaker = excluded.speaker,
    role = excluded.role, asks = excluded.asks, answers = excluded.answers,
    is_code = excluded.is_code, tokens = excluded.tokens, own = excluded.own,
    joined = excluded.joined, head = excluded.head, prev = excluded.prev, next = excluded.next,
    near = excluded.near, meta = excluded.meta
RETURNING unit_id"""
DELETE_UNIT: Final = "DELETE FROM units WHERE unit_id = :unit_id"
INSERT_TEXT: Final = """
INSERT INTO unit_text (rowid, own, joined, head, prev, next, near, meta)
VALUES (:unit_id, :own, :joined, :head, :prev, :next, :near, :meta)"""
DELETE_TEXT: Final = """
INSERT INTO unit_text (unit_text, rowid, own, joined, head, prev, next, near, meta)
VALUES ('delete', :unit_id, :own, :joined, :head, :prev, :next, :near, :meta)"""
COUNT: Final = """
INSERT INTO collections (kind, scope, units, tokens) VALUES (:kind, :scope, :units, :tokens)
ON CONFLICT (kind, scope) DO UPDATE
SET units = units + excluded.units, tokens = tokens + excluded.tokens"""
DELETE_ALL_TEXT: Final = "INSERT INTO unit_text (unit_text) VALUES ('delete-all')"
DELETE_ALL_UNITS: Final = "DELETE FROM units"
DELETE_ALL_COLLECTIONS: Final = "DELETE FROM collections"
DUMMY_TEXT: Final = "INSERT INTO unit_text (rowid, own) VALUES (0, :token)"
DELETE_DUMMY_TEXT: Final = """
INSERT INTO unit_text (unit_text, rowid, own) VALUES ('delete', 0, :token)"""
SKETCHABLE: Final = """
SELECT DISTINCT kind, subject FROM units WHERE kind IN ('entry', 'standard')"""
OPTIMIZE: Final = "INSERT INTO unit_text (unit_text) VALUES ('optimize')"

_DUMMY_WORD: Final = "0z0"


@dataclass(frozen=True, slots=True)
class Unit:
    """A row of ``units`` as it should be; ``columns`` are tokens without their collection."""

    kind: str
    subject: int
    chunk: int
    scope: int
    start: int
    length: int
    occurred_at: int
    session: str
    speaker: str
    role: str
    asks: bool
    answers: bool
    is_code: bool
    columns: tuple[str, ...]

    @property
    def tokens(self) -> int:
        """How many tokens all columns have together."""
        return sum(len(column.split()) for column in self.columns)

    def values(self) -> dict[str, str | int]:
        """The row's values by the names that the statements bind."""
        row: dict[str, str | int] = {
            "kind": self.kind,
            "subject": self.subject,
            "chunk": self.chunk,
            "scope": self.scope,
            "start": self.start,
            "length": self.length,
            "occurred_at": self.occurred_at,
            "session": self.session,
            "speaker": self.speaker,
            "role": self.role,
            "asks": self.asks,
            "answers": self.answers,
            "is_code": self.is_code,
            "tokens": self.tokens,
        }
        return row | dict(zip(COLUMNS, self.columns, strict=True))


def collection_prefix(kind: str, scope: int) -> str:
    """What each token of a collection begins with; no prefix is the beginning of another."""
    return f"{_COLLECTION_LETTERS[Kind(kind)]}{scope}z"


def put(db: apsw.Connection, document: Document, *, is_new: bool = False) -> None:
    """Index ``document`` in place of whatever its (kind, subject) had; unchanged units stay.

    Of a new subject nothing is looked for.
    """
    stored = {} if is_new else _stored(db, document.kind, document.subject)
    units = units_of(document)
    _sketch(db, [unit for _, unit in stored.values()], units)
    for unit in units:
        known = stored.pop(unit.chunk, None)
        unit_id = _replace(db, known, unit)
        text = source(document, unit.start, unit.length)
        vectors.note(db, unit_id, text, is_new=known is None)
    _delete(db, stored)


def remove(db: apsw.Connection, kind: str, subject: int) -> None:
    """Take a subject out of the index; the last traces go with the purge (see ``scrub``)."""
    stored = _stored(db, kind, subject)
    _sketch(db, [unit for _, unit in stored.values()], [])
    _delete(db, stored)


def clear(db: apsw.Connection) -> None:
    """Empty the index."""
    for statement in (DELETE_ALL_TEXT, DELETE_ALL_UNITS, DELETE_ALL_COLLECTIONS):
        db.execute(statement).fetchall()
    vectors.forget_all(db)
    sketches.clear(db)


def is_whole(db: apsw.Connection) -> bool:
    """Say whether units, full text and what is counted of them agree."""
    return not any(db.execute(statement).fetchall() for statement in UNLIKE)


def scrub(db: apsw.Connection) -> None:
    """Rewrite the full text so that no fragment of a removed term stays in it.

    Runs outside a transaction: SQLite's own notes on the segment index say that a separator made
    from a removed term goes only when several segments are merged, so the index is first given a
    second segment by a row that comes and goes in transactions of their own.
    """
    db.execute(DUMMY_TEXT, {"token": _DUMMY_WORD}).fetchall()
    db.execute(DELETE_DUMMY_TEXT, {"token": _DUMMY_WORD}).fetchall()
    db.execute(OPTIMIZE).fetchall()


def units_of(document: Document) -> list[Unit]:
    """The units that ``document`` makes."""
    is_whole = len(document.text) < WHOLE_CHARS
    context = _context(document) if is_whole else ("", "", "")
    code_head = code.head(document.text)
    head = index_text("\n".join(filter(None, (document.head, code_head))))
    meta = _meta(document)
    return [
        _unit(document, number, chunk, head, (*context, meta), is_code=bool(code_head))
        for number, chunk in enumerate(chunks(document.text))
    ]


def _unit(
    document: Document,
    number: int,
    chunk: Chunk,
    head: IndexText,
    rest: tuple[str, ...],
    *,
    is_code: bool,
) -> Unit:
    own = index_text(chunk.text)
    joined = " ".join(filter(None, (own.joined, head.joined)))
    is_turn = document.kind == Kind.EVENT
    return Unit(
        kind=document.kind,
        subject=document.subject,
        chunk=number,
        scope=document.scope,
        start=chunk.start,
        length=len(chunk.text),
        occurred_at=document.occurred_at,
        session=document.session,
        speaker=document.speaker,
        role=document.role,
        asks=is_turn and asks(document.text),
        answers=is_turn and any(map(asks, document.before[:1])),
        is_code=is_code,
        columns=(own.parts, joined, head.parts, *rest),
    )


def _context(document: Document) -> tuple[str, str, str]:
    """Columns ``prev``, ``next`` and ``near``."""
    before = [index_text(text[-CONTEXT_CHARS:]).parts for text in document.before[:2]]
    after = [index_text(text[:CONTEXT_CHARS]).parts for text in document.after[:2]]
    near = " ".join(before[1:] + after[1:])
    return "".join(before[:1]), "".join(after[:1]), near


def _meta(document: Document) -> str:
    words = index_text(f"{date_words(document.occurred_at)} {document.speaker}")
    return " ".join(filter(None, (words.parts, words.joined)))


def _stored(db: apsw.Connection, kind: str, subject: int) -> dict[int, tuple[int, Unit]]:
    """Chunk -> (unit_id, the unit as it was indexed)."""
    rows: list[Any] = db.execute(UNITS_OF, {"kind": kind, "subject": subject}).fetchall()
    found: dict[int, tuple[int, Unit]] = {}
    for unit_id, chunk, start, length, scope, at, session, speaker, role, *rest in rows:
        asking, answering, coding, *columns = rest
        place, said_by = (kind, subject, chunk, scope, start, length), (at, session, speaker, role)
        does = bool(asking), bool(answering), bool(coding)
        unit = Unit(*place, *said_by, *does, tuple(columns))
        found[chunk] = (unit_id, unit)
    return found


def sketch_everything(db: apsw.Connection) -> None:
    """Sketch what is looked for before it is written again, in a file that has no sketches yet."""
    sketches.clear(db)
    rows: list[Any] = db.execute(SKETCHABLE).fetchall()
    for kind, subject in rows:
        _sketch(db, [], [unit for _, unit in _stored(db, kind, subject).values()])


def _sketch(db: apsw.Connection, before: list[Unit], after: list[Unit]) -> None:
    """Keep the sketch of a subject's units in place of the one that it had."""
    old, new = _marks(before), _marks(after)
    if old == new:
        return
    subject = (before or after)[0].subject
    if old:
        sketches.remove(db, subject, old)
    if new:
        sketches.add(db, subject, new)


def _marks(units: list[Unit]) -> list[int]:
    if not units or units[0].kind not in SKETCHED:
        return []
    own = " ".join(unit.columns[0] for unit in units)
    return sketches.marks(own, collection_prefix(units[0].kind, units[0].scope))


def _delete(db: apsw.Connection, stored: dict[int, tuple[int, Unit]]) -> None:
    for unit_id, unit in stored.values():
        _withdraw(db, unit_id, unit)
        vectors.forget(db, unit_id)
        db.execute(DELETE_UNIT, {"unit_id": unit_id}).fetchall()


def _replace(db: apsw.Connection, stored: tuple[int, Unit] | None, unit: Unit) -> int:
    """Index ``unit`` where it is not what is stored; a vector never leaves its collection."""
    if stored is None:
        return _enter(db, unit)
    unit_id, known = stored
    if known != unit:
        _withdraw(db, unit_id, known)
        if known.scope != unit.scope:
            vectors.forget(db, unit_id)
        _enter(db, unit)
    return unit_id


def _enter(db: apsw.Connection, unit: Unit) -> int:
    values = unit.values()
    unit_id: int = db.execute(UPSERT_UNIT, values).get
    db.execute(INSERT_TEXT, _text_values(unit_id, unit)).fetchall()
    _count(db, unit, 1)
    return unit_id


def _withdraw(db: apsw.Connection, unit_id: int, unit: Unit) -> None:
    db.execute(DELETE_TEXT, _text_values(unit_id, unit)).fetchall()
    _count(db, unit, -1)


def _text_values(unit_id: int, unit: Unit) -> dict[str, str | int]:
    prefix = collection_prefix(unit.kind, unit.scope)
    columns = (_prefixed(column, prefix) for column in unit.columns)
    return {"unit_id": unit_id, **dict(zip(COLUMNS, columns, strict=True))}


def _prefixed(tokens: str, prefix: str) -> str:
    return prefix + tokens.replace(" ", f" {prefix}") if tokens else ""


def _count(db: apsw.Connection, unit: Unit, sign: int) -> None:
    change = {"units": sign, "tokens": sign * unit.tokens}
    db.execute(COUNT, {"kind": unit.kind, "scope": unit.scope, **change}).fetchall()
