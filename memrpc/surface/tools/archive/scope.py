"""The scope that an archive tool's arguments name."""

from __future__ import annotations

from memrpc.archive.model import Scope
from memrpc.wire.messages import JSON


def scope_of(arguments: dict[str, JSON]) -> Scope:
    return Scope(arguments["persona_id"], arguments["project_id"])
