"""memory_correct: put the right statement in place of a wrong one."""

from __future__ import annotations

from memrpc.archive import correcting
from memrpc.archive.correcting import CorrectInput
from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.surface.desk import Desk
from memrpc.surface.shapes import to_json
from memrpc.surface.tools.archive.scope import scope_of
from memrpc.wire.messages import JSON


async def handle(_: Context, desk: Desk, arguments: dict[str, JSON]) -> ToolResult:
    request = CorrectInput(
        memory_id=arguments["memory_id"],
        content=arguments["content"],
        reason=arguments["reason"],
        valid_at=arguments.get("valid_at"),
        scope=scope_of(desk, arguments),
    )
    now = desk.now_us()
    receipt = await desk.database.write(
        lambda db: correcting.correct(db, request, now=now, new_id=desk.new_id)
    )
    return ToolResult(to_json(receipt))
