"""Transfer: an import of JSON Lines, a record a line, whatever part of the file takes it.

A part offers a ``Reader``: what it does with each type of record, and how it ties what records say
of each other once all lines are in, whatever their order.  An import may be repeated: what is
already here under the same id is known, and what was forgotten here stays forgotten.

A bad line is named by its number.  Unless bad lines are to be skipped the first one raises, and
the caller's transaction is rolled back, so that nothing is imported.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import apsw

from memrpc.store import json_column
from memrpc.store.errors import DomainError, InvalidArguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

FORMAT: Final = 1
HEADER: Final = "archive"
"""The type of the first line, which names the format."""

Record: TypeAlias = "Mapping[str, Any]"
Tie: TypeAlias = Any
"""What a record says of others, in the words of its reader."""
Importer: TypeAlias = "Callable[[apsw.Connection, Record], tuple[Outcome, Sequence[Tie]]]"
Finish: TypeAlias = "Callable[[apsw.Connection, list[tuple[int, Tie]]], Iterable[BadLine]]"
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
    """A part's types of records, and what it does when all are in, with the ties by line."""

    importers: Mapping[str, Importer]
    finish: Finish


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


def import_lines(
    db: apsw.Connection,
    lines: Iterable[str],
    readers: Sequence[Reader],
    *,
    skip_bad: bool = False,
) -> Report:
    """Add what the lines say and this file does not have.

    Raises InvalidArguments, naming line and cause, at the first bad line unless ``skip_bad``.
    """
    outcomes: Counter[Outcome] = Counter()
    bad: list[BadLine] = []
    ties: list[list[tuple[int, Tie]]] = [[] for _ in readers]
    for number, line in enumerate(lines, 1):
        text = line.strip().removeprefix("\ufeff")
        if not text:
            continue
        try:
            with db:  # a savepoint: a bad line leaves nothing behind
                place, outcome, found = _import_line(db, text, readers)
        except _BAD as error:
            bad.append(BadLine(number, cause(error)))
            if not skip_bad:
                raise _refusal(bad[0]) from error
        else:
            outcomes[outcome] += 1
            ties[place] += [(number, tie) for tie in found]
    for reader, found_by_line in zip(readers, ties, strict=True):
        bad += reader.finish(db, found_by_line)
    if bad and not skip_bad:
        raise _refusal(bad[0])
    return Report(
        imported=outcomes[Outcome.IMPORTED],
        known=outcomes[Outcome.KNOWN],
        forgotten=outcomes[Outcome.FORGOTTEN],
        bad=tuple(bad),
    )


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


def _refusal(bad: BadLine) -> InvalidArguments:
    return InvalidArguments(
        f"Line {bad.number} is bad: {bad.message} Nothing was imported.", line=bad.number
    )


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
