"""memory_recall: what is known about a question, with its sources."""

from __future__ import annotations

from memrpc.archive import recalling
from memrpc.archive.answers import RecallAnswer
from memrpc.archive.model import Detail, SearchMode
from memrpc.archive.recalling import RecallInput
from memrpc.recall.meaning import Reach
from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.store.lanes import checkpoint
from memrpc.surface.desk import Desk
from memrpc.surface.shapes import to_json
from memrpc.surface.tools.archive.scope import scope_of
from memrpc.wire.codec import compact
from memrpc.wire.messages import JSON


async def handle(_: Context, desk: Desk, arguments: dict[str, JSON]) -> ToolResult:
    request = RecallInput(
        query=arguments["query"],
        limit=arguments["limit"],
        offset=arguments["offset"],
        as_of=arguments.get("as_of"),
        include_history=arguments["include_history"],
        detail=Detail(arguments["detail"]),
        search_mode=SearchMode(arguments["search_mode"]),
        cue_key=arguments.get("cue_key"),
        max_chars=desk.answer_chars,
        scope=scope_of(desk, arguments),
    )
    recalling.check(request)
    meaning = await desk.embedders.meaning(request.query, Reach(request.search_mode))
    now = desk.now_us()
    answer = await desk.database.search(
        lambda db: recalling.recall(
            db, request, now=now, measure=_chars, checkpoint=checkpoint, meaning=meaning
        )
    )
    return ToolResult(to_json(answer))


def _chars(answer: RecallAnswer) -> int:
    return len(compact(to_json(answer)))
