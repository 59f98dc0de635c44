"""The code index's resources: symbols, one symbol, one file; spans and never content."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from memrpc.protocol.uri_template import UriTemplate
from memrpc.server.context import Context
from memrpc.server.faults import ProtocolFault
from memrpc.surface.catalogue import Contents, Values, View, fitted, page_of
from memrpc.surface.desk import Desk
from memrpc.surface.views import workspace_completions as complete
from memrpc.wire.codec import compact
from memrpc.wire.messages import JSON

if TYPE_CHECKING:
    import apsw

    from memrpc.codebase.model import Repository

T = TypeVar("T")

SYMBOLS: Final = UriTemplate.parse("codebase://{repo}/symbols{?search,kind,limit,offset}")
SYMBOL: Final = UriTemplate.parse("codebase://{repo}/symbols/{name}")
FILE: Final = UriTemplate.parse("codebase://{repo}/files/{+file_path}")
PAGE: Final = 50
MAX_PAGE: Final = 200
_MANY_USES: Final = 100


async def read_symbols(ctx: Context, desk: Desk, values: Values) -> Contents:
    from memrpc.codebase import filters, listing, searching
    from memrpc.surface.codebase import shown

    limit, offset = page_of(ctx, values, PAGE, MAX_PAGE)
    search, kind = values.get("search", "").strip(), values.get("kind", "")

    def read(db: apsw.Connection, repository: Repository) -> dict[str, JSON]:
        kinds = filters.kinds([kind]) if kind else ()
        if not search:
            records, total = listing.records(
                db, repository.id, kinds=kinds, limit=limit, offset=offset
            )
            return {"records": shown.camel(records), "total": total}
        request = searching.SearchRequest(
            search, (repository.id,), kinds=kinds, limit=limit, offset=offset
        )
        found = searching.search(db, request)
        whole = listing.by_ids(db, found.ids)
        ranked = [
            {**shown.camel(symbol), **shown.camel(whole[symbol_id])}
            for symbol_id, symbol in zip(found.ids, found.symbols, strict=True)
        ]
        return {"records": ranked, "total": found.total}

    head = {"search": search or None, "kind": kind or None, "limit": limit}
    found = await _read(ctx, desk, values, "symbols", lambda db, r: {**head, **read(db, r)})
    records = found["records"]

    def draw(count: int) -> JSON:
        where = shown.page(count, found["total"], offset)
        return {**found, "records": records[:count], **where}

    return fitted(desk, draw, len(records))


async def read_symbol(ctx: Context, desk: Desk, values: Values) -> Contents:
    from memrpc.codebase import tracing
    from memrpc.codebase.answers import Ambiguity
    from memrpc.codebase.candidates import TraceRequest
    from memrpc.surface.codebase import shown

    request = TraceRequest(values["name"], limit=_MANY_USES)

    def read(db: apsw.Connection, repository: Repository) -> dict[str, JSON]:
        found = tracing.trace(db, repository.id, request)
        if isinstance(found, Ambiguity):
            return shown.ambiguity_json(found, len(found.disambiguation))
        return {"name": values["name"], **shown.trace_json(found, found.references)}

    return Contents(compact(await _read(ctx, desk, values, "trace", read)))


async def read_file(ctx: Context, desk: Desk, values: Values) -> Contents:
    from memrpc.codebase import files
    from memrpc.surface.codebase import shown

    request = files.FileRequest(values["file_path"])

    def read(db: apsw.Connection, repository: Repository) -> dict[str, JSON]:
        found = files.describe(db, repository.id, request)
        return {**shown.file_json(found, len(found.symbols)), "content": None}

    return Contents(compact(await _read(ctx, desk, values, "file", read)))


async def _read(
    ctx: Context,
    desk: Desk,
    values: Values,
    mode: str,
    read: Callable[[apsw.Connection, Repository], dict[str, JSON]],
) -> dict[str, JSON]:
    """What ``read`` finds in the repository that the URI names.

    Raises ``KeyError`` for what is not there.
    """
    from memrpc.store.errors import InvalidArguments, NotFound

    def work(db: apsw.Connection) -> dict[str, JSON]:
        repository = _repository(db, ctx, values["repo"])
        body = {"mode": mode, "owner": repository.owner, "repo": repository.name}
        return {**body, **read(db, repository)}

    try:
        return await desk.database.read(work)
    except (NotFound, InvalidArguments) as error:
        raise KeyError(values["repo"], error.message) from error


def _repository(db: apsw.Connection, ctx: Context, named: str) -> Repository:
    """The only indexed repository that is called so."""
    found = _called(db, named)
    if len(found) > 1:
        owners = ", ".join(f"{each.owner}%2F{each.name}" for each in found)
        raise KeyError(named, f"{named} has several owners; send one of {owners}")
    if not found:
        raise _not_indexed(ctx, named)
    return found[0]


def _called(db: apsw.Connection, named: str) -> list[Repository]:
    """The indexed repositories that are called so."""
    from memrpc.codebase import repositories

    owner, slash, name = named.rpartition("/")
    return [
        each
        for each in repositories.named(db, name)
        if each.indexed_at is not None and (not slash or each.owner.lower() == owner.lower())
    ]


def _not_indexed(ctx: Context, named: str) -> ProtocolFault:
    """The document's sentence: the caller can do something about it."""
    return ProtocolFault(
        ctx.call.revision.resource_not_found,
        f"Repo {named} not indexed. Run codebase-index on repo.",
        {"uri": ctx.call.params["uri"], "recoverable": True},
    )


async def complete_repo(desk: Desk, _: Values) -> Sequence[str]:
    from memrpc.codebase import repositories

    found = await desk.database.read(repositories.every)
    return [f"{each.owner}/{each.name}" for each in found if each.indexed_at is not None]


async def complete_kind(_: Desk, __: Values) -> Sequence[str]:
    from memrpc.codebase.model import Kind

    return [kind.value for kind in Kind]


async def complete_name(desk: Desk, values: Values) -> Sequence[str]:
    from memrpc.codebase import listing

    return await _completed(desk, values, listing.names)


async def complete_path(desk: Desk, values: Values) -> Sequence[str]:
    from memrpc.codebase import listing

    return await _completed(desk, values, listing.paths)


async def _completed(
    desk: Desk, values: Values, lister: Callable[[apsw.Connection, int], list[str]]
) -> list[str]:
    """Of the only repository that is called as was filled in; of all where nothing was."""
    from urllib.parse import unquote

    from memrpc.codebase import repositories

    named = unquote(values.get("repo", ""))

    def read(db: apsw.Connection) -> list[str]:
        chosen = _called(db, named) if named else repositories.every(db)
        is_ambiguous = bool(named) and len(chosen) > 1
        return [] if is_ambiguous else [each for one in chosen for each in lister(db, one.id)]

    return await desk.database.read(read)


VIEWS: Final = (
    View(
        template=SYMBOLS,
        name="codebase-symbols",
        title="Symbols of a repository",
        description="Symbols with their places; search ranks them, kind filters them.",
        read=read_symbols,
        priority=0.7,
        completions={
            "repo": complete_repo,
            "kind": complete_kind,
            "search": complete_name,
            "limit": complete.limits,
            "offset": complete.offsets,
        },
    ),
    View(
        template=SYMBOL,
        name="codebase-symbol",
        title="A symbol",
        description="A symbol's definition, references, parent and children.",
        read=read_symbol,
        priority=0.75,
        completions={"repo": complete_repo, "name": complete_name},
    ),
    View(
        template=FILE,
        name="codebase-file",
        title="A file",
        description="A file's language, size and symbols; its content is never served.",
        read=read_file,
        priority=0.6,
        completions={"repo": complete_repo, "file_path": complete_path},
    ),
)
