"""The memory's errors in the engine's terms."""

from __future__ import annotations

from memrpc.server.faults import Refusal
from memrpc.store.errors import DomainError


def explain(error: Exception) -> Refusal | None:
    """The refusal that a domain error stands for; None for anything else."""
    if not isinstance(error, DomainError):
        return None
    return Refusal(error.code, error.message, error.retryable, error.details)
