"""What the HTTP transport asks of headers and status codes; the stdio server never sees it.

Source: 2026-07-28, Transports, Streamable HTTP; the HeaderMismatch error is HTTP's alone.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Final, Protocol

from conformance.bridge.exchange import Exchange
from conformance.bridge.messages import VERSION_KEY, Message

HEADER_MISMATCH: Final = -32020
STATELESS_VERSION: Final = "2026-07-28"
_LOCAL: Final = re.compile(r"(localhost|127\.0\.0\.1|\[::1\])(:\d+)?", re.IGNORECASE)
_SENTINEL: Final = re.compile(r"=\?base64\?(.*)\?=", re.DOTALL)
_NAME_MEMBERS: Final[Mapping[str, str]] = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}
_STATUS: Final[Mapping[int, int]] = {-32601: 404, -32020: 400, -32021: 400, -32022: 400}


class Headers(Protocol):
    """Header fields by their names, in whatever case."""

    def get(self, name: str, /) -> str | None: ...


def is_local(headers: Headers) -> bool:
    """False for what a rebound DNS name would send."""
    origin = headers.get("Origin")
    host_is_local = _LOCAL.fullmatch((headers.get("Host") or "").strip()) is not None
    if origin is None:
        return host_is_local
    return host_is_local and _LOCAL.fullmatch(origin.partition("://")[2]) is not None


def is_stateless(message: Message, headers: Headers) -> bool:
    """True for what belongs to the era without a handshake."""
    return message.has_envelope or _header(headers, "MCP-Protocol-Version") == STATELESS_VERSION


def mismatch(message: Message, headers: Headers) -> str | None:
    """The header that contradicts the body, or is missing; judged before the version is."""
    version = message.meta.get(VERSION_KEY)
    if isinstance(version, str) and _header(headers, "MCP-Protocol-Version") != version:
        return "MCP-Protocol-Version"
    if _header(headers, "Mcp-Method") != message.method:
        return "Mcp-Method"
    member = _NAME_MEMBERS.get(message.method or "")
    named = message.params.get(member) if member else None
    if isinstance(named, str) and _header(headers, "Mcp-Name") != named:
        return "Mcp-Name"
    return None


def _header(headers: Headers, name: str) -> str | None:
    value = headers.get(name)
    if value is None:
        return None
    value = value.strip(" \t")
    encoded = _SENTINEL.fullmatch(value)
    return value if encoded is None else _decoded(encoded.group(1))


def _decoded(text: str) -> str | None:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, UnicodeError):
        return None


def status_of(answer: Message, exchange: Exchange) -> int:
    """The HTTP status that an answer deserves if nothing was sent before it."""
    code = answer.error_code
    if code is None or exchange.session is not None:
        return 200
    if code == -32602 and exchange.lacks_envelope:
        return 400
    return _STATUS.get(code, 200)
