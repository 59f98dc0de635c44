"""standard-read: list, search or open coding standards."""

from __future__ import annotations

import apsw

from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.surface.desk import Desk
from memrpc.surface.workspace import shown
from memrpc.surface.workspace import standard_views as views
from memrpc.surface.workspace.visit import (
    Arguments,
    Drawn,
    Visit,
    always,
    given,
    relocated,
    serve,
)
from memrpc.wire.messages import JSON
from memrpc.workspace import rules, standard_reading, standards
from memrpc.workspace.graph import Subgraph
from memrpc.workspace.model import Repo, Standard
from memrpc.workspace.standard_reading import StandardFilter, StandardList

TOOL = "standard-read"
_RESERVED_CHARS = 1_800
"""What a detail's answer needs besides the content."""

Detail = tuple[Standard, Repo, Standard | None]


async def handle(ctx: Context, desk: Desk, arguments: Arguments) -> ToolResult:
    return await serve(ctx, desk, TOOL, relocated(arguments), MODES)


async def search(visit: Visit) -> ToolResult:
    chosen, query = _filter(visit), visit.arguments["query"]
    asked = shown.shortened(query)
    found = await visit.search(
        lambda db, repo: standard_reading.search(db, repo, query, chosen, visit.aids)
    )
    return visit.fitted(len(found.hits), lambda count: _found(visit, asked, chosen, found, count))


async def detail(visit: Visit) -> ToolResult:
    handles = visit.handles("id", "code", "ids", "codes")
    found, missing, graph = await visit.read(lambda db, repo: _details(db, repo, handles))
    is_single = len(handles) == 1 and not {"ids", "codes"} & visit.arguments.keys()
    return _single(visit, found[0], graph) if is_single else _several(visit, found, missing)


async def list_standards(visit: Visit) -> ToolResult:
    chosen = _filter(visit)
    found = await visit.read(lambda db, repo: standard_reading.listing(db, repo, chosen))

    def draw(count: int) -> Drawn:
        rows: list[JSON] = [views.list_row(hit) for hit in found.hits[:count]]
        table: dict[str, JSON] = {"columns": list(views.LIST_COLUMNS), "rows": rows}
        structured, lines = _page(visit, chosen, found, count)
        head = f'### Standards in "{visit.project.name}": {found.total} (showing {count})'
        return {"mode": "list", "standards": table, **structured}, [head, *lines]

    return visit.fitted(len(found.hits), draw)


MODES = (
    (given("query"), search),
    (given("id", "code", "ids", "codes"), detail),
    (always, list_standards),
)


def _filter(visit: Visit) -> StandardFilter:
    limit, offset = visit.page(20)
    arguments = visit.arguments
    return StandardFilter(
        stack=tuple((each,) for each in rules.check_list(arguments.get("stack", ()), "stack")),
        tags=tuple((each,) for each in rules.check_list(arguments.get("tags", ()), "tags")),
        language=arguments.get("language") or None,
        context=arguments.get("context") or None,
        version=arguments.get("version") or None,
        is_global=arguments.get("is_global"),
        limit=limit,
        offset=offset,
    )


def _found(
    visit: Visit, query: str, chosen: StandardFilter, found: StandardList, count: int
) -> Drawn:
    """Draw the first ``count`` hits of a search."""
    rows: list[JSON] = [views.search_row(hit) for hit in found.hits[:count]]
    table: dict[str, JSON] = {"columns": list(views.SEARCH_COLUMNS), "rows": rows}
    structured, lines = _page(visit, chosen, found, count)
    head = f'### Results: {shown.counted(found.total, "standards")} for "{query}" (showing {count})'
    if not rows:
        head = shown.nothing_head("standards", query, visit.project.name, found.total)
    return {"mode": "search", "query": query, "results": table, **structured}, [head, *lines]


def _page(visit: Visit, chosen: StandardFilter, found: StandardList, count: int) -> Drawn:
    """Draw what a list and a search have in common."""
    page = shown.paging(count=count, total=found.total, offset=chosen.offset, limit=chosen.limit)
    kg = shown.kg_json(found.graph) if count == len(found.hits) else None
    reason = found.reason if not found.hits else None
    rest = shown.present({"reason": reason, "near_repos": list(found.near) or None, "kg": kg})
    structured: dict[str, JSON] = {"schema": visit.tool, **page, **rest}
    nothing = shown.nothing_lines(reason, found.near)
    rows = views.row_lines(found.hits[:count])
    lines = [*([views.LEGEND] if rows else []), *rows, *nothing, *shown.more_lines(page)]
    return structured, lines


def _details(
    db: apsw.Connection, repo: Repo, handles: list[str]
) -> tuple[list[Detail], list[str], Subgraph]:
    found, missing, graph = standard_reading.details(db, repo, handles)
    repos = shown.repo_names(db, [each.repo for each in found])
    parents = standards.by_keys(db, [each.parent for each in found if each.parent is not None])
    details = [(each, repos[each.repo], parents.get(each.parent or 0)) for each in found]
    return details, missing, graph


def _single(visit: Visit, found: Detail, graph: Subgraph) -> ToolResult:
    """Show one standard; a long content page by page, by characters."""
    standard, repo, parent = found
    _, offset = visit.page(1)
    part = standard.content[offset : offset + visit.desk.answer_chars - _RESERVED_CHARS]
    end = offset + len(part)
    after = end if end < len(standard.content) else None
    paged = standard._replace(content=part)
    structured = shown.present(
        {
            "schema": visit.tool,
            "mode": "detail",
            "standard": views.standard_json(paged, repo, parent),
            "next_offset": after,
            "kg": shown.kg_json(graph),
        }
    )
    more = shown.part_lines(offset, after, len(standard.content))
    lines = views.standard_lines(paged, repo, parent)
    return visit.answer(structured, [*lines, *shown.kg_lines(graph), *more])


def _several(visit: Visit, found: list[Detail], missing: list[str]) -> ToolResult:
    limit = visit.desk.answer_chars - _RESERVED_CHARS

    def draw(count: int) -> Drawn:
        after = shown.continued([(each.code, each.content) for each, _, _ in found[:count]], limit)
        chosen = [
            (standard._replace(content=standard.content[:limit]), repo, parent)
            for standard, repo, parent in found[:count]
        ]
        remaining = [standard.code for standard, _, _ in found[count:]]
        structured: dict[str, JSON] = {
            "schema": visit.tool,
            "mode": "detail",
            "standards": [views.standard_json(*each) for each in chosen],
            "count": count,
            **shown.present(
                {
                    "continued": after or None,
                    "missing": shown.missing_json(missing),
                    "remaining": remaining or None,
                }
            ),
        }
        lines = [line for each in chosen for line in (*views.standard_lines(*each), "")]
        lines += shown.missing_lines(missing)
        lines += shown.continued_lines(after)
        lines += shown.remaining_lines(remaining)
        return structured, lines

    return visit.fitted(len(found), draw)
