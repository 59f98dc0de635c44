"""Resources: a list of views, each with its template, its reader and its completions.

A view that is no template is a static resource; a template may name entries of
``resources/list``.  The first view that matches a URI serves it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from memrpc.protocol.uri_template import UriTemplate
from memrpc.server.context import Context
from memrpc.server.service import Page
from memrpc.surface.desk import Desk
from memrpc.wire.codec import compact
from memrpc.wire.messages import JSON, JSONObject

PAGE_ENTRIES: Final = 100
_MAX_OFFSET: Final = 1 << 30
_NO_KIND: Final = (
    "no template has this form; resources/templates/list shows them all. Inside a value a slash is "
    "written %2F."
)

Values: TypeAlias = Mapping[str, str]
Reader: TypeAlias = Callable[[Context, Desk, Values], Awaitable["Contents"]]
Lister: TypeAlias = Callable[[Desk], Awaitable[Sequence["Entry"]]]
Completer: TypeAlias = Callable[[Desk, Values], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True)
class Contents:
    """What a resource holds."""

    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of ``resources/list``; ``last_modified`` is ISO 8601.

    What ``resources/read`` returns has no place for a date in any revision.
    """

    uri: str
    name: str
    title: str
    last_modified: str | None = None


async def _no_entries(_: Desk) -> Sequence[Entry]:
    return ()


@dataclass(frozen=True, slots=True)
class View:
    """One kind of resource.  ``read`` raises ``KeyError`` for what is not there."""

    template: UriTemplate
    name: str
    title: str
    description: str
    read: Reader
    mime_type: str = "application/json"
    priority: float = 0.5
    entries: Lister = _no_entries
    completions: Mapping[str, Completer] = field(default_factory=dict)

    def listing(self) -> JSONObject:
        """The ``resources/templates/list`` entry."""
        return {"uriTemplate": self.template.text, **self._described(), "name": self.name}

    def entry(self, entry: Entry) -> JSONObject:
        """A ``resources/list`` entry."""
        described = self._described(entry.last_modified)
        return {**described, "uri": entry.uri, "name": entry.name, "title": entry.title}

    def _described(self, last_modified: str | None = None) -> dict[str, JSON]:
        annotations: dict[str, JSON] = {"audience": ["assistant"], "priority": self.priority}
        if last_modified is not None:
            annotations["lastModified"] = last_modified
        return {
            "title": self.title,
            "description": self.description,
            "mimeType": self.mime_type,
            "annotations": annotations,
        }


def page_of(ctx: Context, values: Values, default: int, most: int) -> tuple[int, int]:
    """The limit and the offset of a URI.  Raises ``KeyError`` for what is no such number."""
    found: list[int] = []
    for name, given, least, top in (("limit", default, 1, most), ("offset", 0, 0, _MAX_OFFSET)):
        text = values.get(name) or str(given)
        is_number = text.isascii() and text.isdecimal() and len(text) <= len(str(_MAX_OFFSET))
        if not is_number or not least <= int(text) <= top:
            uri = ctx.call.params["uri"]
            raise KeyError(uri, f"{name} must be a whole number from {least} to {top}")
        found.append(int(text))
    return found[0], found[1]


def fitted(desk: Desk, draw: Callable[[int], JSON], count: int) -> Contents:
    """What ``draw`` makes of as many of ``count`` records as fit, and of one in any case."""
    text = compact(draw(count))
    while len(text) > desk.answer_chars and count > 1:
        count = max(1, count * desk.answer_chars // len(text))
        text = compact(draw(count))
    return Contents(text)


class Catalogue:
    """The engine's ``Resources`` over a tuple of views."""

    def __init__(self, views: Sequence[View], desk: Desk) -> None:
        self.views = views
        self._desk = desk

    def templates(self) -> Sequence[JSONObject]:
        return [view.listing() for view in self.views if view.template.names]

    def serves(self, uri: str) -> bool:
        return self._match(uri) is not None

    async def page(self, _: Context, after: str | None) -> Page:
        """Every entry of every view, in the views' order.

        ``after`` is the place of the last one before, so that none is repeated or left out where
        others come and go between two pages.
        """
        placed = {
            f"{number:02} {entry.uri}": view.entry(entry)
            for number, view in enumerate(self.views)
            for entry in await view.entries(self._desk)
        }
        places = sorted(placed)
        rest = places[bisect_right(places, after or "") :]
        given = rest[:PAGE_ENTRIES]
        return Page([placed[place] for place in given], given[-1] if given != rest else None)

    async def read(self, ctx: Context, uri: str) -> Sequence[JSONObject]:
        matched = self._match(uri)
        if matched is None:
            raise KeyError(uri, _NO_KIND)
        view, values = matched
        contents = await view.read(ctx, self._desk, values)
        return [{"uri": uri, "mimeType": view.mime_type, "text": contents.text}]

    def _match(self, uri: str) -> tuple[View, Values] | None:
        for view in self.views:
            values = view.template.match(uri)
            if values is not None:
                return view, values
        return None

    def view(self, template: str) -> View:
        """The view that a completion names, by its template or by a URI of it."""
        for view in self.views:
            if view.template.text == template or view.template.match(template) is not None:
                return view
        raise KeyError(template)
