"""From a source file to its symbols, its references and what it takes from other files."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, Final

from memrpc.codebase import captures, comments, grammars, languages, source
from memrpc.codebase.binding import Binder
from memrpc.codebase.captures import Findings, text_of
from memrpc.codebase.model import TITLES, Extract, Kind, Symbol
from memrpc.codebase.outline import Entry, Outline, name_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from memrpc.codebase.languages import Language

MAX_SIGNATURE_CHARS: Final = 240
_SIGNATURE_BYTES: Final = 1_000
_UNDERLINE: Final = re.compile(
    rb"^(.{1,200})\r?\n(={3,}|-{3,}|~{3,}|\^{3,})[ \t]*\r?$", re.MULTILINE
)
_PREPARED: Final = {
    "c": source.without_macros,
    "cpp": source.without_macros,
    "kotlin": source.with_semicolons,
    "typescript": source.without_variance,
}
"""What a grammar cannot read is written otherwise; everything keeps its place."""
_DATA: Final = frozenset({Kind.VARIABLE, Kind.PROPERTY, Kind.CONSTANT})
_ENDS: Final = " \t\r\n{:=;"


def extract(data: bytes, language: Language) -> Extract:
    """What ``data`` holds, decoded already (``source.decode``)."""
    if language.blocks:
        data, inner = source.code_in_markup(data, language)
        return extract(data, languages.BY_NAME[inner])
    if language.grammar is None:
        return Extract(list(_underlined_headings(data)), [], [], has_errors=False)
    prepare = _PREPARED.get(language.query)
    grammar = grammars.load(language)
    root = grammar.parser.parse(prepare(data) if prepare else data).root_node
    found = captures.sort(grammar.matches(root))
    entries = Outline(found, language).entries
    binder = Binder(language, found, entries, len(data))
    symbols = list(_symbols(data, language, found, entries))
    return Extract(symbols, binder.references(), binder.links, has_errors=root.has_error)


def _symbols(
    data: bytes, language: Language, found: Findings, entries: list[Entry]
) -> Iterator[Symbol]:
    docstrings = _docstrings(found, entries)
    exported: list[bool] = []
    for ordinal, entry in enumerate(entries):
        node, name = entry.declared.node, name_node(entry.declared)
        end_row, end_column = _end(data, entry.declared.body or node)
        exported.append(_is_exported(language, found, entry, exported))
        yield Symbol(
            entry.name,
            entry.kind,
            entry.owner,
            entry.parent,
            exported[-1],
            node.id in found.default or entry.name in found.default_names,
            node.start_point.row + 1,
            node.start_point.column + 1,
            end_row + 1,
            end_column + 1,
            name.start_point.row + 1,
            name.start_point.column + 1,
            _signature(data, entry),
            docstrings.get(ordinal) or _comment_before(found, entry),
        )


def _end(data: bytes, node: Node) -> tuple[int, int]:
    """Where a node ends: on its last line, when the break behind that is a part of it."""
    row, column = node.end_point
    if column or row == node.start_point.row:
        return row, column
    line_end = node.end_byte - 1
    return row - 1, line_end - data.rfind(b"\n", 0, line_end) - 1


def _is_exported(language: Language, found: Findings, entry: Entry, so_far: list[bool]) -> bool:
    """Whether other files can reach it: it, and whatever it stands in, is public."""
    if entry.is_inner or entry.declared.node.id in found.private:
        return False
    if entry.parent is not None and entry.parent < len(so_far) and not so_far[entry.parent]:
        return False
    if language.public_capitals:
        return entry.name[:1].isupper()
    if language.private_prefix:
        is_special = entry.name.startswith("__") and entry.name.endswith("__")
        return is_special or not entry.name.startswith(language.private_prefix)
    node_ids = (entry.declared.node.id, entry.declared.name.id)
    is_marked = not found.exported.isdisjoint(node_ids)
    return language.publishes or is_marked or entry.name in found.export_names


def _signature(data: bytes, entry: Entry) -> str:
    """The declaration up to its body, on one line."""
    start, node = entry.start, entry.declared.node
    if entry.kind in TITLES:
        return entry.name
    body = None if entry.kind in _DATA else _body(node)
    end = body.start_byte if body else node.end_byte
    text = data[start : min(end, start + _SIGNATURE_BYTES)].decode("utf-8", "ignore")
    if body is None:
        text = text.partition("\n")[0]
    line = " ".join(text.split())
    if body is not None:
        line = line.removesuffix("=>").rstrip(_ENDS)
    return line if len(line) <= MAX_SIGNATURE_CHARS else line[: MAX_SIGNATURE_CHARS - 1] + "…"


def _body(node: Node) -> Node | None:
    """What a declaration holds, itself or as the function that it gives a name."""
    body = node.child_by_field_name("body")
    value = None if body else node.child_by_field_name("value")
    return body or (value.child_by_field_name("body") if value else None)


def _docstrings(found: Findings, entries: list[Entry]) -> dict[int, str | None]:
    """The docstring of each declaration that has one: the innermost around the string."""
    if not found.docstrings:
        return {}
    starts = [entry.start for entry in entries]
    docs: dict[int, str | None] = {}
    for node in found.docstrings:
        ordinal = bisect_right(starts, node.start_byte) - 1
        if ordinal >= 0:
            docs[ordinal] = comments.doc_of_string(text_of(node))
    return docs


def _comment_before(found: Findings, entry: Entry) -> str | None:
    """The comment that ends on the line before the declaration, attributes in between left out."""
    row = entry.declared.node.start_point.row - 1
    while row in found.attributes:
        row = found.attributes[row] - 1
    texts: list[str] = []
    while (remark := found.remarks.get(row)) is not None:
        texts.append(remark.text)
        row = remark.first_row - 1
        if remark.text.startswith("/*"):
            break
    return comments.doc_of_comment("\n".join(reversed(texts))) if texts else None


def _underlined_headings(data: bytes) -> Iterator[Symbol]:
    """The headings of plain text: a line above a line of dashes or the like of its length."""
    if b"===" not in data and b"---" not in data:
        return
    styles: list[bytes] = []
    for found in _UNDERLINE.finditer(data):
        title = found.group(1).decode("utf-8", "replace").strip()
        style = found.group(2)[:1]
        if not any(map(str.isalnum, title)) or len(found.group(1)) > len(found.group(2)) + 2:
            continue
        if style not in styles:
            styles.append(style)
        kind = (Kind.HEADING1, Kind.HEADING2, Kind.HEADING)[min(styles.index(style), 2)]
        line = data.count(b"\n", 0, found.start()) + 1
        span = (line, 1, line + 1, len(found.group(2)) + 1, line, 1)
        yield Symbol(title, kind, None, None, True, False, *span, title, None)
