"""Transfer: an import of JSON Lines, a record a line, whatever part of the file takes it.

A part offers a ``Reader``: what it does with each type of record, and how it ties what records say
of each other once all lines are in, whatever their order.  An import may be repeated: what is
already here under the same id is known, and what was forgotten here stays forgotten.

A bad line is named by its number.  Unless bad lines are to be skipped the first one raises, and
the caller's transaction is rolled back, so that nothing is imported.

Lines come in portions, which need not share a transaction: what a portion says of itself is settled
at its end, and what only the whole can tell when all are in.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import apsw

from memrpc.store import json_column
from memrpc.store.errors import DomainError, InvalidArguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

E = TypeVar("E", bound=Enum)
FORMAT: Final = 1
HEADER: Final = "archive"
"""The type of the first line, which names the format."""

Record: TypeAlias = "Mapping[str, Any]"
Tie: TypeAlias = Any
"""What a record says of others, in the words of its reader."""
Importer: TypeAlias = "Callable[[apsw.Connection, Record], tuple[Outcome, Sequence[Tie]]]"
Settle: TypeAlias = "Callable[[apsw.Connection, list[tuple[int, Tie]]], None]"
Finish: TypeAlias = "Callable[[apsw.Connection, list[tuple[int, Tie]]], Iterable[BadLine]]"
Portion: TypeAlias = "list[tuple[int, str]]"
"""Lines with their numbers."""
PORTION_LINES: Final = 250
PORTION_CHARS: Final = 250_000
"""About a tenth of a second's work."""
_BAD: Final = (
    DomainError,
    ValueError,
    TypeError,
    AttributeError,
    KeyError,
    OverflowError,
    apsw.ConstraintError,
    apsw.TooBigError,
)


class Outcome(Enum):
    """What became of a good line."""

    IMPORTED = "imported"
    KNOWN = "known"
    FORGOTTEN = "forgotten"
    HEADER = "header"


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that was not imported, or not tied to another, and why."""

    number: int
    message: str


@dataclass(frozen=True, slots=True)
class Reader:
    """A part's types of records, and what it does with the ties of a portion and of all lines."""

    importers: Mapping[str, Importer]
    finish: Finish
    settle: Settle = lambda _db, _ties: None


@dataclass(frozen=True, slots=True)
class Report:
    """What an import did."""

    imported: int
    known: int
    forgotten: int
    bad: tuple[BadLine, ...]


def header() -> str:
    """Return the first line of an export."""
    return json_column.encode({"type": HEADER, "format": FORMAT})


class Import:
    """An import under way."""

    def __init__(self, readers: Sequence[Reader], *, skip_bad: bool = False) -> None:
        self._readers = readers
        self._skip_bad = skip_bad
        self._outcomes: Counter[Outcome] = Counter()
        self._bad: list[BadLine] = []
        self._ties: list[list[tuple[int, Tie]]] = [[] for _ in readers]

    def take(self, db: apsw.Connection, portion: Portion) -> None:
        """Add what the lines say and this file does not have.

        Raises InvalidArguments, naming line and cause, at the first bad line unless they are
        skipped.
        """
        begun = [len(ties) for ties in self._ties]
        for number, line in portion:
            if text := line.strip().removeprefix("\ufeff"):
                self._take_line(db, number, text)
        for reader, ties, start in zip(self._readers, self._ties, begun, strict=True):
            reader.settle(db, ties[start:])

    def finish(self, db: apsw.Connection) -> Report:
        """Tie what the lines say of each other, and report.

        Raises InvalidArguments for a line that cannot be tied unless bad lines are skipped.
        """
        for reader, ties in zip(self._readers, self._ties, strict=True):
            for bad in reader.finish(db, ties):
                self._note(bad)
        return Report(
            imported=self._outcomes[Outcome.IMPORTED],
            known=self._outcomes[Outcome.KNOWN],
            forgotten=self._outcomes[Outcome.FORGOTTEN],
            bad=tuple(self._bad),
        )

    def _take_line(self, db: apsw.Connection, number: int, text: str) -> None:
        try:
            with db:  # a savepoint: a bad line leaves nothing behind
                place, outcome, found = _import_line(db, text, self._readers)
        except _BAD as error:
            self._note(BadLine(number, cause(error)))
        else:
            self._outcomes[outcome] += 1
            self._ties[place] += [(number, tie) for tie in found]

    def _note(self, bad: BadLine) -> None:
        if not self._skip_bad:
            raise InvalidArguments(
                f"Line {bad.number} is bad: {bad.message} Nothing was imported.", line=bad.number
            )
        self._bad.append(bad)


def import_lines(
    db: apsw.Connection,
    lines: Iterable[str],
    readers: Sequence[Reader],
    *,
    skip_bad: bool = False,
) -> Report:
    """Import the lines in the caller's transaction.  Raises InvalidArguments as ``Import`` does."""
    running = Import(readers, skip_bad=skip_bad)
    for portion in portions(lines):
        running.take(db, portion)
    return running.finish(db)


def portions(lines: Iterable[str]) -> Iterator[Portion]:
    """Number the lines and yield them in portions, at least one."""
    portion: Portion = []
    chars = 0
    for number, line in enumerate(lines, 1):
        portion.append((number, line))
        chars += len(line)
        if len(portion) == PORTION_LINES or chars >= PORTION_CHARS:
            yield portion
            portion, chars = [], 0
    yield portion


def _import_line(
    db: apsw.Connection, text: str, readers: Sequence[Reader]
) -> tuple[int, Outcome, Sequence[Tie]]:
    """Give the record to the reader of its type, and say which one that was."""
    record = json_column.decode_object(text)
    kind = record.get("type")
    if kind == HEADER:
        _check_header(record)
        return 0, Outcome.HEADER, ()
    for place, reader in enumerate(readers):
        if kind in reader.importers:
            return place, *reader.importers[str(kind)](db, record)
    known = ", ".join([HEADER, *(name for reader in readers for name in reader.importers)])
    raise InvalidArguments(f"type is {kind!r}; it must be one of {known}.")


def _check_header(record: Record) -> None:
    if record["format"] != FORMAT:
        raise InvalidArguments(f"format is {record['format']!r} and this memrpc reads {FORMAT}.")


def cause(error: Exception) -> str:
    """Say what is wrong without showing the line."""
    match error:
        case DomainError():
            return error.message
        case KeyError():
            return f"the field {error} is missing."
        case TypeError() | AttributeError():
            return "a value has the wrong type."
        case OverflowError():
            return "a number is too large."
        case apsw.Error():
            return f"it breaks a rule of the file ({error})."
        case _:
            return "it is not the JSON of a record."


def text(record: Record, name: str) -> str:
    """Return a field that must be text."""
    value = record[name]
    if not isinstance(value, str):
        raise InvalidArguments(f"{name} must be text.", field=name)
    return value


def texts(record: Record, name: str) -> tuple[str, ...]:
    """Return a field that must be a list of texts."""
    value = record[name]
    if not (isinstance(value, list) and all(isinstance(each, str) for each in value)):
        raise InvalidArguments(f"{name} must be a list of texts.", field=name)
    return tuple(value)


def flag(record: Record, name: str) -> bool:
    """Return a field that must be true or false."""
    value = record[name]
    if not isinstance(value, bool):
        raise InvalidArguments(f"{name} must be true or false.", field=name)
    return value


def number(record: Record, name: str) -> float:
    """Return a field that must be a number."""
    value = record[name]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidArguments(f"{name} must be a number.", field=name)
    return float(value)


def choice(record: Record, name: str, kind: type[E]) -> E:
    """Return a field that must be the value of one of ``kind``."""
    for each in kind:
        if each.value == record[name]:
            return each
    known = ", ".join(str(each.value) for each in kind)
    raise InvalidArguments(f"{name} must be one of {known}.", field=name)
