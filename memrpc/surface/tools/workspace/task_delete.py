"""task-delete: delete tasks for good."""

from __future__ import annotations

import apsw

from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.surface.desk import Desk
from memrpc.surface.workspace.deleting import delete
from memrpc.surface.workspace.visit import Arguments, begin
from memrpc.workspace import task_writing
from memrpc.workspace.model import Act, Repo

TOOL = "task-delete"


async def handle(ctx: Context, desk: Desk, arguments: Arguments) -> ToolResult:
    visit = await begin(ctx, desk, TOOL, arguments)
    handles = visit.handles("id", "code", "task_code", "ids", "codes", "task_codes")
    return await delete(visit, handles, "tasks", _delete)


def _delete(db: apsw.Connection, repo: Repo, handle: str, act: Act) -> tuple[str, str]:
    task = task_writing.delete(db, repo, handle, act)
    return task.code, task.title
