"""The one table of JSON-RPC error codes that any revision lets a server send."""

from __future__ import annotations

import enum


class ErrorCode(enum.IntEnum):
    """Source: JSON-RPC 2.0 §5.1, and the MCP revisions named beside the codes of their own."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    RESOURCE_NOT_FOUND = -32002  # 2024-11-05 to 2025-11-25; forbidden in 2026-07-28
    MISSING_CAPABILITY = -32021  # 2026-07-28 only
    UNSUPPORTED_VERSION = -32022  # 2026-07-28 only
