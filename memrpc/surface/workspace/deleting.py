"""Deleting by handles: one handle fails alone, several are partial; the answer is the same."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from memrpc.server.service import ToolResult
from memrpc.store.errors import DomainError
from memrpc.store.lanes import loop_call_soon
from memrpc.surface.workspace import bulk
from memrpc.surface.workspace.shown import counted, present, shortened
from memrpc.surface.workspace.visit import Drawn, Visit
from memrpc.wire.messages import JSON
from memrpc.workspace.model import Act, Repo

if TYPE_CHECKING:
    import apsw

MAX_NAMED = 10
Delete = Callable[["apsw.Connection", Repo, str, Act], tuple[str, str]]
"""Delete what a handle names; returns its code and title."""


async def delete(visit: Visit, handles: list[str], noun: str, one: Delete) -> ToolResult:
    """Delete what the handles name, reporting progress, in one transaction.

    Raises the refusal of a single handle, or of the first when nothing was deleted.
    """

    def work(
        db: apsw.Connection, repo: Repo, act: Act
    ) -> tuple[list[tuple[str, str]], list[tuple[int, DomainError]]]:
        done: dict[tuple[str, str], None] = {}  # Two handles may name the same thing.
        failed: list[tuple[int, DomainError]] = []
        for index, handle in enumerate(handles):
            try:
                with db:
                    done[one(db, repo, handle, act)] = None
            except DomainError as refusal:
                failed.append((index, refusal))
            tell(partial(visit.ctx.progress, index + 1, len(handles)))
        if not done:
            raise _refusal(failed, len(handles))
        return list(done), failed

    tell = loop_call_soon()  # The work may be done on a lane; progress is told by the loop.
    visit.ctx.progress(0, len(handles))
    done, refused = await visit.write(work, count=len(handles))
    named = [shortened(handle) for handle in handles]
    failed = [
        {**bulk.failure(index, refusal), "identifier": named[index]} for index, refusal in refused
    ]
    return _answer(visit, named, noun, done, failed)


def _refusal(failed: list[tuple[int, DomainError]], count: int) -> DomainError:
    first = failed[0][1]
    if count == 1:
        return first
    listed = [bulk.failure(index, refusal) for index, refusal in failed]
    return type(first)(f"Nothing was deleted. The first: {first.message}", failed=listed)


def _answer(
    visit: Visit,
    handles: list[str],
    noun: str,
    done: list[tuple[str, str]],
    failed: list[dict[str, JSON]],
) -> ToolResult:
    codes = [code for code, _ in done]
    is_single = len(handles) == 1
    told = bulk.shown_failures(failed)
    structured = present(
        {
            "success": True,
            "id": handles[0] if is_single else None,
            "ids": None if is_single else handles,
            "repo": visit.project.name,
            "deletedCount": len(done),
            "deletedCodes": codes,
            "deletedTitles": [title for _, title in done] if noun == "standards" else None,
            "skippedCount": len(failed) or None,
            "failed": told or None,
            "totalAttempted": None if is_single else len(handles),
        }
    )
    skipped = f" ({len(failed)} skipped)" if failed else ""
    what = f'{counted(len(done), noun)} from "{visit.project.name}"'
    first = ", ".join(codes[:MAX_NAMED]) + ("…" if len(codes) > MAX_NAMED else "")
    head = f"Deleted {what}: {first}{skipped}."
    asked = [f"Asked for: {handles[0]}"] if is_single and handles != codes else []

    def draw(count: int) -> Drawn:
        named = [f"- {code}: {title}" for code, title in done[:count]]
        rest = [*bulk.other_lines(codes[count:]), *asked]
        return structured, [head, *named, *rest, *bulk.failure_lines(told, len(failed))]

    return visit.fitted(len(done), draw, answers=bulk.ANSWERS)
