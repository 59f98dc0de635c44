"""Looking at one file: read, compared, parsed; and how orders and outcomes go through pipes.

Frames are pickles behind their length: first the ``Order``, then lists of ``Task``; each task is
answered by one ``Outcome``, in order.
"""

from __future__ import annotations

import os
import pickle
import struct
from hashlib import blake2b
from typing import IO, TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.codebase import extraction, languages, source, words
from memrpc.codebase.model import CALLABLE, CONTAINERS, Extract, Skip, Symbol

if TYPE_CHECKING:
    from collections.abc import Iterator

DIGEST_BYTES: Final = 16
GC_THRESHOLD: Final = 50_000
"""Objects between two looks for cycles: trees and rows are many and make none."""
_LENGTH: Final = struct.Struct("<I")


class Order(NamedTuple):
    """What holds for all tasks.  ``vanished`` is what files held that may have been renamed."""

    root: str
    time_limit_s: int
    vanished: frozenset[Content]


class Content(NamedTuple):
    """What is kept when a file is renamed: its digest, and the language that its path promises."""

    language: str | None
    digest: bytes


class Task(NamedTuple):
    """A file to look at.

    ``known`` is the digest of what is indexed, empty to parse anyway.  A file that is not ``fresh``
    may be one that was renamed.
    """

    path: str
    language: str
    known: bytes
    is_fresh: bool = False


class Stamp(NamedTuple):
    """What tells that a file was changed, short of reading it."""

    size: int
    mtime_ns: int
    ctime_ns: int


class Rows(NamedTuple):
    """What one file holds, as it will be stored: plain tuples go through pipes thrice as fast."""

    symbols: list[tuple[Any, ...]]
    references: list[tuple[Any, ...]]
    links: list[tuple[Any, ...]]


_NO_ROWS: Final = Rows([], [], [])


class Outcome(NamedTuple):
    """What became of a task: skipped, unchanged, renamed or parsed, as ``state`` says."""

    task: Task
    state: str
    stamp: Stamp | None = None
    digest: bytes = b""
    language: str = ""
    lines: int = 0
    problem: str | None = None
    rows: Rows = _NO_ROWS
    words: tuple[tuple[str, str], ...] = ()
    """Of each symbol its name's and its texts' words."""


def write_frame(file: IO[bytes], value: object) -> None:
    """Send a value."""
    body = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    file.write(_LENGTH.pack(len(body)) + body)
    file.flush()


def read_frames(file: IO[bytes]) -> Iterator[Any]:
    """Every value until the other side is gone."""
    while len(head := file.read(_LENGTH.size)) == _LENGTH.size:
        body = file.read(_LENGTH.unpack(head)[0])
        if len(body) < _LENGTH.unpack(head)[0]:
            return
        yield pickle.loads(body)  # noqa: S301 -- from our own process


def look_at(order: Order, task: Task) -> Outcome:
    """Read one file and parse it if its content is new."""
    try:
        stamp, raw = _read(f"{order.root}/{task.path}")
    except source.Skipped as skipped:
        return Outcome(task, "skipped", problem=skipped.reason.value)
    except FileNotFoundError:
        return Outcome(task, "vanished")
    except OSError:
        return Outcome(task, "skipped", problem=Skip.UNREADABLE.value)
    digest = blake2b(raw, digest_size=DIGEST_BYTES).digest()
    if digest == task.known:
        return Outcome(task, "unchanged", stamp, digest)
    if Content(task.language, digest) in order.vanished and not task.is_fresh:
        return Outcome(task, "renamed", stamp, digest)
    return _parse(task, stamp, digest, raw)


def _read(path: str) -> tuple[Stamp, bytes]:
    """The stamp is older than the content, so a change in between is noticed the next time."""
    with open(path, "rb") as file:  # noqa: PTH123 -- a path may hold what pathlib would mend
        found = os.fstat(file.fileno())
        if found.st_size > source.MAX_FILE_BYTES:
            raise source.Skipped(Skip.OVERSIZED)
        return Stamp(found.st_size, found.st_mtime_ns, found.st_ctime_ns), file.read()


def _parse(task: Task, stamp: Stamp, digest: bytes, raw: bytes) -> Outcome:
    language = languages.of_content(task.language, task.path, raw)
    try:
        is_script = languages.BY_NAME[language].resolver == "javascript"
        data = source.decode(raw, task.path, may_be_minified=is_script or _is_style(task.path))
    except source.Skipped as skipped:
        return Outcome(task, "skipped", stamp, digest, problem=skipped.reason.value)
    extract = extraction.extract(data, languages.BY_NAME[language])
    lines = data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
    problem = "syntax" if extract.has_errors else None
    found = tuple(
        (words.name_words(each.name), words.text_words(_said(each))) for each in extract.symbols
    )
    rows = _rows_of(extract)
    return Outcome(task, "parsed", stamp, digest, language, lines, problem, rows, found)


def _rows_of(extract: Extract) -> Rows:
    parts = (extract.symbols, extract.references, extract.links)
    return Rows(*([tuple(row) for row in part] for part in parts))


def _is_style(path: str) -> bool:
    return path.endswith((".css", ".html", ".htm"))


def _said(symbol: Symbol) -> str:
    """What can be searched beside the name: a variable's line says nothing that is not code."""
    if symbol.kind in CALLABLE or symbol.kind in CONTAINERS:
        return f"{symbol.signature}\n{symbol.doc or ''}"
    return symbol.doc or ""
