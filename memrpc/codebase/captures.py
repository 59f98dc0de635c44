"""What a query's captures say about a file, sorted by what they are about.

The vocabulary of ``queries/*.scm``; each pattern plays one role:

- ``@def.<kind>`` a declaration, with ``@name``, where they stand outside it ``@owner`` (its type)
  and ``@body``; ``@slot.<kind>`` the same, for what is reached through an object and not by a bare
  name.
- ``@container`` with ``@owner``: what stands inside belongs to that type.
- ``@exported``, ``@private``, ``@default``: a declaration's node with that visibility.
  ``@export.name`` and ``@export.alias``, ``@export.default``: a name that is exported elsewhere.
- ``@comment``, ``@docstring``, and ``@attribute`` for what may stand between a comment and its
  declaration.
- ``@ref.<edge>``: the name that is used, with ``@on`` for what it is taken from.
- ``@import.module`` with ``@import.name``, ``@import.alias``, ``@import.default`` or
  ``@import.all``; ``@reexport`` beside them.  ``@use`` is a Rust path, read by ``rust_paths``.
- ``@local``: a name that means something of its own from here on; ``@global``: a name whose
  module-level meaning changes in a function; ``@scope``: where such a name ends to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from memrpc.codebase import rust_paths

if TYPE_CHECKING:
    from tree_sitter import Node

    Captures = dict[str, list[Node]]
    Matches = list[tuple[int, Captures]]

MAX_QUALIFIER_BYTES: Final = 120
_DOTTED: Final = re.compile(r"[\w$#]+(?:(?:\.|::|->|\?\.)[\w$#]+)*")


class Declared(NamedTuple):
    """A declaration as it was captured."""

    rank: int
    kind: str
    node: Node
    name: Node
    owner: Node | None
    body: Node | None
    is_slot: bool


class Used(NamedTuple):
    """A used name, and what it is taken from: None for a bare name, empty for an expression.

    ``row`` and ``column`` count from 0.
    """

    kind: str
    name: str
    on: str | None
    row: int
    column: int


class Imported(NamedTuple):
    """Part of an import statement: ``name`` is empty for a module, ``*`` for all of it."""

    module: str
    name: str
    alias: str
    line: int
    start: int
    reexports: bool


class Remark(NamedTuple):
    """A comment that has its lines for itself; rows count from 0."""

    first_row: int
    text: str


@dataclass(slots=True)
class Findings:
    """Everything that was captured in one file."""

    declared: dict[int, Declared] = field(default_factory=dict)
    """By where the name begins: of several patterns the first one counts."""
    containers: list[tuple[int, int, str]] = field(default_factory=list)
    used: dict[int, Used] = field(default_factory=dict)
    imported: list[Imported] = field(default_factory=list)
    locals: list[tuple[int, str]] = field(default_factory=list)
    rebound: set[str] = field(default_factory=set)
    scopes: list[tuple[int, int]] = field(default_factory=list)
    remarks: dict[int, Remark] = field(default_factory=dict)
    """By their last row."""
    attributes: dict[int, int] = field(default_factory=dict)
    """Last row to first row."""
    docstrings: list[Node] = field(default_factory=list)
    exported: set[int] = field(default_factory=set)
    private: set[int] = field(default_factory=set)
    default: set[int] = field(default_factory=set)
    export_names: set[str] = field(default_factory=set)
    default_names: set[str] = field(default_factory=set)


def sort(matches: Matches) -> Findings:
    """Put each match where it belongs."""
    found = Findings()
    handlers: dict[int, Callable[[int, Captures], None]] = {}
    for pattern, captures in matches:
        handler = handlers.get(pattern)
        if handler is None:
            handler = handlers[pattern] = _handler(found, captures)
        handler(pattern, captures)
    return found


def text_of(node: Node) -> str:
    """The node's source."""
    return (node.text or b"").decode("utf-8", "replace")


def _handler(found: Findings, captures: Captures) -> Callable[[int, Captures], None]:
    """What a pattern's matches are for, told from the names in its first one."""
    names = {name.partition(".")[0]: name for name in captures}
    for role, build in _ROLES.items():
        if role in names:
            return build(found, names[role])
    return lambda _, __: None


def _declarations(found: Findings, capture: str) -> Callable[[int, Captures], None]:
    branch, _, kind = capture.partition(".")

    def handle(pattern: int, captures: Captures) -> None:
        name = captures["name"][0]
        known = found.declared.get(name.start_byte)
        if known is None or known.rank > pattern:
            found.declared[name.start_byte] = Declared(
                pattern,
                kind,
                captures[capture][0],
                name,
                captures.get("owner", _NOTHING)[0],
                captures.get("body", _NOTHING)[0],
                branch == "slot",
            )

    return handle


_NOTHING: Final[Sequence[Node | None]] = (None,)


def _containers(found: Findings, _: str) -> Callable[[int, Captures], None]:
    def handle(_: int, captures: Captures) -> None:
        node = captures["container"][0]
        found.containers.append((node.start_byte, node.end_byte, text_of(captures["owner"][0])))

    return handle


def _uses(found: Findings, capture: str) -> Callable[[int, Captures], None]:
    kind = capture.partition(".")[2]

    def handle(_: int, captures: Captures) -> None:
        node = captures[capture][0]
        if kind == "call" and node.start_byte in found.used:
            return  # Another pattern has said more of it.
        on = _qualifier(captures["on"][0]) if "on" in captures else None
        row, column = node.start_point
        found.used[node.start_byte] = Used(kind, text_of(node), on, row, column)

    return handle


def _qualifier(node: Node) -> str:
    """A name with dots as it is written; empty for anything else."""
    if node.end_byte - node.start_byte > MAX_QUALIFIER_BYTES:
        return ""
    text = text_of(node)
    return text if _DOTTED.fullmatch(text) else ""


def _imports(found: Findings, _: str) -> Callable[[int, Captures], None]:
    def handle(_: int, captures: Captures) -> None:
        module = captures["import.module"][0]
        named = captures.get("import.name")
        name = "*" if "import.all" in captures else text_of(named[0]) if named else ""
        alias_node = captures.get("import.alias", named or _NOTHING)[0]
        if "import.default" in captures:
            name, alias_node = "default", captures["import.default"][0]
        found.imported.append(
            Imported(
                text_of(module),
                name,
                text_of(alias_node) if alias_node else "",
                module.start_point.row + 1,
                (alias_node or module).start_byte,
                "reexport" in captures,
            )
        )

    return handle


def _rust_uses(found: Findings, _: str) -> Callable[[int, Captures], None]:
    def handle(_: int, captures: Captures) -> None:
        node = captures["use"][0]
        is_public = text_of(node.parent).startswith("pub") if node.parent else False
        for path in rust_paths.expand(text_of(node)):
            line = node.start_point.row + 1
            found.imported.append(Imported(*path, line, node.start_byte, is_public))

    return handle


def _comments(found: Findings, _: str) -> Callable[[int, Captures], None]:
    def handle(_: int, captures: Captures) -> None:
        node = captures["comment"][0]
        before = node.prev_sibling
        if before is not None and before.end_point.row == node.start_point.row:
            return  # It follows code on its line and is about that.
        found.remarks[_last_row(node)] = Remark(node.start_point.row, text_of(node))

    return handle


def _attributes(found: Findings, _: str) -> Callable[[int, Captures], None]:
    def handle(_: int, captures: Captures) -> None:
        node = captures["attribute"][0]
        found.attributes[_last_row(node)] = node.start_point.row

    return handle


def _last_row(node: Node) -> int:
    """A line comment's node may hold its line break."""
    return node.end_point.row - (node.end_point.column == 0)


def _locals(found: Findings, _: str) -> Callable[[int, Captures], None]:
    def handle(_: int, captures: Captures) -> None:
        node = captures["local"][0]
        found.locals.append((node.start_byte, text_of(node)))

    return handle


def _scopes(found: Findings, _: str) -> Callable[[int, Captures], None]:
    def handle(_: int, captures: Captures) -> None:
        node = captures["scope"][0]
        found.scopes.append((node.start_byte, node.end_byte))

    return handle


def _exports(found: Findings, capture: str) -> Callable[[int, Captures], None]:
    """A list of exported names; the one that is called ``default`` elsewhere is the default."""

    def handle(_: int, captures: Captures) -> None:
        name = text_of(captures[capture][0])
        alias = captures.get("export.alias", _NOTHING)[0]
        is_default = capture == "export.default" or (alias and text_of(alias) == "default")
        found.export_names.add(name)
        if is_default:
            found.default_names.add(name)

    return handle


def _marks(found: Findings, capture: str) -> Callable[[int, Captures], None]:
    marked: set[int] = getattr(found, capture)

    def handle(_: int, captures: Captures) -> None:
        marked.add(captures[capture][0].id)

    return handle


def _docstrings(found: Findings, _: str) -> Callable[[int, Captures], None]:
    return lambda _, captures: found.docstrings.append(captures["docstring"][0])


def _rebound(found: Findings, _: str) -> Callable[[int, Captures], None]:
    return lambda _, captures: found.rebound.add(text_of(captures["global"][0]))


_ROLES: Final = {
    "def": _declarations,
    "slot": _declarations,
    "container": _containers,
    "ref": _uses,
    "import": _imports,
    "use": _rust_uses,
    "local": _locals,
    "global": _rebound,
    "comment": _comments,
    "attribute": _attributes,
    "docstring": _docstrings,
    "exported": _marks,
    "private": _marks,
    "default": _marks,
    "export": _exports,
    "scope": _scopes,
}
