"""memory-read: search, open or recap what a repository knows."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from memrpc.codebase.naming import Named
from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.surface.codebase import mentions
from memrpc.surface.desk import Desk
from memrpc.surface.workspace import entry_views, shown
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
from memrpc.workspace import entry_reading, entry_search, rules
from memrpc.workspace.entry_filters import EntryQuestion
from memrpc.workspace.entry_reading import EntryDetail, Recap
from memrpc.workspace.entry_search import EntryAnswer
from memrpc.workspace.model import Repo

TOOL = "memory-read"
RECAP_LIMIT = 50
_RESERVED_CHARS = 1_800
"""What a detail's answer needs besides the content."""


async def handle(ctx: Context, desk: Desk, arguments: Arguments) -> ToolResult:
    return await serve(ctx, desk, TOOL, relocated(arguments), MODES)


async def search(visit: Visit) -> ToolResult:
    limit, offset = visit.page(5)
    path = await visit.path("current_file_path")
    question = _question({**visit.arguments, "current_file_path": path}, limit, offset)

    def read(db: apsw.Connection, repo: Repo) -> tuple[EntryAnswer, dict[int, Repo]]:
        answer = entry_search.search(db, repo, question, now=visit.now, aids=visit.aids)
        return answer, shown.others(db, repo, (hit.entry.repo for hit in answer.hits))

    answer, elsewhere = await visit.search(read)
    return visit.fitted(
        len(answer.hits), lambda count: _found(visit, question, answer, elsewhere, count)
    )


async def detail(visit: Visit) -> ToolResult:
    handles = visit.handles("id", "code", "ids", "codes")
    found, repos = await visit.read(lambda db, repo: _detail(db, repo, handles))
    if len(handles) > 1 or {"ids", "codes"} & visit.arguments.keys():
        return _several(visit, found, repos)
    (entry,) = found.entries
    text = f"{entry.title}\n{entry.content}"
    code = await visit.read(lambda db, _: mentions.code_named_in(db, repos[entry.repo], text))
    return _single(visit, found, repos[entry.repo], code)


async def recap(visit: Visit) -> ToolResult:
    limit, offset = visit.page(5, RECAP_LIMIT)

    def read(db: apsw.Connection, repo: Repo) -> tuple[Recap, dict[int, Repo]]:
        found = entry_reading.recap(db, repo, now=visit.now, limit=limit, offset=offset)
        return found, shown.others(db, repo, (entry.repo for entry in found.entries))

    found, elsewhere = await visit.read(read)

    def draw(count: int) -> Drawn:
        chosen = found.entries[:count]
        page = shown.paging(count=count, total=found.total, offset=offset, limit=limit)
        rows = [entry_views.recap_row(entry) for entry in chosen]
        kg = shown.kg_json(found.graph) if count == len(found.entries) else None
        structured = {
            "stats": {"byType": {str(kind): n for kind, n in found.by_type.items()}},
            "top": {"columns": list(entry_views.RECAP_COLUMNS), "rows": rows},
            **page,
            **shown.present({"near_repos": list(found.near) or None, "kg": kg}),
        }
        lines = [
            f"Memory Timeline — {found.total} total (showing {count})",
            "> CODE [importance 1-5] title; the most important first.",
            *entry_views.tally_lines(found.by_type, found.besides),
            *(entry_views.dated_line(entry, elsewhere) for entry in chosen),
            *shown.nothing_lines(None, found.near),
        ]
        return structured, [*lines, *shown.more_lines(page)]

    return visit.fitted(len(found.entries), draw)


MODES = (
    (given("query"), search),
    (given("id", "code", "ids", "codes"), detail),
    (always, recap),
)


def _question(arguments: Arguments, limit: int, offset: int) -> EntryQuestion:
    place = entry_views.scope_of(arguments)
    return EntryQuestion(
        query=arguments["query"],
        current_tags=rules.check_list(arguments.get("current_tags", ()), "current_tags"),
        current_path=arguments.get("current_file_path"),
        branch=place.get("branch"),
        folder=place.get("folder"),
        language=place.get("language"),
        include_archived=bool(arguments.get("include_archived")),
        limit=limit,
        offset=offset,
    )


def _found(
    visit: Visit,
    question: EntryQuestion,
    answer: EntryAnswer,
    elsewhere: dict[int, Repo],
    count: int,
) -> Drawn:
    """Draw the first ``count`` hits."""
    hits, query = answer.hits[:count], shown.shortened(question.query)
    page = shown.paging(
        count=count, total=answer.total, offset=question.offset, limit=question.limit
    )
    kg = shown.kg_json(answer.graph) if count == len(answer.hits) else None
    structured: dict[str, JSON] = {
        "query": query,
        "columns": list(entry_views.SEARCH_COLUMNS),
        "rows": [entry_views.row(hit) for hit in hits],
        **page,
        **shown.present(
            {
                "window": shown.window_json(answer.window),
                "reason": answer.reason,
                "near_repos": list(answer.near) or None,
                "elsewhere": entry_views.elsewhere_json(hits, elsewhere),
                "archived": entry_views.archived_json(hits),
                "kg": kg,
            }
        ),
    }
    window = shown.window_lines(answer.window)
    if not hits:
        head = shown.nothing_head("memories", query, visit.project.name, answer.total)
        return structured, [head, *window, *shown.nothing_lines(answer.reason, answer.near)]
    unread = sum(not hit.entry.used for hit in hits)
    counts = f"(showing {count} · {unread} unacknowledged)"
    head = f'### Results: {shown.counted(answer.total, "memories")} for "{query}" {counts}'
    lines = [head, entry_views.LEGEND, *window]
    lines += entry_views.hit_lines(hits, question.offset + 1, elsewhere)
    opened = entry_views.opening_line(hits[0], elsewhere, visit.project)
    links = shown.kg_lines(answer.graph) if kg else []
    more = shown.ranking_lines(page) if hits[0].mark else shown.more_lines(page)
    return structured, [*lines, *links, opened, *more]


def _detail(
    db: apsw.Connection, repo: Repo, handles: list[str]
) -> tuple[EntryDetail, dict[int, Repo]]:
    found = entry_reading.detail(db, repo, handles)
    return found, shown.repo_names(db, [entry.repo for entry in found.entries])


def _single(visit: Visit, found: EntryDetail, repo: Repo, code: Sequence[Named]) -> ToolResult:
    """Show one entry; a long content page by page, by characters."""
    (entry,) = found.entries
    _, offset = visit.page(1)
    part = entry.content[offset : offset + visit.desk.answer_chars - _RESERVED_CHARS]
    end = offset + len(part)
    after = end if end < len(entry.content) else None
    paged = entry._replace(content=part)
    structured = shown.present(
        {
            "memory": entry_views.entry_json(paged, repo),
            "next_offset": after,
            "code_links": mentions.code_json(code),
            "kg": shown.kg_json(found.graph),
        }
    )
    more = shown.part_lines(offset, after, len(entry.content))
    lines = [*entry_views.entry_lines(paged, repo), *mentions.code_lines(code)]
    return visit.answer(structured, [*lines, *shown.kg_lines(found.graph), *more])


def _several(visit: Visit, found: EntryDetail, repos: dict[int, Repo]) -> ToolResult:
    if not found.entries:
        return visit.answer(
            {"memories": [], "missing": shown.missing_json(found.missing)},
            ["No memories found for given ids/codes.", *shown.missing_lines(found.missing)],
        )

    limit = visit.desk.answer_chars - _RESERVED_CHARS

    def draw(count: int) -> Drawn:
        whole, rest = found.entries[:count], found.entries[count:]
        after = shown.continued([(entry.code, entry.content) for entry in whole], limit)
        chosen = [entry._replace(content=entry.content[:limit]) for entry in whole]
        remaining = [entry.code for entry in rest]
        structured = {
            "memories": [entry_views.entry_json(entry, repos[entry.repo]) for entry in chosen],
            **shown.present(
                {
                    "continued": after or None,
                    "missing": shown.missing_json(found.missing),
                    "remaining": remaining or None,
                    "kg": None if rest else shown.kg_json(found.graph),
                }
            ),
        }
        lines = [
            line
            for entry in chosen
            for line in (*entry_views.entry_lines(entry, repos[entry.repo]), "")
        ]
        next_lines = shown.continued_lines(after)
        next_lines += shown.remaining_lines(remaining)
        links = [] if rest else shown.kg_lines(found.graph)
        return structured, [*lines, *shown.missing_lines(found.missing), *links, *next_lines]

    return visit.fitted(len(found.entries), draw)
