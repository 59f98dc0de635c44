"""memory_read: the original of a record, page by page."""

from __future__ import annotations

from memrpc.archive import reading
from memrpc.archive.reading import ReadInput
from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.surface.desk import Desk
from memrpc.surface.shapes import to_json
from memrpc.surface.tools.archive.scope import scope_of
from memrpc.wire.messages import JSON


async def handle(_: Context, desk: Desk, arguments: dict[str, JSON]) -> ToolResult:
    request = ReadInput(
        record_id=arguments["record_id"],
        offset=arguments["offset"],
        max_chars=arguments["max_chars"],
        scope=scope_of(desk, arguments),
    )
    return ToolResult(to_json(await desk.database.read(lambda db: reading.read(db, request))))
