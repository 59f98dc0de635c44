"""session_resume: one context for the next model, within its budget."""

from __future__ import annotations

from memrpc.archive import resuming, tokens
from memrpc.archive.answers import ResumeAnswer
from memrpc.archive.resuming import ResumeInput
from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.surface.desk import Desk
from memrpc.surface.shapes import to_json
from memrpc.surface.tools.archive.scope import scope_of
from memrpc.wire.messages import JSON


async def handle(_: Context, desk: Desk, arguments: dict[str, JSON]) -> ToolResult:
    request = ResumeInput(
        query=arguments["query"],
        token_budget=arguments["token_budget"],
        session_id=arguments.get("session_id"),
        scope=scope_of(desk, arguments),
    )
    return ToolResult(to_json(await resume(desk, request, arguments.get("target_model"))))


async def resume(desk: Desk, request: ResumeInput, model: str | None) -> ResumeAnswer:
    """The context, counted by the model's tokenizer where it is known.

    Loading a tokenizer takes up to a second; it happens on the searcher's thread.
    """
    now = desk.now_us()
    return await desk.database.search(
        lambda db: resuming.resume(
            db,
            request,
            now=now,
            counters=tokens.counters_for(model),
            understand=desk.embedders.at_once,
        )
    )
