"""memory-delete: put entries away; memory-write brings them back."""

from __future__ import annotations

import apsw

from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.surface.desk import Desk
from memrpc.surface.workspace.deleting import delete
from memrpc.surface.workspace.visit import Arguments, begin
from memrpc.workspace import entry_writing
from memrpc.workspace.model import Act, Repo

TOOL = "memory-delete"


async def handle(ctx: Context, desk: Desk, arguments: Arguments) -> ToolResult:
    visit = await begin(ctx, desk, TOOL, arguments)
    handles = visit.handles("id", "code", "ids", "codes")
    return await delete(visit, handles, "memories", _archive)


def _archive(db: apsw.Connection, repo: Repo, handle: str, act: Act) -> tuple[str, str]:
    entry = entry_writing.archive(db, repo, handle, act)
    return entry.code, entry.title
