"""The workspace's resources: what its tools show, by URI, page by page.

``{name}`` is ``owner%2Fname``, or a bare name while only one owner has it.  Lists take any subset
of their parameters and shorten long texts; a record's own resource has it in full.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from memrpc.protocol.uri_template import UriTemplate
from memrpc.server.context import Context
from memrpc.surface.catalogue import Completer, Contents, Entry, Values, View, fitted, page_of
from memrpc.surface.desk import Desk
from memrpc.surface.views import workspace_completions as complete
from memrpc.wire.codec import compact
from memrpc.wire.messages import JSON

if TYPE_CHECKING:
    import apsw

    from memrpc.workspace.model import Repo

T = TypeVar("T")
Row = dict[str, JSON]

INDEX: Final = UriTemplate.parse("repository://index{?limit,offset}")
ROOTS: Final = UriTemplate.parse("session://roots")
MEMORIES: Final = UriTemplate.parse("repository://{name}/memories{?search,type,tag,limit,offset}")
MEMORY: Final = UriTemplate.parse("memory://{id}")
TASKS: Final = UriTemplate.parse("repository://{name}/tasks{?status,priority,limit,offset}")
TASK: Final = UriTemplate.parse("task://{id}")
SUMMARY: Final = UriTemplate.parse("repository://{name}/summary")
ACTIONS: Final = UriTemplate.parse("repository://{name}/actions{?limit,offset}")
ACTION: Final = UriTemplate.parse("action://{id}")
GRAPH: Final = UriTemplate.parse("repository://{name}/graph{?entity,limit,offset}")
PAGE: Final = 50
MAX_PAGE: Final = 100


async def read_index(ctx: Context, desk: Desk, values: Values) -> Contents:
    """The list itself, whole unless the URI says how much of it."""
    from memrpc.surface.views import workspace_records as records

    limit, offset = page_of(ctx, values, PAGE, MAX_PAGE)
    page = (limit if values.get("limit") else None, offset)
    rows = await desk.database.read(lambda db: records.repositories(db, page, desk.now_us()))
    return Contents(compact(rows))


async def read_roots(ctx: Context, _: Desk, __: Values) -> Contents:
    from memrpc.surface import projects

    return Contents(compact({"roots": await projects.roots(ctx)}))


async def read_memories(ctx: Context, desk: Desk, values: Values) -> Contents:
    from memrpc.surface.views import workspace_records as records

    def read(db: apsw.Connection, repo: Repo, page: tuple[int, int]) -> tuple[list[Row], int]:
        return records.memories(db, repo, values, page, desk.now_us())

    return await _listed(ctx, desk, values, "memories", read)


async def read_memory(_: Context, desk: Desk, values: Values) -> Contents:
    from memrpc.surface.views import workspace_records as records

    found = await desk.database.read(lambda db: records.memory(db, values["id"]))
    return Contents(compact(found))


async def read_tasks(ctx: Context, desk: Desk, values: Values) -> Contents:
    from memrpc.surface.views import workspace_records as records

    def read(db: apsw.Connection, repo: Repo, page: tuple[int, int]) -> tuple[list[Row], int]:
        return records.tasks_of(db, repo, values, page, desk.now_us())

    return await _listed(ctx, desk, values, "tasks", read)


async def read_task(_: Context, desk: Desk, values: Values) -> Contents:
    from memrpc.surface.views import workspace_records as records

    found = await desk.database.read(lambda db: records.task(db, values["id"], desk.now_us()))
    return Contents(compact(found))


async def read_summary(_: Context, desk: Desk, values: Values) -> Contents:
    from memrpc.workspace import summaries

    found = await _of_repo(desk, values, summaries.find)
    if found is None:
        return Contents("No summary is available yet; write one with repo-summarize.")
    return Contents(found.text)


async def read_actions(ctx: Context, desk: Desk, values: Values) -> Contents:
    from memrpc.surface.views import workspace_records as records

    def read(db: apsw.Connection, repo: Repo, page: tuple[int, int]) -> tuple[list[Row], int]:
        return records.actions_of(db, repo, page)

    return await _listed(ctx, desk, values, "actions", read)


async def read_action(_: Context, desk: Desk, values: Values) -> Contents:
    from memrpc.surface.views import workspace_records as records

    found = await desk.database.read(lambda db: records.action(db, values["id"]))
    return Contents(compact(found))


async def read_graph(ctx: Context, desk: Desk, values: Values) -> Contents:
    from memrpc.surface.views import workspace_records as records

    def read(db: apsw.Connection, repo: Repo, page: tuple[int, int]) -> tuple[list[Row], int]:
        return records.entities(db, repo, values.get("entity") or None, page)

    return await _listed(ctx, desk, values, "entities", read)


async def _listed(
    ctx: Context,
    desk: Desk,
    values: Values,
    key: str,
    read: Callable[[apsw.Connection, Repo, tuple[int, int]], tuple[list[Row], int]],
) -> Contents:
    """A page of a repository's records, as many as fit."""
    page = page_of(ctx, values, PAGE, MAX_PAGE)

    def work(db: apsw.Connection, repo: Repo) -> tuple[Repo, list[Row], int]:
        return (repo, *read(db, repo, page))

    repo, rows, total = await _of_repo(desk, values, work)
    head: Row = {"owner": repo.owner, "repo": repo.name}

    def draw(count: int) -> Row:
        return _with_page(head, key, rows[:count], total, page)

    return fitted(desk, draw, len(rows))


def _with_page(head: Row, key: str, rows: list[Row], total: int, page: tuple[int, int]) -> Row:
    from memrpc.surface.workspace.shown import paging

    limit, offset = page
    where = paging(count=len(rows), total=total, offset=offset, limit=limit)
    return {**head, key: rows, **where}


async def _of_repo(desk: Desk, values: Values, read: Callable[[apsw.Connection, Repo], T]) -> T:
    """What ``read`` finds in the repository that the URI names."""
    from memrpc.surface.views import workspace_records as records

    return await desk.database.read(lambda db: read(db, records.repo_of(db, values["name"])))


async def list_index(_: Desk) -> Sequence[Entry]:
    return [Entry(INDEX.expand({}), "repository-index", "All repositories")]


async def list_roots(_: Desk) -> Sequence[Entry]:
    return [Entry(ROOTS.text, "session-roots", "The client's workspace folders")]


async def list_repositories(desk: Desk) -> Sequence[Entry]:
    """One entry a repository: its memories, from which the rest is found."""
    from memrpc.workspace import scope

    return [_entry(*each) for each in await desk.database.read(scope.activity)]


def _entry(repo: Repo, active_at: int) -> Entry:
    from memrpc.workspace import scope, times

    name = scope.full_name(repo)
    uri, title = MEMORIES.expand({"name": name}), f"Memories of {name}"
    return Entry(uri, f"repository-{name}", title, times.to_text(active_at))


_OF_REPOSITORY: Final[Mapping[str, Completer]] = {
    "name": complete.repositories,
    "search": complete.titles,
    "type": complete.types,
    "tag": complete.tags,
    "status": complete.statuses,
    "priority": complete.priorities,
    "entity": complete.entity_names,
    "limit": complete.limits,
    "offset": complete.offsets,
}
"""By the name of a variable, which means the same in every template of a repository."""

VIEWS: Final = (
    View(
        template=INDEX,
        name="repository-index",
        title="All repositories",
        description="Repositories, with counts of what they hold and who works on them.",
        read=read_index,
        priority=1.0,
        entries=list_index,
        completions={"limit": complete.limits, "offset": complete.offsets},
    ),
    View(
        template=ROOTS,
        name="session-roots",
        title="The client's workspace folders",
        description="The folders that the client says it works in.",
        read=read_roots,
        priority=0.95,
        entries=list_roots,
    ),
    View(
        template=MEMORIES,
        name="repository-memories",
        title="Memories of a repository",
        description="Active memories, newest first; search ranks, type and tag filter.",
        read=read_memories,
        priority=0.85,
        entries=list_repositories,
        completions=_OF_REPOSITORY,
    ),
    View(
        template=MEMORY,
        name="memory",
        title="A memory",
        description="A memory in full, archived ones included.",
        read=read_memory,
        priority=0.75,
        completions={"id": complete.memory_ids},
    ),
    View(
        template=TASKS,
        name="repository-tasks",
        title="Tasks of a repository",
        description="Tasks that are not over, or those of status and priority.",
        read=read_tasks,
        priority=0.9,
        completions=_OF_REPOSITORY,
    ),
    View(
        template=TASK,
        name="task",
        title="A task",
        description="A task with its comments and all around it.",
        read=read_task,
        priority=0.8,
        completions={"id": complete.task_ids},
    ),
    View(
        template=SUMMARY,
        name="repository-summary",
        title="Summary of a repository",
        description="What the repository is, in a few signals.",
        mime_type="text/plain",
        read=read_summary,
        priority=0.95,
        completions=_OF_REPOSITORY,
    ),
    View(
        template=ACTIONS,
        name="repository-actions",
        title="Changes in a repository",
        description="What was changed, by whom, newest first.",
        read=read_actions,
        priority=0.6,
        completions=_OF_REPOSITORY,
    ),
    View(
        template=ACTION,
        name="action",
        title="A change",
        description="One change with what was before and after.",
        read=read_action,
        priority=0.55,
        completions={"id": complete.action_ids},
    ),
    View(
        template=GRAPH,
        name="repository-graph",
        title="Names in a repository",
        description="What memories, tasks and standards name; entity shows who names one.",
        read=read_graph,
        priority=0.6,
        completions=_OF_REPOSITORY,
    ),
)
