"""Cut a byte stream into lines at 0x0A, and at nothing else.

U+2028, a lone CR and NEL are JSON white space or text, never line ends, so the bytes are split
before anything is decoded.  A line above the limit is skipped to its end while it arrives: it
costs no memory, is reported once with its two ends, and the connection lives.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

MAX_LINE_BYTES: Final = 16 * 1024 * 1024
EDGE_BYTES: Final = 256
_BOM: Final = b"\xef\xbb\xbf"


class Overlong(NamedTuple):
    """Stands where a line above the limit stood; it began and ended like this."""

    head: bytes
    tail: bytes


class LineSplitter:
    """Feed chunks as they arrive, take whole lines without their line ends.

    Blank lines are dropped, a trailing CR is stripped, and so is a byte order mark at the very
    start of the stream.
    """

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._max = max_line_bytes
        self._parts: list[bytes] = []
        self._held = 0
        self._skipped: Overlong | None = None
        self._at_start = True

    @property
    def held_bytes(self) -> int:
        """Bytes of the unfinished line."""
        return self._held

    def feed(self, chunk: bytes) -> Iterator[bytes | Overlong]:
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            if line := self._finish(piece):
                yield line
        self._hold(rest)

    def finish(self) -> Iterator[bytes | Overlong]:
        """The last line, if the stream ended without a line end."""
        if line := self._finish(b""):
            yield line

    def _hold(self, piece: bytes) -> None:
        if not piece:
            return
        if self._skipped is not None:
            tail = (self._skipped.tail + piece)[-EDGE_BYTES:]
            self._skipped = self._skipped._replace(tail=tail)
            return
        self._parts.append(piece)
        self._held += len(piece)
        if self._held > self._max:
            line = self._take()
            self._skipped = Overlong(line[:EDGE_BYTES], line[-EDGE_BYTES:])

    def _finish(self, piece: bytes) -> bytes | Overlong:
        """The line that ``piece`` ends; empty if it is blank."""
        if self._held or self._skipped or len(piece) > self._max:
            self._hold(piece)
            if self._skipped is not None:
                skipped, self._skipped = self._skipped, None
                return skipped
            piece = self._take()
        if self._at_start:
            self._at_start = False
            piece = piece.removeprefix(_BOM)
        return piece.strip(b" \t\r")

    def _take(self) -> bytes:
        line = b"".join(self._parts)
        self._parts.clear()
        self._held = 0
        return line
