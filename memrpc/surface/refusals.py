"""The memory's errors in the engine's terms."""

from __future__ import annotations

from typing import Final

from memrpc.server.faults import Refusal
from memrpc.store.errors import DomainError
from memrpc.wire.messages import JSON

MAX_CHARS: Final = 1_000
MAX_ITEMS: Final = 100
"""A refusal goes into a model's context; what the caller sent need not come back with it whole."""


def explain(error: Exception) -> Refusal | None:
    """The refusal that a domain error stands for; None for anything else."""
    if not isinstance(error, DomainError):
        return None
    message = _shortened(error.message)
    details = {name: _shortened(value) for name, value in error.details.items()}
    return Refusal(error.code, message, error.retryable, details)


def _shortened(value: JSON) -> JSON:
    match value:
        case str() if len(value) > MAX_CHARS:
            return f"{value[:MAX_CHARS]}…"
        case list() | tuple():
            return [_shortened(item) for item in value[:MAX_ITEMS]]
        case dict():
            return {name: _shortened(item) for name, item in value.items()}
        case _:
            return value
