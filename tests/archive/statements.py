"""What two statements say of each other, as the archive reads them."""

from __future__ import annotations

from memrpc.archive.assertions import assertions


def contradict(one: str, other: str) -> bool:
    """Say whether two statements cannot both hold."""
    others = assertions(other)
    return any(a.contradicts(b) for a in assertions(one) for b in others)
