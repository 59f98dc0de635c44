"""repo-summarize: put a new summary in place of the repository's old one."""

from __future__ import annotations

from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.surface.desk import Desk
from memrpc.surface.workspace.visit import Arguments, begin
from memrpc.workspace import summaries

TOOL = "repo-summarize"


async def handle(ctx: Context, desk: Desk, arguments: Arguments) -> ToolResult:
    visit = await begin(ctx, desk, TOOL, arguments)
    signals = arguments["signals"]
    summary = await visit.write(lambda db, repo, act: summaries.write(db, repo, signals, act))
    owner, name, _ = visit.project
    structured = {
        "owner": owner,
        "repo": name,
        "signals": list(summary.signals),
        "signalCount": len(summary.signals),
    }
    return visit.answer(structured, [f'Summarized "{name}".', *summary.text.splitlines()])
