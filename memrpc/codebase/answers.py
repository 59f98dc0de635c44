"""What reading the index answers with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

NULLABLE = {"nullable": True}


@dataclass(frozen=True, slots=True)
class Place:
    """A symbol as lists show it."""

    name: str
    kind: str
    file_path: str
    line: int
    end_line: int
    signature: str
    exported: bool
    owner: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """A symbol that matches a search; ``rank_tier`` 1 is the best."""

    name: str
    kind: str
    file_path: str
    line: int
    end_line: int
    signature: str
    exported: bool
    rank_tier: int
    matched_by: str
    score: float
    owner: str | None = None
    repo: str | None = None


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """A page of a search."""

    query: str
    symbols: tuple[Found, ...]
    total: int
    offset: int
    limit: int
    reason: str | None = None
    ids: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Definition:
    """Where a symbol is declared."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Described:
    """A symbol with everything that is known of itself."""

    id: int
    name: str
    kind: str
    owner: str | None
    signature: str
    doc_comment: str | None
    exported: bool
    default_export: bool


@dataclass(frozen=True, slots=True)
class Use:
    """A reference.  ``confidence`` is 1 for a resolved one."""

    file_path: str
    line: int
    column: int
    kind: str
    caller_name: str | None
    certainty: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Relative:
    """A parent or a child."""

    name: str
    kind: str
    line: int


@dataclass(frozen=True, slots=True)
class Trace:
    """Everything about one symbol; ``original_name`` is what was asked, if spelt otherwise."""

    symbol: Described
    definition: Definition
    references: tuple[Use, ...]
    resolved: int
    by_name: int
    offset: int
    parent: Relative | None
    children: tuple[Relative, ...]
    children_total: int
    same_name: int
    other_definitions: tuple[int, ...] = ()
    original_name: str | None = None

    @property
    def total(self) -> int:
        return self.resolved + self.by_name


@dataclass(frozen=True, slots=True)
class Ambiguity:
    """A page of the symbols that a name may mean."""

    name: str
    disambiguation: tuple[Place, ...]
    total: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class FileFacts:
    """A file as the index knows it."""

    path: str
    language: str
    checksum: str
    lines: int
    size_bytes: int
    last_indexed_at: int
    problem: str | None


@dataclass(frozen=True, slots=True)
class FileAnswer:
    """A file and a page of its symbols."""

    file: FileFacts
    symbols: tuple[Place, ...]
    total: int
    offset: int


@dataclass(frozen=True, slots=True)
class Enclosing:
    """The symbol around a line."""

    name: str
    kind: str
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True)
class Match:
    """A line of code."""

    file_path: str
    line: int
    snippet: str
    enclosing_symbol: Enclosing | None = field(default=None, metadata=NULLABLE)


@dataclass(frozen=True, slots=True)
class CodeAnswer:
    """A page of the lines that match."""

    content: str
    regex: bool
    matches: tuple[Match, ...]
    total: int
    total_is_exact: bool
    files_scanned: int
    files_missing: int
    files_changed: int
    offset: int
    limit: int


@dataclass(frozen=True, slots=True)
class Folder:
    """A node of the tree; files are counted, and folders below the depth too."""

    path: str
    files: int
    symbols: int
    children: tuple[Folder, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A symbol that nothing refers to, or one that much refers to."""

    name: str
    kind: str
    file_path: str
    line: int
    references: int


@dataclass(frozen=True, slots=True)
class DeadCode:
    """What seems unused, and how much that is worth."""

    unreferenced: tuple[Candidate, ...]
    total: int
    scanned: int
    excluded: Mapping[str, int]
    reliable: tuple[str, ...]
    unreliable: tuple[str, ...]
    coverage_note: str


@dataclass(frozen=True, slots=True)
class Architecture:
    """A repository from above."""

    root: Folder
    total_files: int
    total_symbols: int
    languages: Mapping[str, int]
    exports: tuple[Place, ...]
    exports_total: int
    dead_code: DeadCode
    hotspots: tuple[Candidate, ...]


@dataclass(frozen=True, slots=True)
class Staleness:
    """How far the files have moved on since the index was made."""

    stale: bool
    changed: int
    missing: int
    added: int
    stale_ratio: float


@dataclass(frozen=True, slots=True)
class Status:
    """What is known about a repository's index."""

    owner: str
    repo: str
    is_indexed: bool
    is_indexing: bool
    root: str | None
    last_indexed_at: int | None
    total_files: int
    total_symbols: int
    progress: Sequence[int] | None = None
    seen_at: int | None = None
    key: int | None = None
    last_run: Mapping[str, object] | None = None
    is_outdated: bool = False  # another version has read the files
