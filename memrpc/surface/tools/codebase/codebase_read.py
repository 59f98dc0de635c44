"""codebase-read: trace a symbol, show a file, grep code, search symbols, survey a repository.

The first of name, content, query and filePath that is there says which; filePath beside another
one narrows it.  Without any the repository is surveyed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from memrpc.codebase import architecture, files, filters, grepping, repositories, searching, tracing
from memrpc.codebase.answers import Ambiguity, CodeAnswer, Match
from memrpc.codebase.candidates import TraceRequest
from memrpc.codebase.roots import is_folder
from memrpc.server.context import Context
from memrpc.server.service import ToolResult
from memrpc.store.errors import InvalidArguments, NotFound
from memrpc.surface.codebase import place, shown
from memrpc.surface.codebase.mentions import Mentions, mentions_of
from memrpc.surface.codebase.place import repository_of
from memrpc.surface.codebase.shown import camel
from memrpc.surface.desk import Desk
from memrpc.surface.workspace.visit import Arguments, Drawn, Mode, Visit, always, given

if TYPE_CHECKING:
    import apsw

    from memrpc.codebase.answers import Architecture, FileAnswer, SearchAnswer, Trace
    from memrpc.codebase.files import Source
    from memrpc.codebase.grepping import Grepped, GrepRequest
    from memrpc.codebase.model import Repository

T = TypeVar("T")
TOOL = "codebase-read"
_MIN_QUERY_CHARS = 2


async def handle(ctx: Context, desk: Desk, arguments: Arguments) -> ToolResult:
    visit = await place.begin(ctx, desk, TOOL, arguments)
    for applies, operate in _MODES:
        if applies(arguments):
            return await operate(visit)
    raise AssertionError("the last mode always applies")


def _kinds(visit: Visit) -> tuple[str, ...]:
    return filters.kinds(visit.arguments.get("kind", ()))


def _path(visit: Visit, *among: Repository) -> str:
    """The path to narrow to, none for all; an absolute one starts at the folder that is indexed."""
    path: str = visit.arguments.get("filePath") or ""
    for repository in among:
        root = repository.root.rstrip("/")
        if path == root or path.startswith(f"{root}/"):
            path = path[len(root) + 1 :]
    return "" if path == "." else files.safe_path(path)


async def _trace(visit: Visit) -> ToolResult:
    arguments = visit.arguments
    limit, offset = visit.page(50, 200)

    def read(db: apsw.Connection) -> tuple[Trace | Ambiguity, Mentions]:
        repository = repository_of(db, visit)
        request = TraceRequest(
            arguments["name"],
            kinds=_kinds(visit),
            file_path=_path(visit, repository),
            exported_only=arguments["exportedOnly"],
            include_references=arguments["includeReferences"],
            limit=limit,
            offset=offset,
        )
        found = tracing.trace(db, repository.id, request)
        if isinstance(found, Ambiguity):
            return found, Mentions()
        names = (found.symbol.name, shown.named(found.symbol.owner, found.symbol.name))
        return found, mentions_of(db, visit.project, names)

    found, mentions = await visit.desk.database.read(read)
    if isinstance(found, Ambiguity):
        return _ambiguity(visit, found)
    traced: Trace = found

    def draw(count: int) -> Drawn:
        uses = traced.references[:count]
        structured = shown.trace_json(traced, uses)
        lines = shown.trace_lines(traced, uses)
        rest = shown.more_line(structured)
        return {**structured, **mentions.json()}, [*lines, *rest, *mentions.lines()]

    return visit.fitted(len(traced.references), draw)


def _ambiguity(visit: Visit, found: Ambiguity) -> ToolResult:
    def draw(count: int) -> Drawn:
        structured = shown.ambiguity_json(found, count)
        return structured, [*shown.ambiguity_lines(found, count), *shown.more_line(structured)]

    return visit.fitted(len(found.disambiguation), draw)


async def _file(visit: Visit) -> ToolResult:
    limit, offset = visit.page(200, 200)

    def read(db: apsw.Connection) -> tuple[FileAnswer, Mentions]:
        repository = repository_of(db, visit)
        path, exported_only = _path(visit, repository), visit.arguments["exportedOnly"]
        request = files.FileRequest(path, _kinds(visit), exported_only, limit, offset)
        found = files.describe(db, repository.id, request)
        return found, mentions_of(db, visit.project, [found.file.path])

    found, mentions = await visit.desk.database.read(read)

    def draw(count: int) -> Drawn:
        structured = shown.file_json(found, count)
        lines = [*shown.file_lines(found, count), *shown.more_line(structured), *mentions.lines()]
        return {**structured, **mentions.json()}, lines

    return visit.fitted(len(found.symbols), draw)


async def _search(visit: Visit) -> ToolResult:
    arguments = visit.arguments
    query: str = arguments["query"].strip()
    if len(query) < _MIN_QUERY_CHARS:
        raise InvalidArguments(
            f"query must have {_MIN_QUERY_CHARS} characters or more.", field="query"
        )
    limit, offset = visit.page(50, 200)

    def search(db: apsw.Connection) -> SearchAnswer:
        among = _repositories(db, visit)
        request = searching.SearchRequest(
            query,
            tuple(each.id for each in among),
            kinds=_kinds(visit),
            language=filters.language(arguments.get("language")),
            path=_path(visit, *among),
            exported_only=arguments["exportedOnly"],
            shows_repo="repos" in arguments,
            limit=limit,
            offset=offset,
        )
        return searching.search(db, request)

    found = await visit.desk.database.search(search)

    def draw(count: int) -> Drawn:
        symbols = found.symbols[:count]
        page = shown.page(len(symbols), found.total, found.offset)
        reason = {"reason": found.reason} if found.reason else {}
        listed = {"mode": "search", "query": query, "symbols": camel(symbols)}
        head = f'### Results: {found.total} symbols for "{query}" (showing {len(symbols)})'
        lines = [head, *shown.way_line(found), *shown.by_file(symbols), *shown.more_line(page)]
        return {**listed, **page, **reason}, lines

    return visit.fitted(len(found.symbols), draw)


def _repositories(db: apsw.Connection, visit: Visit) -> tuple[Repository, ...]:
    """The repositories to search: those that ``repos`` names, or the call's own."""
    named: list[str] | None = visit.arguments.get("repos")
    if named is None:
        return (repository_of(db, visit),)
    return tuple(_named(db, visit, each) for each in named)


def _named(db: apsw.Connection, visit: Visit, name: str) -> Repository:
    owner, slash, bare = name.rpartition("/")
    found = [each for each in repositories.named(db, bare) if not slash or each.owner == owner]
    if len(found) > 1:
        found = [each for each in found if each.owner == visit.project.owner] or found
    if len(found) > 1:
        listed = ", ".join(f"{each.owner}/{each.name}" for each in found)
        raise InvalidArguments(f"repos: {name} may be {listed}; send one of these.", field="repos")
    return found[0] if found else repositories.indexed(db, owner or visit.project.owner, bare)


async def _code(visit: Visit) -> ToolResult:
    arguments = visit.arguments
    if not arguments["content"]:
        raise InvalidArguments("content is empty; send the text to look for.", field="content")
    limit, offset = visit.page(20, 200)
    request = grepping.GrepRequest(arguments["content"], arguments["regex"], limit, offset)
    repository, sources = await visit.desk.database.read(lambda db: _sources(db, visit))
    root = _root(visit, repository)
    grepped = await _in_thread(
        lambda checkpoint: grepping.grep(root, sources, request, checkpoint=checkpoint)
    )
    found = await visit.desk.database.read(lambda db: _code_answer(db, request, grepped))

    def draw(count: int) -> Drawn:
        structured = shown.code_json(found, count)
        return structured, [*shown.code_lines(found, count), *shown.more_line(structured)]

    return visit.fitted(len(found.matches), draw)


def _sources(db: apsw.Connection, visit: Visit) -> tuple[Repository, list[Source]]:
    repository = repository_of(db, visit)
    language, path = filters.language(visit.arguments.get("language")), _path(visit, repository)
    return repository, files.sources(db, repository.id, language=language, path=path)


def _root(visit: Visit, repository: Repository) -> str:
    """The folder of the files: the one that was indexed, or where it is now."""
    root = str(visit.desk.places.folder / (visit.arguments.get("repoPath") or repository.root))
    if not is_folder(root):
        raise NotFound(
            f"The folder {root} is not there; send repoPath with the place where it is now.",
            reason="REPO_PATH_NOT_FOUND",
        )
    return root


async def _in_thread(work: Callable[[Callable[[], None]], T]) -> T:
    """Run beside the event loop; a cancelled call stops at the next checkpoint."""
    from anyio.from_thread import check_cancelled
    from anyio.to_thread import run_sync

    return await run_sync(lambda: work(check_cancelled))


def _code_answer(db: apsw.Connection, request: GrepRequest, grepped: Grepped) -> CodeAnswer:
    matches = tuple(
        Match(
            line.file.path,
            line.number,
            line.snippet,
            files.enclosing(db, line.file.id, line.number),
        )
        for line in grepped.lines
    )
    return CodeAnswer(
        request.content,
        request.regex,
        matches,
        grepped.total,
        grepped.is_exact,
        grepped.scanned,
        grepped.missing,
        grepped.changed,
        request.offset,
        request.limit,
    )


async def _architecture(visit: Visit) -> ToolResult:
    repository = await visit.desk.database.read(lambda db: repository_of(db, visit))
    sources = await visit.desk.database.read(
        lambda db: files.sources(db, repository.id, language=None, path=None)
    )
    suspects = await visit.desk.database.read(lambda db: architecture.suspects(db, repository.id))
    names = [each.name for each in suspects.scanned]
    places = [(each.file_path, each.line) for each in suspects.scanned]
    root = repository.root

    def look(checkpoint: Callable[[], None]) -> tuple[dict[str, int], frozenset[tuple[str, int]]]:
        return (
            grepping.count_words(root, sources, names, checkpoint=checkpoint),
            grepping.decorated(root, sources, places, checkpoint=checkpoint),
        )

    seen = await _in_thread(look) if is_folder(root) else None
    counts, decorated = seen or (None, frozenset())
    found = await visit.desk.database.read(
        lambda db: architecture.survey(
            db,
            repository.id,
            depth=visit.arguments["depth"],
            suspects=suspects,
            counts=counts,
            decorated=decorated,
        )
    )
    return visit.fitted(architecture.MAX_EXPORTS, lambda count: _drawn(visit, found, count))


def _drawn(visit: Visit, found: Architecture, count: int) -> Drawn:
    """The survey with the first ``count`` members of each list."""
    dead = found.dead_code
    root = architecture.shortened(found.root, count)
    structured = {
        "mode": "architecture",
        "root": shown.folder_json(root, counts=visit.arguments["includeSymbolCounts"]),
        "summary": {
            "totalFiles": found.total_files,
            "totalSymbols": found.total_symbols,
            "languageBreakdown": dict(found.languages),
            "topLevelExports": camel(found.exports[:count]),
            "topLevelExportsTotal": found.exports_total,
        },
        "deadCode": {
            "unreferenced": camel(dead.unreferenced[:count]),
            "total": dead.total,
            "scanned": dead.scanned,
            "excluded": dict(dead.excluded),
            "languageCoverage": {
                "reliable": list(dead.reliable),
                "unreliable": list(dead.unreliable),
            },
            "coverageNote": dead.coverage_note,
        },
        "hotspots": camel(found.hotspots[:count]),
    }
    languages = ", ".join(f"{name} {number}" for name, number in found.languages.items())
    lines = [
        f"{found.total_files} files, {found.total_symbols} symbols: {languages}",
        *shown.folder_lines(root),
        f"## Exports ({found.exports_total})",
        *shown.by_file(found.exports[:count]),
        "## Hot spots (resolved references)",
        *(f"- {c.name} {c.file_path}:{c.line} ({c.references})" for c in found.hotspots[:count]),
        f"## Unreferenced ({dead.total} of {dead.scanned} scanned)",
        *(f"- {c.kind} {c.name} {c.file_path}:{c.line}" for c in dead.unreferenced[:count]),
        dead.coverage_note,
    ]
    return structured, lines


_MODES: tuple[Mode, ...] = (
    (given("name"), _trace),
    (given("content"), _code),
    (given("query"), _search),
    (given("filePath"), _file),
    (always, _architecture),
)
