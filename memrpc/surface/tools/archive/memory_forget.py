"""memory_forget: delete a source event with all that was drawn from it."""

from __future__ import annotations

from dataclasses import replace

from memrpc.archive import forgetting
from memrpc.archive.model import Erasure
from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.surface.desk import Desk
from memrpc.surface.shapes import to_json
from memrpc.surface.tools.archive.scope import scope_of
from memrpc.wire.messages import JSON


async def handle(_: Context, desk: Desk, arguments: dict[str, JSON]) -> ToolResult:
    scope, now = scope_of(desk, arguments), desk.now_us()
    receipt = await desk.database.write(
        lambda db: forgetting.forget(db, arguments["record_id"], scope, now=now)
    )
    if await desk.erase():
        receipt = replace(receipt, erasure=Erasure.COMPLETE)
    return ToolResult(to_json(receipt))
