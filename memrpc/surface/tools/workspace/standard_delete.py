"""standard-delete: delete coding standards for good."""

from __future__ import annotations

import apsw

from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.surface.desk import Desk
from memrpc.surface.workspace.deleting import delete
from memrpc.surface.workspace.visit import Arguments, begin
from memrpc.workspace import standard_writing
from memrpc.workspace.model import Act, Repo

TOOL = "standard-delete"


async def handle(ctx: Context, desk: Desk, arguments: Arguments) -> ToolResult:
    visit = await begin(ctx, desk, TOOL, arguments)
    handles = visit.handles("id", "code", "ids", "codes")
    return await delete(visit, handles, "standards", _delete)


def _delete(db: apsw.Connection, repo: Repo, handle: str, act: Act) -> tuple[str, str]:
    standard = standard_writing.delete(db, repo, handle, act)
    return standard.code, standard.title
