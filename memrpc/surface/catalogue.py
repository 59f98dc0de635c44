"""Resources: a list of views, each with its template, its reader and its completions.

A view that is no template is a static resource; a template may name entries of
``resources/list``.  The first view that matches a URI serves it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from memrpc.protocol.uri_template import UriTemplate
from memrpc.server.context import Context
from memrpc.server.service import Page
from memrpc.surface.desk import Desk
from memrpc.wire.messages import JSON, JSONObject

PAGE_ENTRIES: Final = 100
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
        """Every entry of every view, in the views' order; ``after`` counts what came before."""
        listed = [v.entry(entry) for v in self.views for entry in await v.entries(self._desk)]
        start = int(after) if after else 0
        end = start + PAGE_ENTRIES
        return Page(listed[start:end], str(end) if end < len(listed) else None)

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
