"""How the code index's answers are shown: as JSON with the document's names, and as text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memrpc.surface.shapes import to_json
from memrpc.wire.messages import JSON
from memrpc.workspace import times

if TYPE_CHECKING:
    from memrpc.codebase.answers import (
        Ambiguity,
        CodeAnswer,
        FileAnswer,
        Folder,
        Found,
        Place,
        SearchAnswer,
        Trace,
        Use,
    )

_WAYS = {
    "misspelt": "by likeness",
    "doc": "by signature or comment",
    "path": "by path",
    "words": "by some of the words",
}
"""How symbols are found that are not by their names."""
_BREAK = re.compile(r"_([a-z])")


def camel(value: JSON) -> JSON:
    """The JSON of a value with its members' names as the document spells them."""
    return _camel(to_json(value))


def _camel(value: JSON) -> JSON:
    if isinstance(value, dict):
        return {_BREAK.sub(lambda m: m[1].upper(), k): _camel(v) for k, v in value.items()}
    return [_camel(item) for item in value] if isinstance(value, list) else value


def named(owner: str | None, name: str) -> str:
    """A symbol's name behind what it stands in."""
    return f"{owner}.{name}" if owner else name


def path_text(path: str) -> str:
    """A path on one line, whatever it holds."""
    return path if path.isprintable() else repr(path)[1:-1]


def page(shown: int, total: int, offset: int) -> dict[str, JSON]:
    """Where in a list a page stands."""
    rest = {"nextOffset": offset + shown} if offset + shown < total else {}
    return {"total": total, "offset": offset, "hasMore": bool(rest), **rest}


def more_line(shown: dict[str, JSON]) -> list[str]:
    """How to get the rest."""
    return [f"More: offset={shown['nextOffset']}."] if "nextOffset" in shown else []


def place_line(place: Place | Found) -> str:
    exported = " exported" if place.exported else ""
    name = named(place.owner, place.name)
    where = f"{place.line}-{place.end_line}" if place.end_line > place.line else str(place.line)
    return f"- {place.kind} {name} ({where}{exported}): {place.signature}"


def by_file(places: Iterable[Place | Found]) -> list[str]:
    """Symbols under the paths of their files, in their order."""
    lines: list[str] = []
    last: str | None = None
    for place in places:
        repo = getattr(place, "repo", None)
        path = f"{repo}: {path_text(place.file_path)}" if repo else path_text(place.file_path)
        if path != last:
            last = path
            lines.append(path)
        lines.append(place_line(place))
    return lines


def way_line(found: SearchAnswer) -> list[str]:
    """How to take symbols whose names do not match."""
    if found.reason:
        return ["Nothing matches; content looks into the files themselves."]
    ways = dict.fromkeys(_WAYS.get(each.matched_by, "") for each in found.symbols)
    return [f"No name matches; found {', '.join(ways)}."] if ways and "" not in ways else []


def trace_json(trace: Trace, uses: Sequence[Use]) -> dict[str, JSON]:
    """The answer with some of its references."""
    return {
        "mode": "trace",
        "symbol": camel(trace.symbol),
        "definition": camel(trace.definition),
        **({"parent": camel(trace.parent)} if trace.parent else {}),
        "children": camel(trace.children),
        "childrenTotal": trace.children_total,
        "references": camel(tuple(uses)),
        "exportChain": {
            "exported": trace.symbol.exported,
            "defaultExport": trace.symbol.default_export,
        },
        "resolved": trace.resolved,
        "byName": trace.by_name,
        "sameName": trace.same_name,
        **({"otherDefinitions": list(trace.other_definitions)} if trace.other_definitions else {}),
        **({"originalName": trace.original_name} if trace.original_name else {}),
        **page(len(uses), trace.total, trace.offset),
    }


def trace_lines(trace: Trace, uses: Sequence[Use]) -> list[str]:
    symbol, at = trace.symbol, trace.definition
    asked = f' (asked as "{trace.original_name}")' if trace.original_name else ""
    exported = " (exported)" if symbol.exported else ""
    lines = [
        f'Symbol "{named(symbol.owner, symbol.name)}": {symbol.kind}{exported}{asked}',
        f"Defined {path_text(at.file)}:{at.line}-{at.end_line}",
        symbol.signature,
    ]
    lines += [f"Also at line {line}" for line in trace.other_definitions]
    lines += [f"Doc: {symbol.doc_comment}"] if symbol.doc_comment else []
    if trace.parent:
        lines.append(f"In {trace.parent.kind} {trace.parent.name} (line {trace.parent.line})")
    if trace.children:
        listed = ", ".join(f"{c.kind} {c.name}:{c.line}" for c in trace.children)
        rest = trace.children_total - len(trace.children)
        lines.append(f"Holds {listed}" + (f" and {rest} more, see the file's page" * (rest > 0)))
    lines.append(
        f"References: {trace.resolved} resolved, {trace.by_name} by name only"
        + (f" ({trace.same_name} symbols share the name)" if trace.same_name > 1 else "")
    )
    return [*lines, *(_use_line(use) for use in uses)]


def _use_line(use: Use) -> str:
    by = f" in {use.caller_name}" if use.caller_name else ""
    sure = "" if use.confidence == 1 else f" (by name, {use.confidence})"
    return f"- {path_text(use.file_path)}:{use.line}:{use.column} {use.kind}{by}{sure}"


def ambiguity_json(found: Ambiguity, count: int) -> dict[str, JSON]:
    return {
        "mode": "trace",
        "ambiguous": True,
        "name": found.name,
        "disambiguation": camel(found.disambiguation[:count]),
        **page(count, found.total, found.offset),
    }


def ambiguity_lines(found: Ambiguity, count: int) -> list[str]:
    places = found.disambiguation[:count]
    head = f'"{found.name}" is declared {found.total} times; narrow it by kind, filePath, or as'
    return [f"{head} Owner.{places[0].name if places else found.name}:", *by_file(places)]


def file_json(found: FileAnswer, count: int) -> dict[str, JSON]:
    facts = {**camel(found.file), "lastIndexedAt": times.to_text(found.file.last_indexed_at)}
    listed = camel(found.symbols[:count])
    for symbol in listed:
        del symbol["filePath"]
    shown_page = page(count, found.total, found.offset)
    return {"mode": "file", "file": facts, "symbols": listed, **shown_page}


def file_lines(found: FileAnswer, count: int) -> list[str]:
    facts = found.file
    problem = f", {facts.problem} problem: may be incomplete" if facts.problem else ""
    head = (
        f"{path_text(facts.path)}: {facts.language}, {facts.lines} lines, {facts.size_bytes} "
        f"bytes, checksum {facts.checksum}, indexed {times.to_text(facts.last_indexed_at)}{problem}"
    )
    return [head, f"{found.total} symbols", *map(place_line, found.symbols[:count])]


def code_json(found: CodeAnswer, count: int) -> dict[str, JSON]:
    return {
        "mode": "code",
        "content": found.content,
        "regex": found.regex,
        "matches": camel(found.matches[:count]),
        "totalIsExact": found.total_is_exact,
        "filesScanned": found.files_scanned,
        "filesMissing": found.files_missing,
        "filesChanged": found.files_changed,
        **page(count, found.total, found.offset),
    }


def code_lines(found: CodeAnswer, count: int) -> list[str]:
    total = f"{found.total}" if found.total_is_exact else f"more than {found.total}"
    lines = [f'### Matches: {total} for "{found.content}" (showing {count})']
    last: str | None = None
    for match in found.matches[:count]:
        if match.file_path != last:
            last = match.file_path
            lines.append(path_text(last))
        around = match.enclosing_symbol
        inside = f" [{around.kind} {around.name}]" if around else ""
        lines.append(f"- {match.line}{inside}: {match.snippet}")
    if not found.files_scanned and not found.files_missing:
        lines.append("No file of the index is of that path and language.")
    if found.files_changed or found.files_missing:
        lines.append(
            f"{found.files_changed} files changed and {found.files_missing} are gone since the "
            "index was made; run codebase-index to refresh it."
        )
    return lines


def folder_json(folder: Folder, *, counts: bool) -> dict[str, JSON]:
    shown: dict[str, JSON] = {"path": folder.path, "type": "directory", "files": folder.files}
    if counts:
        shown["symbolCounts"] = folder.symbols
    if folder.children:
        shown["children"] = [folder_json(child, counts=counts) for child in folder.children]
    return shown


def folder_lines(folder: Folder, depth: int = 0) -> list[str]:
    line = f"{'  ' * depth}{path_text(folder.path)}/ {folder.files} files, {folder.symbols} symbols"
    return [line, *(each for child in folder.children for each in folder_lines(child, depth + 1))]
