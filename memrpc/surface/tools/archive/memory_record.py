"""memory_record: keep what was said, exactly, and draw memories from it."""

from __future__ import annotations

import dataclasses

from memrpc.archive import extraction, recording
from memrpc.archive.answers import Receipt
from memrpc.archive.model import Category, Cue, CueKind, ExtractionState, Method, Role
from memrpc.archive.recording import RecordInput
from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.surface.desk import Desk
from memrpc.surface.shapes import to_json
from memrpc.surface.tools.archive.scope import scope_of
from memrpc.wire.messages import JSON


async def handle(ctx: Context, desk: Desk, arguments: dict[str, JSON]) -> ToolResult:
    entry = _entry(desk, arguments)
    now, method = desk.now_us(), Method(desk.extractor)
    receipt = await desk.database.write(
        lambda db: recording.record(db, entry, now=now, method=method)
    )
    is_owed = receipt.extraction.state is ExtractionState.PENDING
    if is_owed and method is Method.VERBATIM:
        receipt = await _extract(desk, receipt)
    elif is_owed and method is not Method.NONE:
        desk.meet(ctx)
        desk.work_is_due()
    return ToolResult(to_json(receipt))


def _entry(desk: Desk, arguments: dict[str, JSON]) -> RecordInput:
    given = {name: arguments[name] for name in _PLAIN if name in arguments}
    return RecordInput(
        role=Role(arguments["role"]),
        category=Category(arguments["category"]),
        cues=tuple(map(_cue, arguments.get("cues", ()))),
        scope=scope_of(desk, arguments),
        **given,
    )


_PLAIN = ("event_id", "text", "source", "session_id", "occurred_at")


def _cue(cue: dict[str, JSON]) -> Cue:
    return Cue(CueKind(cue["kind"]), cue["key"], cue.get("label"))


async def _extract(desk: Desk, receipt: Receipt) -> Receipt:
    """Draw memories at once.  The event is safe; its job is there for whatever goes wrong here."""
    try:
        drawn = await desk.database.write(
            lambda db: extraction.extract(db, receipt.seq, now=desk.now_us(), new_id=desk.new_id)
        )
    except Exception:  # noqa: BLE001 -- the job row retries and reports; the receipt says pending
        desk.work_is_due()
        return receipt
    return dataclasses.replace(drawn, duplicate=receipt.duplicate)
