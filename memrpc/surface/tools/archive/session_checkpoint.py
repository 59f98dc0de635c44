"""session_checkpoint: keep where the work stands."""

from __future__ import annotations

from memrpc.archive import checkpoints
from memrpc.archive.answers import CheckpointState
from memrpc.archive.checkpoints import CheckpointInput
from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.surface.desk import Desk
from memrpc.surface.shapes import to_json
from memrpc.surface.tools.archive.scope import scope_of
from memrpc.wire.messages import JSON


async def handle(_: Context, desk: Desk, arguments: dict[str, JSON]) -> ToolResult:
    request = CheckpointInput(
        state=_state(arguments["state"]),
        covered_event_id=arguments["covered_event_id"],
        session_id=arguments.get("session_id"),
        scope=scope_of(desk, arguments),
    )
    now = desk.now_us()
    receipt = await desk.database.write(
        lambda db: checkpoints.save(db, request, now=now, new_id=desk.new_id)
    )
    return ToolResult(to_json(receipt))


def _state(given: dict[str, JSON]) -> CheckpointState:
    lists = {name: tuple(given.get(name, ())) for name in ("completed", "pending", "constraints")}
    return CheckpointState(goal=given["goal"], next_step=given.get("next_step", ""), **lists)
