"""The envelope that each request of 2026-07-28 carries in ``_meta``.

Source: 2026-07-28, Base Protocol, ``_meta``.
"""

from __future__ import annotations

from typing import Final

from memrpc.protocol.revisions import LOG_LEVELS
from memrpc.wire.codec import is_request_id
from memrpc.wire.errors import ErrorCode
from memrpc.wire.messages import JSON, Error, JSONObject, RequestId

PREFIX: Final = "io.modelcontextprotocol/"
VERSION_KEY: Final = PREFIX + "protocolVersion"
CAPABILITIES_KEY: Final = PREFIX + "clientCapabilities"
CLIENT_INFO_KEY: Final = PREFIX + "clientInfo"
LOG_LEVEL_KEY: Final = PREFIX + "logLevel"
_ENVELOPE_KEYS: Final = (VERSION_KEY, CAPABILITIES_KEY, CLIENT_INFO_KEY, LOG_LEVEL_KEY)


def as_object(value: JSON) -> JSONObject:
    """``value`` if it is an object; else nothing was declared."""
    return value if isinstance(value, dict) else {}


def has_envelope(params: JSONObject) -> bool:
    """True if a key of the 2026-07-28 envelope is there.

    The prefix alone proves nothing: 2025-11-25 uses it for ``related-task``.
    """
    meta = params.get("_meta")
    return isinstance(meta, dict) and any(key in meta for key in _ENVELOPE_KEYS)


def envelope_fault(meta: JSONObject) -> Error | None:
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]
    if missing:
        return Error(ErrorCode.INVALID_PARAMS, f"params._meta must carry {' and '.join(missing)}")
    if not isinstance(meta[VERSION_KEY], str):
        return Error(ErrorCode.INVALID_PARAMS, f"params._meta {VERSION_KEY} must be a string")
    if not isinstance(meta[CAPABILITIES_KEY], dict):
        return Error(ErrorCode.INVALID_PARAMS, f"params._meta {CAPABILITIES_KEY} must be an object")
    if meta.get(LOG_LEVEL_KEY) not in (None, *LOG_LEVELS):
        return Error(
            ErrorCode.INVALID_PARAMS,
            f"params._meta {LOG_LEVEL_KEY} must be one of {', '.join(LOG_LEVELS)}",
        )
    return None


def progress_token(params: JSONObject) -> RequestId | None:
    meta = params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    return token if token is not None and is_request_id(token) else None
