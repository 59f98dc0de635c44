"""Every published MCP revision, as data: each is its predecessor plus what its changelog says.

Nothing else in the program asks which version is spoken; it asks a ``Revision`` what holds there.
A field set names the members that an object may carry in that revision; ``projection`` drops the
rest, so a handler always builds the newest shape.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from memrpc.wire.errors import ErrorCode
from memrpc.wire.messages import JSON

Fields = frozenset[str]


class Era(enum.Enum):
    """How a client opens: with ``initialize``, or with an envelope in each request's ``_meta``."""

    HANDSHAKE = "handshake"
    ENVELOPE = "envelope"


class Structured(enum.Enum):
    """What ``structuredContent`` may be."""

    ABSENT = "absent"
    OBJECT = "object"
    ANY = "any"


class Shapes(NamedTuple):
    """The members that each kind of object may carry."""

    tool: Fields
    prompt: Fields
    argument: Fields
    resource: Fields
    template: Fields
    contents: Fields
    implementation: Fields
    annotations: Fields
    content_types: Fields
    progress: Fields
    elicitation: Fields


class Revision(NamedTuple):
    """Everything that differs between two published revisions."""

    version: str
    era: Era
    requests: Fields
    notifications: Fields
    asks: Fields
    server_capabilities: Fields
    shapes: Shapes
    accepts_batches: bool = False
    block_meta: bool = False
    rich_forms: bool = False
    ask_modes: Fields = frozenset({"form"})
    structured: Structured = Structured.ABSENT
    result_envelope: bool = False
    resource_not_found: ErrorCode = ErrorCode.RESOURCE_NOT_FOUND

    def evolve(self, version: str, *, shapes: Mapping[str, Fields], **changes: JSON) -> Revision:
        """The next revision: this one with the named changes."""
        return self._replace(version=version, shapes=self.shapes._replace(**shapes), **changes)


_LISTS: Final = frozenset(
    {
        "tools/list",
        "tools/call",
        "resources/list",
        "resources/templates/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "completion/complete",
    }
)

# https://modelcontextprotocol.io/specification/2024-11-05
_R1 = Revision(
    version="2024-11-05",
    era=Era.HANDSHAKE,
    requests=_LISTS
    | {"initialize", "ping", "resources/subscribe", "resources/unsubscribe", "logging/setLevel"},
    notifications=frozenset(
        {
            "notifications/initialized",
            "notifications/cancelled",
            "notifications/progress",
            "notifications/roots/list_changed",
        }
    ),
    asks=frozenset({"sampling/createMessage", "roots/list"}),
    server_capabilities=frozenset({"tools", "resources", "prompts", "logging", "experimental"}),
    shapes=Shapes(
        tool=frozenset({"name", "description", "inputSchema"}),
        prompt=frozenset({"name", "description", "arguments"}),
        argument=frozenset({"name", "description", "required"}),
        resource=frozenset({"uri", "name", "description", "mimeType", "size", "annotations"}),
        template=frozenset({"uriTemplate", "name", "description", "mimeType", "annotations"}),
        contents=frozenset({"uri", "mimeType", "text", "blob"}),
        implementation=frozenset({"name", "version"}),
        annotations=frozenset({"audience", "priority"}),
        content_types=frozenset({"text", "image", "resource"}),
        progress=frozenset({"progressToken", "progress", "total"}),
        elicitation=frozenset(),
    ),
)

# https://modelcontextprotocol.io/specification/2025-03-26/changelog
_R2 = _R1.evolve(
    "2025-03-26",
    accepts_batches=True,
    server_capabilities=_R1.server_capabilities | {"completions"},
    shapes={
        "tool": _R1.shapes.tool | {"annotations"},
        "content_types": _R1.shapes.content_types | {"audio"},
        "progress": _R1.shapes.progress | {"message"},
    },
)

# https://modelcontextprotocol.io/specification/2025-06-18/changelog
_TITLED: Final = frozenset({"title", "_meta"})
_R3 = _R2.evolve(
    "2025-06-18",
    accepts_batches=False,
    block_meta=True,
    structured=Structured.OBJECT,
    asks=_R2.asks | {"elicitation/create"},
    shapes={
        "tool": _R2.shapes.tool | _TITLED | {"outputSchema"},
        "prompt": _R2.shapes.prompt | _TITLED,
        "argument": _R2.shapes.argument | {"title"},
        "resource": _R2.shapes.resource | _TITLED,
        "template": _R2.shapes.template | _TITLED,
        "contents": _R2.shapes.contents | {"_meta"},
        "implementation": _R2.shapes.implementation | {"title"},
        "annotations": _R2.shapes.annotations | {"lastModified"},
        "content_types": _R2.shapes.content_types | {"resource_link"},
        "elicitation": frozenset({"message", "requestedSchema"}),
    },
)

# https://modelcontextprotocol.io/specification/2025-11-25/changelog
_ICONS: Final = frozenset({"icons"})
_R4 = _R3.evolve(
    "2025-11-25",
    rich_forms=True,
    ask_modes=_R3.ask_modes | {"url", "tools"},
    shapes={
        "tool": _R3.shapes.tool | _ICONS | {"execution"},
        "prompt": _R3.shapes.prompt | _ICONS,
        "resource": _R3.shapes.resource | _ICONS,
        "template": _R3.shapes.template | _ICONS,
        "implementation": _R3.shapes.implementation | _ICONS | {"description", "websiteUrl"},
        "elicitation": _R3.shapes.elicitation | {"mode", "url", "elicitationId"},
    },
)

# https://modelcontextprotocol.io/specification/2026-07-28/changelog
_R5 = _R4.evolve(
    "2026-07-28",
    era=Era.ENVELOPE,
    requests=_LISTS | {"server/discover", "subscriptions/listen"},
    notifications=frozenset({"notifications/cancelled"}),
    server_capabilities=_R4.server_capabilities | {"extensions"},
    structured=Structured.ANY,
    result_envelope=True,
    resource_not_found=ErrorCode.INVALID_PARAMS,
    shapes={
        "tool": _R4.shapes.tool - {"execution"},
        "elicitation": _R4.shapes.elicitation - {"elicitationId"},
    },
)

REVISIONS: Final[Mapping[str, Revision]] = MappingProxyType(
    {revision.version: revision for revision in (_R1, _R2, _R3, _R4, _R5)}
)


def versions(era: Era) -> list[str]:
    """The revisions of an era, newest first."""
    return [r.version for r in reversed(list(REVISIONS.values())) if r.era is era]


def negotiate(asked: str) -> Revision:
    """The revision a handshake gets: the one asked for, else the newest that has a handshake.

    Source: every handshake revision, Lifecycle, Version Negotiation.
    """
    revision = REVISIONS.get(asked)
    if revision is not None and revision.era is Era.HANDSHAKE:
        return revision
    return REVISIONS[versions(Era.HANDSHAKE)[0]]


TASKS_EXTENSION: Final = "io.modelcontextprotocol/tasks"
EXTENSION_REQUESTS: Final[Mapping[str, Fields]] = MappingProxyType(
    {TASKS_EXTENSION: frozenset({"tasks/get", "tasks/update", "tasks/cancel"})}
)
"""Requests that an extension of the envelope era adds."""

OPENS_ENVELOPE: Final = frozenset({"server/discover", "subscriptions/listen", "tasks/update"})
"""Methods that only the envelope era has: with or without an envelope they mean that era."""

LogLevel = Literal["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
LOG_LEVELS: Final[tuple[str, ...]] = (
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
)
"""Syslog's severities (RFC 5424), least severe first."""
