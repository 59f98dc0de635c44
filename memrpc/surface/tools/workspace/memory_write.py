"""memory-write: store, change or acknowledge entries, one or many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.surface.desk import Desk
from memrpc.surface.workspace import bulk
from memrpc.surface.workspace.entry_views import draft_of
from memrpc.surface.workspace.visit import Arguments, Visit, always, given, relocated, serve
from memrpc.wire.messages import JSON
from memrpc.workspace import entries, entry_writing, scope
from memrpc.workspace.model import Acknowledgement, Act, EntryStatus, Repo

if TYPE_CHECKING:
    from memrpc.workspace.model import Entry

TOOL = "memory-write"
MAX_NAMED = 3


async def handle(ctx: Context, desk: Desk, arguments: Arguments) -> ToolResult:
    return await serve(ctx, desk, TOOL, relocated(arguments), MODES)


async def write_many(visit: Visit) -> ToolResult:
    items = bulk.once_each(await bulk.read_items(visit, "memories"), _chosen_code)
    outcome = await visit.write(
        lambda db, repo, act: bulk.run(db, items, lambda item: _listed(db, repo, act, item)),
        count=len(items),
    )
    counts: dict[str, JSON] = {"repo": visit.project.name, "processed": len(outcome.done)}
    return bulk.answer(visit, outcome, _processed(outcome), counts, _line)


async def acknowledge(visit: Visit) -> ToolResult:
    done = await visit.write(lambda db, repo, act: _acknowledge(db, repo, act, visit.arguments))
    how = done["status"]
    text = f'Acknowledged [{done["code"]}] as "{how}" in "{visit.project.name}" ({done["id"]}).'
    kept = {name: done[name] for name in ("success", "id", "code", "status")}
    return visit.answer({**kept, "repo": visit.project.name}, [text])


async def change_or_create(visit: Visit) -> ToolResult:
    """A code that nothing has creates an entry of that code, if the entry is complete."""
    done = await visit.write(lambda db, repo, act: _one(db, repo, act, visit.arguments))
    return _written(visit, done)


def _written(visit: Visit, done: dict[str, JSON]) -> ToolResult:
    name, repo = done["title"], visit.project.name
    if done["operation"] == "create":
        kind, importance = done["type"], done["importance"]
        kept = {key: done[key] for key in ("success", "id", "code", "type", "title", "importance")}
        text = f'Stored [{done["code"]}] "{name}" ({kind}, imp:{importance}) in "{repo}".'
    else:
        kept = {key: done[key] for key in ("success", "id", "code", "updatedFields")}
        fields = ", ".join(done["updatedFields"])
        text = f'Updated [{done["code"]}] "{name}" in "{repo}" — {fields}.'
        if done["is_archived"]:
            text += " It is archived; status: active brings it back."
        if done["home"]:
            text += f" It belongs to {done['home']}, which shares it with all."
    return visit.answer({**kept, "repo": repo}, [text, f"Id: {done['id']}"])


MODES = (
    (given("memories"), write_many),
    (lambda a: "acknowledge" in a and bool(a.get("id") or a.get("code")), acknowledge),
    (always, change_or_create),
)


def _one(db: apsw.Connection, repo: Repo, act: Act, item: Arguments) -> dict[str, JSON]:
    """Do what one item asks for."""
    handle = item.get("id") or item.get("code")
    if "acknowledge" in item and handle:
        return _acknowledge(db, repo, act, item)
    if handle and not _creates(db, repo, item):
        return _update(db, repo, act, str(handle), item)
    return _create(db, repo, act, item)


def _listed(db: apsw.Connection, repo: Repo, act: Act, item: Arguments) -> dict[str, JSON]:
    """Do what one item asks for, and say so as a bulk answer does."""
    done = _one(db, repo, act, item)
    return {name: value for name, value in done.items() if name not in _TOLD_OF_ONE}


def _creates(db: apsw.Connection, repo: Repo, item: Arguments) -> bool:
    """Say whether a code is free and the item could be a new entry."""
    code = _chosen_code(item)
    return code is not None and not entries.holds_code(db, repo, code.strip())


def _chosen_code(item: Arguments) -> str | None:
    """Return the code of what could be a new entry."""
    if {"id", "acknowledge"} & item.keys() or not {"title", "type"} <= item.keys():
        return None
    code: str | None = item.get("code")
    return code


def _create(db: apsw.Connection, repo: Repo, act: Act, item: Arguments) -> dict[str, JSON]:
    entry = entry_writing.create(db, repo, draft_of(item, code=item.get("code")), act)
    return {"operation": "create", **_handles(entry), "importance": entry.importance}


def _update(
    db: apsw.Connection, repo: Repo, act: Act, handle: str, item: Arguments
) -> dict[str, JSON]:
    done = entry_writing.update(db, repo, handle, draft_of(item), act)
    shown, home = _handles(done.entry), done.entry.repo
    return {
        "operation": "update",
        **shown,
        "updatedFields": [_FIELDS.get(f, f) for f in done.fields],
        "is_archived": done.entry.status is EntryStatus.ARCHIVED and "status" not in done.fields,
        "home": None if home == repo.key else scope.full_name(scope.by_key(db, home)),
    }


_FIELDS = {"expires_at": "ttlDays"}
_TOLD_OF_ONE = ("importance", "is_archived", "home")


def _acknowledge(db: apsw.Connection, repo: Repo, act: Act, item: Arguments) -> dict[str, JSON]:
    handle = str(item.get("id") or item.get("code"))
    how = Acknowledgement(item["acknowledge"])
    context: str | None = item.get("application_context")
    entry = entry_writing.acknowledge(db, repo, handle, how, act, context=context)
    shown = {"id": entry.id, "code": entry.code}
    return {"operation": "acknowledge", "success": True, **shown, "status": str(how)}


def _handles(entry: Entry) -> dict[str, JSON]:
    shown = {"id": entry.id, "code": entry.code, "title": entry.title, "type": str(entry.type)}
    return {"success": True, **shown}


def _processed(outcome: bulk.Outcome) -> str:
    """Return the one line that sums a bulk call up."""
    parts: list[str] = []
    for operation, label in (("create", "create"), ("update", "update"), ("acknowledge", "ack")):
        codes = [str(each["code"]) for each in outcome.done if each["operation"] == operation]
        rest = f" +{len(codes) - MAX_NAMED}" if len(codes) > MAX_NAMED else ""
        parts += [f"{label}: {', '.join(codes[:MAX_NAMED])}{rest}"] if codes else []
    parts += [f"{len(outcome.failed)} failed"] if outcome.failed else []
    return f"Processed {len(outcome.done)}/{outcome.total} — {'; '.join(parts)}."


def _line(done: dict[str, JSON]) -> str:
    rest = done.get("title") or done.get("status")
    return f"{done['operation']} {done['code']} ({done['id']}): {rest}"
