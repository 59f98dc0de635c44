"""Bulk calls: each item stands for itself, the bad ones are listed with what to send instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from memrpc.server.contracts import Contract, load_contract
from memrpc.server.service import ToolResult
from memrpc.store.errors import Conflict, DomainError, InvalidArguments
from memrpc.surface.workspace.shown import one_line, present, shortened
from memrpc.surface.workspace.visit import Arguments, Drawn, Visit, relocated, spoken
from memrpc.wire.messages import JSON
from memrpc.workspace import scope
from memrpc.workspace.scope import fold

if TYPE_CHECKING:
    import apsw

    from memrpc.surface.projects import Project

MAX_ITEMS = 500
MAX_FAILED = 50
ANSWERS = 4
"""How many common answers a bulk call's may be as long as."""


class Outcome(NamedTuple):
    """What was done and what was not; an item's ``index`` is its place in the call."""

    done: list[dict[str, JSON]]
    failed: list[dict[str, JSON]]
    total: int


async def read_items(visit: Visit, field: str) -> list[Arguments | DomainError]:
    """Return each item as it is meant, or the refusal that it gets."""
    items: list[JSON] = visit.arguments[field]
    if not 1 <= len(items) <= MAX_ITEMS:
        raise InvalidArguments(
            f"{field} takes 1 to {MAX_ITEMS} items, not {len(items)}.", field=field
        )
    contract = _contract(visit.tool)
    return [await _read(contract, item, visit.project) for item in items]


def once_each(
    items: Sequence[Arguments | DomainError], code_of: Callable[[Arguments], str | None]
) -> list[Arguments | DomainError]:
    """Return the items with a refusal of each that describes anew what an earlier one describes.

    ``code_of`` is the code that an item chooses for what it describes in full.
    """
    seen: set[str] = set()
    kept: list[Arguments | DomainError] = []
    for item in items:
        code = None if isinstance(item, DomainError) else (code_of(item) or "").strip()
        kept.append(_repeated(str(code)) if code in seen else item)
        seen |= {code} if code else set()
    return kept


def _repeated(code: str) -> Conflict:
    return Conflict(
        f"code {code} is given to an earlier item of this call; send another code, or none.",
        code=code,
    )


def run(
    db: apsw.Connection,
    items: Sequence[Arguments | DomainError],
    operate: Callable[[Arguments], dict[str, JSON]],
    order: Iterable[int] | None = None,
) -> Outcome:
    """Do each item in a savepoint of its own, in the order of their places or the one given.

    Raises the first refusal, with all of them in ``details``, when nothing could be done.
    """
    done: list[dict[str, JSON]] = []
    refusals: list[tuple[int, DomainError]] = []
    for index in range(len(items)) if order is None else order:
        item = items[index]
        if isinstance(item, DomainError):
            refusals.append((index, item))
            continue
        try:
            with db:
                done.append({"index": index, **operate(item)})
        except DomainError as refusal:
            refusals.append((index, refusal))
    refusals.sort(key=lambda each: each[0])
    failed = [failure(index, refusal) for index, refusal in refusals]
    if not done:
        first = refusals[0][1]
        raise type(first)(f"Every item failed. The first: {first.message}", failed=failed)
    return Outcome(sorted(done, key=lambda each: each["index"]), failed, len(items))


def answer(
    visit: Visit,
    outcome: Outcome,
    head: str,
    counts: dict[str, JSON],
    line: Callable[[dict[str, JSON]], str],
) -> ToolResult:
    """Return what a bulk call did, the first items in full and of many more their codes."""

    def draw(count: int) -> Drawn:
        done = outcome.done[:count]
        codes = [str(each["code"]) for each in outcome.done[count:]]
        failed = shown_failures(outcome.failed)
        rest = present({"otherCodes": codes or None, "failed": failed or None})
        structured = {"success": True, **counts, "total": outcome.total, "results": done, **rest}
        lines = [head, *(f"- {line(each)}" for each in done), *other_lines(codes)]
        return structured, [*lines, *failure_lines(failed, len(outcome.failed))]

    return visit.fitted(len(outcome.done), draw, answers=ANSWERS)


def other_lines(codes: Sequence[str]) -> list[str]:
    """Return the codes of what was done and is not shown in full."""
    return [f"And: {', '.join(codes)}"] if codes else []


def shown_failures(failed: list[dict[str, JSON]]) -> list[dict[str, JSON]]:
    """Return the refusals, of many the first and each in one line."""
    if len(failed) <= MAX_FAILED:
        return failed
    return [{**each, "message": one_line(each["message"])} for each in failed[: 2 * MAX_FAILED]]


def failure(index: int, refusal: DomainError) -> dict[str, JSON]:
    """Return how a bulk answer lists a refusal."""
    return {"index": index, "code": refusal.code, "message": shortened(refusal.message)}


def failure_lines(failed: Sequence[dict[str, JSON]], total: int) -> list[str]:
    """Return the refusals as text, and how many there are in all."""
    lines = [f"- failed #{each['index']} ({each['code']}): {each['message']}" for each in failed]
    return lines if total == len(failed) else [*lines, f"- {total - len(failed)} more failed"]


async def _read(contract: Contract, item: JSON, project: Project) -> Arguments | DomainError:
    if not isinstance(item, dict):
        return InvalidArguments("an item must be an object with the tool's fields.")
    meant, violation = await contract.read(item)
    if violation is not None:
        return InvalidArguments(violation.message, pointer=violation.pointer)
    if _is_elsewhere(relocated(meant), project):
        return InvalidArguments(
            f"the item names another repository than {project.owner}/{project.name}; send it in a "
            "call of its own.",
            field="repo",
        )
    return spoken(meant)


def _is_elsewhere(item: Arguments, project: Project) -> bool:
    """Say whether an item names a repository, and not the one that the call is about."""
    owner, name = scope.split(item.get("owner"), item.get("repo"))
    named = fold(owner or project.owner), fold(name or project.name)
    return named != (fold(project.owner), fold(project.name))


@lru_cache(maxsize=8)
def _contract(tool: str) -> Contract:
    return load_contract("workspace", tool)
