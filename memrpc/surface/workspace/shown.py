"""What several subjects share when they are shown: times, graphs, windows, tables, lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from memrpc.wire.codec import compact
from memrpc.wire.messages import JSON
from memrpc.workspace import scope, times
from memrpc.workspace.model import Repo
from memrpc.workspace.searching import MAX_HITS

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.graph import Subgraph
    from memrpc.workspace.windows import Window

T = TypeVar("T")

PREVIEW_CHARS = 160
REPEATED_CHARS = 500
OBJECT_CHARS = 2_000
REASONS: Mapping[str, str] = {
    "no_match": "no word of the question stands in anything here",
    "below_relevance": "what matched holds too little of the question",
    "scope_empty": "nothing was ever stored here",
    "outside_window": "the words match, but nothing from that time",
    "outside_filters": "nothing passes the filters",
}


def present(values: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return the members that have a value."""
    return {name: value for name, value in values.items() if value is not None}


def kg_json(graph: Subgraph) -> dict[str, JSON] | None:
    """Return the graph as the answers show it; None for an empty one."""
    if not graph.entities and not graph.relations:
        return None
    return {
        "entities": [
            {"name": each.name, "type": each.type, "source_domain": each.source_domain}
            for each in graph.entities
        ],
        "relations": [
            {"from": each.source, "to": each.target, "type": each.type} for each in graph.relations
        ],
    }


def kg_lines(graph: Subgraph) -> list[str]:
    """Return the graph as text: first how subjects stand to each other, then what is named."""
    links = [f"{e.source} {e.type} {e.target}" for e in graph.relations if e.type != "mentions"]
    names = [each.name for each in graph.entities]
    return [
        *([f"Links: {'; '.join(links)}"] if links else []),
        *([f"Names: {', '.join(names)}"] if names else []),
    ]


def window_json(window: Window | None) -> dict[str, JSON] | None:
    """Return the window as the answers show it."""
    if window is None:
        return None
    return present(
        {
            "phrase": window.phrase,
            "since": times.to_text_or_none(window.since),
            "until": times.to_text_or_none(window.until),
        }
    )


def window_lines(window: Window | None) -> list[str]:
    """Return the window as text."""
    shown = window_json(window)
    if shown is None:
        return []
    bounds = f"{shown.get('since', 'the beginning')} to {shown.get('until', 'now')}"
    return [f"Time “{shown['phrase']}”: {bounds}"]


def nothing_head(things: str, query: str, repo: str, total: int) -> str:
    """Say that a page is empty, because there is nothing or because it lies past the end."""
    if total:
        return f'No more {things} for "{query}": {total} in all, send a smaller offset.'
    return f'No {things} found for "{query}" in repo "{repo}".'


def nothing_lines(reason: str | None, near: Sequence[str]) -> list[str]:
    """Say why nothing was found, and where else one could look."""
    why = REASONS.get(reason or "", "")
    return [
        *([f"Reason: {reason} ({why})."] if reason else []),
        *([f"Repositories with a similar name: {', '.join(near)}."] if near else []),
    ]


def paging(
    *, count: int, total: int, offset: int, limit: int, has_more: bool | None = None
) -> dict[str, JSON]:
    """Return where a page stands in its list."""
    more = offset + count < total if has_more is None else has_more
    return present(
        {
            "count": count,
            "total": total,
            "offset": offset,
            "limit": limit,
            "next_offset": offset + count if more and count else None,
        }
    )


def missing_json(missing: Sequence[str]) -> list[JSON] | None:
    """Return the handles that name nothing, if there are any."""
    return [shortened(handle) for handle in missing] or None


def missing_lines(missing: Sequence[str]) -> list[str]:
    """Return the handles that name nothing as text."""
    return [f"Not found: {', '.join(map(shortened, missing))}."] if missing else []


def remaining_lines(remaining: Sequence[str]) -> list[str]:
    """Return as text what did not fit and is to be asked for in another call."""
    return [f"Ask for these next: {', '.join(remaining)}."] if remaining else []


def continued(texts: Sequence[tuple[str, str]], max_chars: int) -> list[JSON]:
    """Return where to read on, for each code whose text is longer than what is shown."""
    return [
        {"code": code, "next_offset": max_chars} for code, text in texts if len(text) > max_chars
    ]


def continued_lines(after: Sequence[JSON]) -> list[str]:
    """Return where to read on as text."""
    return [f"More of {at['code']}: send id and offset {at['next_offset']}." for at in after]


def ranking_lines(page: Mapping[str, JSON]) -> list[str]:
    """Return the next handle of a ranking as text, and at its end that it looked no further."""
    if page["total"] < MAX_HITS or "next_offset" in page:
        return more_lines(page)
    return [f"Only the best {MAX_HITS} are ranked; more words or filters narrow the search."]


def more_lines(page: Mapping[str, JSON]) -> list[str]:
    """Return the next handle as text, or that the page lies past the end."""
    after = page.get("next_offset")
    if page["total"] and not page["count"]:
        return [f"No more: {page['total']} in all, send a smaller offset."]
    return [] if after is None else [f"More: send offset {after} ({page['total']} in all)."]


def part_lines(offset: int, after: int | None, length: int) -> list[str]:
    """Return where a long text goes on as text, or that the part lies past its end."""
    if offset > length:
        return [f"No more: {length} characters in all, send a smaller offset."]
    return [] if after is None else [f"More: send offset {after} (of {length})."]


def grouped(rows: Sequence[T], name: Callable[[T], str], line: Callable[[T], str]) -> list[str]:
    """Return rows as lines under the names of their groups, each where its first row stands."""
    groups: dict[str, list[str]] = {}
    for row in rows:
        groups.setdefault(name(row), []).append(line(row))
    return [text for title, lines in groups.items() for text in (f"{title}:", *lines)]


def counted(number: int, things: str) -> str:
    """Return a number with its noun: ``1 memory``, ``2 memories``."""
    one = f"{things[:-3]}y" if things.endswith("ies") else things.removesuffix("s")
    return f"{number} {one if number == 1 else things}"


def shortened(text: str) -> str:
    """Return what the caller said as an answer repeats it: of a long text the beginning."""
    return text if len(text) <= REPEATED_CHARS else f"{text[:REPEATED_CHARS]}…"


def indented(text: str) -> str:
    """Return a text whose further lines pass for no line of what it stands in."""
    return "\n  ".join(text.splitlines())


def others(db: apsw.Connection, repo: Repo, keys: Iterable[int]) -> dict[int, Repo]:
    """Return the repositories behind some numbers, but this one."""
    return repo_names(db, [key for key in keys if key != repo.key])


def repo_names(db: apsw.Connection, keys: Sequence[int]) -> dict[int, Repo]:
    """Return the repositories behind some numbers."""
    return {key: scope.by_key(db, key) for key in set(keys)}


def brief_object(value: Mapping[str, JSON]) -> dict[str, JSON]:
    """Return an object as a list shows it: its first members, of long ones the beginning."""
    shown: dict[str, JSON] = {}
    room = OBJECT_CHARS
    for name, item in value.items():
        text = item if isinstance(item, str) else compact(item)
        is_long = len(text) > REPEATED_CHARS
        room -= len(name) + min(len(text), REPEATED_CHARS)
        if room < 0:
            break
        shown[name] = shortened(text) if is_long else item
    return shown


def object_text(value: Mapping[str, JSON]) -> str | None:
    """Return the beginning of an object as text; None for an empty one."""
    return one_line(compact(dict(value)), REPEATED_CHARS) if value else None


def one_line(text: str, limit: int = PREVIEW_CHARS) -> str:
    """Return the beginning of a text on one line."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"
