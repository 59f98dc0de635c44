"""Errors on three planes, and how each leaves.

1. The message is wrong: ``ProtocolFault`` leaves as a JSON-RPC error.
2. The call is right and the world says no: ``Refusal`` leaves a tool as a result with ``isError``,
   and anything else as a JSON-RPC error.
3. We are wrong: whatever else was raised leaves with an incident id that stands in the log beside
   the traceback, and says nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from memrpc.protocol.capabilities import Path, required
from memrpc.protocol.revisions import Era, Revision
from memrpc.wire.codec import compact
from memrpc.wire.errors import ErrorCode
from memrpc.wire.messages import JSON, Error, JSONObject


class ProtocolFault(Exception):
    """The message is wrong; ``error`` is what the peer is told."""

    def __init__(self, code: ErrorCode, message: str, data: JSON = None) -> None:
        super().__init__(message)
        self.error = Error(code, message, data)


def invalid_params(message: str, data: JSON = None) -> ProtocolFault:
    return ProtocolFault(ErrorCode.INVALID_PARAMS, message, data)


def resource_not_found(uri: str, revision: Revision, *, hint: str = "") -> ProtocolFault:
    """Source: every revision, Resources, Error Handling; the code changed in 2026-07-28."""
    message = f"Resource not found: {hint}" if hint else "Resource not found"
    return ProtocolFault(revision.resource_not_found, message, {"uri": uri})


class Refusal(NamedTuple):
    """Why a call that was well-formed could not be served, and what to do instead."""

    code: str
    message: str
    retryable: bool = False
    details: Mapping[str, JSON] = MappingProxyType({})

    def as_json(self) -> JSONObject:
        return {
            "error": {
                "code": self.code,
                "message": self.message,
                "retryable": self.retryable,
                "details": dict(self.details),
            }
        }


class RefusedError(Exception):
    """Raised by engine code and fixtures that refuse a call themselves."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


class MissingCapabilityError(Exception):
    """The client did not declare what this call needs; ``path`` names it."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"Client capability required: {'.'.join(path)}")
        self.path = path


Explain: TypeAlias = Callable[[Exception], Refusal | None]
"""The application's translation of its own errors; None where they are not its own."""


def tool_error(refusal: Refusal) -> JSONObject:
    """The result of a tool that could not do what it was asked."""
    return {
        "content": [{"type": "text", "text": compact(refusal.as_json())}],
        "isError": True,
    }


def invalid_arguments(message: str, **details: JSON) -> Refusal:
    return Refusal("invalid_arguments", message, details=details)


def internal(incident: str) -> Refusal:
    return Refusal(
        "internal",
        f"Something failed inside the server; incident {incident} stands in its log",
        details={"incident": incident},
    )


def as_refusal(error: Exception, explain: Explain) -> Refusal | None:
    """The refusal that ``error`` stands for; None where it is a defect of ours."""
    if isinstance(error, RefusedError):
        return error.refusal
    if isinstance(error, MissingCapabilityError):
        return Refusal("not_supported", str(error), details={"required": required(error.path)})
    return explain(error)


def as_error(refusal: Refusal) -> Error:
    """A refusal outside a tool, where only JSON-RPC errors exist."""
    code = _INTERNAL if refusal.code in _OURS else ErrorCode.INVALID_PARAMS
    return Error(code, refusal.message, refusal.as_json()["error"])


_INTERNAL: Final = ErrorCode.INTERNAL_ERROR
_OURS: Final = frozenset({"internal", "unavailable"})


def missing_capability(error: MissingCapabilityError, revision: Revision) -> Error | None:
    """2026-07-28 has a code for it; the handshake revisions answer as for any refusal."""
    if revision.era is not Era.ENVELOPE:
        return None
    return Error(
        ErrorCode.MISSING_CAPABILITY,
        str(error),
        {"requiredCapabilities": required(error.path)},
    )
