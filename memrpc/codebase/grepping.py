"""Looking for text in the files as they are now.

The engine is RE2: its time is linear in the text whatever the pattern, and it lets other threads
run meanwhile.  What it cannot do (backreferences, looking around) it refuses, with its reason.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.codebase import source
from memrpc.store.errors import InvalidArguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from memrpc.codebase.files import Source

MAX_PATTERN_CHARS: Final = 1_000
MAX_LINES: Final = 20_000
"""More matching lines than this are not counted."""
SNIPPET_CHARS: Final = 160
_LEAD_CHARS: Final = 40
_MEMORY_BYTES: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class GrepRequest:
    """What to look for, and which page of it is wanted."""

    content: str
    regex: bool = False
    limit: int = 20
    offset: int = 0


class Line(NamedTuple):
    """A line that matches."""

    file: Source
    number: int
    snippet: str


@dataclass(slots=True)
class Grepped:
    """What a look into the files has found."""

    lines: list[Line]
    total: int = 0
    scanned: int = 0
    missing: int = 0
    changed: int = 0

    @property
    def is_exact(self) -> bool:
        return self.total < MAX_LINES


def compile_pattern(request: GrepRequest) -> Any:  # noqa: ANN401 -- the engine has no types
    """The pattern, made to ignore case unless it says ``(?-i)``.

    Raises InvalidArguments with what the engine has against it.
    """
    import re2

    if len(request.content) > MAX_PATTERN_CHARS:
        raise InvalidArguments(
            f"content is longer than {MAX_PATTERN_CHARS} characters; look for a part of it.",
            field="content",
            reason="INVALID_REGEX",
        )
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = False
    options.max_mem = _MEMORY_BYTES
    options.one_line = False
    options.never_nl = True
    pattern = request.content if request.regex else re2.escape(request.content)
    try:
        re2.compile(pattern.encode(), options)  # By itself: a bracket must not close ours.
        return re2.compile(f"(?m)(?:{pattern})[^\\n]*".encode(), options)
    except re2.error as error:
        why = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        raise InvalidArguments(
            f"The pattern {request.content!r} is refused: {why}. Patterns are RE2: without "
            "lookaround and backreferences; or leave regex out to look for the text itself.",
            field="content",
            reason="INVALID_REGEX",
        ) from error


def grep(
    root: str,
    files: Sequence[Source],
    request: GrepRequest,
    *,
    checkpoint: Callable[[], None],
) -> Grepped:
    """The page of matching lines, in the order of the files; counts everything that matches.

    ``checkpoint`` is called between files and raises when nobody waits any more.
    """
    pattern = compile_pattern(request)
    found = Grepped([])
    for file in files:
        checkpoint()
        text = _read(root, file, found)
        if text is None:
            continue
        found.scanned += 1
        for start in _matching_lines(pattern, text):
            found.total += 1
            if request.offset < found.total <= request.offset + request.limit:
                found.lines.append(_line(file, text, start))
        if found.total >= MAX_LINES:
            break
    return found


def _read(root: str, file: Source, found: Grepped) -> bytes | None:
    try:
        descriptor = os.open(f"{root}/{file.path}", os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        found.missing += 1
        return None
    with os.fdopen(descriptor, "rb") as opened:
        about = os.fstat(descriptor)
        found.changed += about.st_size != file.size
        raw = opened.read(source.MAX_FILE_BYTES)
    try:
        return source.decode(raw, file.path)
    except source.Skipped:
        return None


def _matching_lines(pattern: Any, text: bytes) -> Iterator[int]:  # noqa: ANN401 -- as above
    """Where the first match of each line that has one begins; a match takes its line's rest."""
    next_line = 0
    for match in pattern.finditer(text):
        start, end = match.span()
        if next_line <= start < len(text):
            next_line = end + 1
            yield start


def _line(file: Source, text: bytes, start: int) -> Line:
    line_start = text.rfind(b"\n", 0, start) + 1
    line_end = text.find(b"\n", start)
    whole = text[line_start : line_end if line_end >= 0 else len(text)].decode("utf-8", "replace")
    before = text[line_start:start].decode("utf-8", "replace")
    snippet = whole.strip()
    if len(snippet) > SNIPPET_CHARS:
        begin = max(0, len(before) - (len(whole) - len(whole.lstrip())) - _LEAD_CHARS)
        snippet = ("…" if begin else "") + snippet[begin : begin + SNIPPET_CHARS] + "…"
    return Line(file, text.count(b"\n", 0, line_start) + 1, snippet)


def count_words(
    root: str, files: Sequence[Source], names: Sequence[str], *, checkpoint: Callable[[], None]
) -> dict[str, int]:
    """How often each name stands as a word in the files; more than a few is all the same."""
    import re2

    if not names:
        return {}
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY_BYTES
    alternatives = "|".join(re2.escape(name) for name in sorted(names, key=len, reverse=True))
    pattern = re2.compile(rf"\b(?:{alternatives})\b".encode(), options)
    counts = dict.fromkeys(names, 0)
    found = Grepped([])
    for file in files:
        checkpoint()
        text = _read(root, file, found)
        for match in pattern.finditer(text) if text else ():
            counts[match.group().decode()] += 1
    return counts
