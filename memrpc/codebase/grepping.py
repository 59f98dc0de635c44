"""Looking for text in the files as they are now.

A plain text in ASCII is found in the lowered bytes of a file, which no engine does faster.  All
else goes to RE2: its time is linear in the text whatever the pattern, and it lets other threads
run meanwhile.  What it cannot do (backreferences, looking around) it refuses, with its reason.
"""

from __future__ import annotations

import os
from collections import defaultdict
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from memrpc.codebase import source
from memrpc.store.errors import InvalidArguments

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from memrpc.codebase.files import Source

    Finder = Callable[[bytes], Iterator[int]]

MAX_PATTERN_CHARS: Final = 1_000
MAX_LINES: Final = 10_000
"""More matching lines than this are not counted."""
SNIPPET_CHARS: Final = 160
_MAX_MARK_LINES: Final = 20
_LEAD_CHARS: Final = 40
_MEMORY_BYTES: Final = 64 << 20
_READ_ONLY: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Neither a link nor a pipe that took a file's place is waited for."""


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


def finder(request: GrepRequest) -> Finder:
    """What finds the request's lines, whatever their case unless a pattern says ``(?-i)``.

    Raises InvalidArguments with what the engine has against a pattern.
    """
    if len(request.content) > MAX_PATTERN_CHARS:
        raise InvalidArguments(
            f"content is longer than {MAX_PATTERN_CHARS} characters; look for a part of it.",
            field="content",
            reason="INVALID_REGEX",
        )
    if request.content.isascii() and not request.regex:
        return partial(_lines_with, request.content.lower().encode())
    return partial(_lines_like, _compiled(request))


def _compiled(request: GrepRequest) -> Any:  # noqa: ANN401 -- the engine has no types
    import re2

    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = False
    options.max_mem = _MEMORY_BYTES
    options.one_line = False
    options.never_nl = request.regex
    options.never_capture = True
    pattern = request.content if request.regex else re2.escape(request.content)
    try:
        re2.compile(pattern.encode(), options)  # By itself: a bracket must not close ours.
        return re2.compile(f"(?m)(?:{pattern})".encode(), options)
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
    find = finder(request)
    found = Grepped([])
    for file in files:
        checkpoint()
        text = _read(root, file, found)
        if text is None:
            continue
        found.scanned += 1
        for start in islice(find(text), MAX_LINES - found.total):
            found.total += 1
            if request.offset < found.total <= request.offset + request.limit:
                found.lines.append(_line(file, text, start))
        if found.total >= MAX_LINES:
            break
    return found


def _read(root: str, file: Source, found: Grepped) -> bytes | None:
    try:
        descriptor = os.open(f"{root}/{file.path}", _READ_ONLY)
    except OSError:
        found.missing += 1
        return None
    try:
        size = os.fstat(descriptor).st_size
        found.changed += size != file.size
        raw = os.read(descriptor, min(size, source.MAX_FILE_BYTES))
        text = source.decode(raw, file.path)
        # One byte is looked for twenty times as fast as two.
        return text.replace(b"\r\n", b"\n") if b"\r" in text else text
    except (OSError, source.Skipped):
        return None
    finally:
        os.close(descriptor)


def _lines_with(wanted: bytes, text: bytes) -> Iterator[int]:
    """Where the first ``wanted``, in small letters, begins in each line that has it."""
    lowered = text.lower()
    start = lowered.find(wanted)
    while start >= 0:
        yield start
        line_end = lowered.find(b"\n", start)
        start = lowered.find(wanted, line_end + 1) if line_end >= 0 else -1


def _lines_like(pattern: Any, text: bytes) -> Iterator[int]:  # noqa: ANN401 -- as above
    """Where the first match of each line that has one begins."""
    end = len(text) - text.endswith(b"\n")  # Behind the last break there is no line.
    match = pattern.search(text, 0, end) if text else None
    while match is not None:
        yield match.start()
        line_end = text.find(b"\n", match.end(), end)
        match = pattern.search(text, line_end + 1, end) if line_end >= 0 else None


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


def decorated(
    root: str,
    files: Sequence[Source],
    places: Iterable[tuple[str, int]],
    *,
    checkpoint: Callable[[], None],
) -> frozenset[tuple[str, int]]:
    """Those of the places, paths with lines, above which a decorator or an attribute stands."""
    lines: dict[str, list[int]] = defaultdict(list)
    for path, line in places:
        lines[path].append(line)
    found = Grepped([])
    marked: set[tuple[str, int]] = set()
    for file in files:
        if file.path in lines:
            checkpoint()
            text = (_read(root, file, found) or b"").split(b"\n")
            wanted = lines[file.path]
            marked.update((file.path, line) for line in wanted if _is_marked(text[: line - 1]))
    return frozenset(marked)


def _is_marked(above: Sequence[bytes]) -> bool:
    """Whether the lines without a gap above a declaration begin with its mark, be it a long one."""
    for line in reversed(above[-_MAX_MARK_LINES:]):
        if line.startswith((b"@", b"#[")):
            return True
        if not line.startswith((b" ", b"\t", b")", b"]", b"}", b"#", b"//")):
            return False
    return False
