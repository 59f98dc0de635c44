"""The code index's values and closed sets."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Final, NamedTuple

FILE_BITS: Final = 18
"""A symbol's, reference's or link's id is its file's id shifted by this, plus its ordinal."""
MAX_ORDINAL: Final = (1 << FILE_BITS) - 1
OUTSIDE: Final = 0
"""The target of a link that leads out of the repository."""


class Kind(enum.StrEnum):
    """What a symbol is."""

    FUNCTION = "function"
    CLASS = "class"
    INTERFACE = "interface"
    TYPE = "type"
    ENUM = "enum"
    VARIABLE = "variable"
    METHOD = "method"
    PROPERTY = "property"
    CONSTANT = "constant"
    MODULE = "module"
    HEADING1 = "heading1"
    HEADING2 = "heading2"
    HEADING = "heading"
    CODE_BLOCK = "code_block"


CONTAINERS: Final = frozenset({Kind.CLASS, Kind.INTERFACE, Kind.ENUM, Kind.TYPE})
"""What makes the functions directly inside it methods."""
CALLABLE: Final = frozenset({Kind.FUNCTION, Kind.METHOD})
TITLES: Final = frozenset({Kind.HEADING1, Kind.HEADING2, Kind.HEADING, Kind.CODE_BLOCK})
"""What is named by a line of prose and not by an identifier."""


class Edge(enum.StrEnum):
    """How a reference uses its name."""

    CALL = "call"
    INSTANTIATION = "instantiation"
    IMPORT = "import"
    EXTENDS = "extends"
    IMPLEMENTS = "implements"


class Certainty(enum.StrEnum):
    """Whether a reference is known to mean a symbol, or only has its name."""

    RESOLVED = "resolved"
    BY_NAME = "by_name"


class Skip(enum.StrEnum):
    """Why a file that discovery met is not in the index."""

    GITIGNORED = "gitignored"
    EXCLUDED = "excluded"
    SYMLINK = "symlink"
    SPECIAL = "special"
    OVERSIZED = "oversized"
    MINIFIED = "minified"
    BINARY = "binary"
    UNREADABLE = "unreadable"
    ODD_NAME = "odd_name"


class Symbol(NamedTuple):
    """A declaration.  Lines and columns count from 1, columns in bytes; ``parent`` is an ordinal.

    ``start_line`` is where the declaration begins, ``name_line`` where its name stands.
    """

    name: str
    kind: str
    owner: str | None
    parent: int | None
    exported: bool
    default_export: bool
    start_line: int
    start_col: int
    end_line: int
    end_col: int
    name_line: int
    name_col: int
    signature: str
    doc: str | None


class Reference(NamedTuple):
    """Uses of a name that differ in nothing but their places.

    ``caller`` and ``local`` are symbols' ordinals, ``link`` a link's.  ``spots`` has the line and
    the column of each use: ``3:5 8:9``.
    """

    name: str
    kind: str
    is_member: bool
    caller: int | None
    local: int | None
    link: int | None
    uses: int
    spots: str


class Meant(NamedTuple):
    """What uses have in common."""

    name: str
    kind: str
    is_member: bool
    caller: int | None
    local: int | None
    link: int | None


class Link(NamedTuple):
    """Something that a file takes from another one: ``member`` of ``name`` of ``module``.

    ``name`` is empty for the module itself and ``*`` for all of it.  ``alias`` is what the file
    calls it where an import statement binds it; a use through an imported module has none.
    """

    module: str
    name: str
    member: str
    alias: str | None
    line: int
    reexports: bool


class Extract(NamedTuple):
    """What one file holds."""

    symbols: list[Symbol]
    references: list[Reference]
    links: list[Link]
    has_errors: bool


@dataclass(frozen=True, slots=True)
class Repository:
    """An indexed repository."""

    id: int
    owner: str
    name: str
    root: str
    indexed_at: int | None
