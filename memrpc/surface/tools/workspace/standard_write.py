"""standard-write: store or change coding standards, one or many."""

from __future__ import annotations

import apsw

from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.surface.desk import Desk
from memrpc.surface.workspace import bulk
from memrpc.surface.workspace.standard_views import draft_of
from memrpc.surface.workspace.visit import Arguments, Visit, always, given, serve
from memrpc.wire.messages import JSON
from memrpc.workspace import standard_writing
from memrpc.workspace.model import Act, Repo, Standard

TOOL = "standard-write"


async def handle(ctx: Context, desk: Desk, arguments: Arguments) -> ToolResult:
    return await serve(ctx, desk, TOOL, arguments, MODES)


async def write_many(visit: Visit) -> ToolResult:
    items = await bulk.read_items(visit, "standards")
    outcome = await visit.write(
        lambda db, repo, act: bulk.run(db, items, lambda item: _one(db, repo, act, item)),
        count=len(items),
    )
    head = f'Wrote {len(outcome.done)}/{outcome.total} standards in "{visit.project.name}".'
    return bulk.answer(visit, outcome, head, {"processed": len(outcome.done)}, _line)


async def change(visit: Visit) -> ToolResult:
    handle = str(visit.arguments.get("id") or visit.arguments.get("code"))
    draft = draft_of(visit.arguments)
    done = await visit.write(
        lambda db, repo, act: standard_writing.update(db, repo, handle, draft, act)
    )
    standard = done.standard
    structured: dict[str, JSON] = {
        "success": True,
        "id": standard.id,
        "code": standard.code,
        "updatedFields": list(done.fields),
    }
    where = f'in "{visit.project.name}" — {", ".join(done.fields)}.'
    head = f'Updated [{standard.code}] "{standard.title}" {where}'
    return visit.answer(structured, [head, f"Id: {standard.id}"])


async def create(visit: Visit) -> ToolResult:
    draft = draft_of(visit.arguments)
    standard = await visit.write(
        lambda db, repo, act: standard_writing.create(db, repo, draft, act)
    )
    message = f'Stored [{standard.code}] "{standard.title}" in "{visit.project.name}".'
    shown = {"id": standard.id, "code": standard.code, "title": standard.title}
    structured: dict[str, JSON] = {
        "success": True,
        "standard": {**shown, "repo": visit.project.name},
        "message": message,
    }
    return visit.answer(structured, [message, f"Id: {standard.id}"])


MODES = (
    (given("standards"), write_many),
    (lambda a: bool(a.get("id") or a.get("code")), change),
    (always, create),
)


def _one(db: apsw.Connection, repo: Repo, act: Act, item: Arguments) -> dict[str, JSON]:
    """Do what one item asks for."""
    handle = item.get("id") or item.get("code")
    if not handle:
        standard = standard_writing.create(db, repo, draft_of(item), act)
        return {"operation": "create", **_handles(standard)}
    done = standard_writing.update(db, repo, str(handle), draft_of(item), act)
    return {"operation": "update", **_handles(done.standard), "updatedFields": list(done.fields)}


def _line(done: dict[str, JSON]) -> str:
    return f"{done['operation']} {done['code']} {done['title']} ({done['id']})"


def _handles(standard: Standard) -> dict[str, JSON]:
    shown = {"id": standard.id, "code": standard.code, "title": standard.title}
    return {"success": True, **shown}
