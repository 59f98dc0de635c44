"""One call of a workspace tool: its project, its transaction, its answer in two forms.

A tool is a table of modes.  The first whose predicate holds of the arguments serves the call.  The
answer is structured content, and a text that says the same to a reader; both name the scope.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from memrpc.server.service import ToolResult
from memrpc.store.errors import InvalidArguments
from memrpc.store.lanes import checkpoint
from memrpc.surface import projects
from memrpc.wire.codec import compact
from memrpc.wire.messages import JSON
from memrpc.workspace import inline, rules, scope
from memrpc.workspace.model import UNKNOWN, Act, Repo
from memrpc.workspace.searching import Aids

if TYPE_CHECKING:
    import apsw

    from memrpc.server.context import Context
    from memrpc.surface.desk import Desk
    from memrpc.surface.projects import Project

T = TypeVar("T")
Arguments: TypeAlias = dict[str, JSON]
Drawn: TypeAlias = tuple[dict[str, JSON], list[str]]

MAX_OFFSET = 1_000_000
MAX_HANDLES = 500
BRIEF_BYTES = 1_500
"""A call of so many makes its rows within two milliseconds; to index a longer text may take ten."""
_CODES = {"memory": "MEM-001", "task": "TASK-001", "standard": "STD-001"}
_NAMED_BY = ("owner", "repo")
_AGENTS = ("agent", "from_agent", "to_agent")
_SAYS_NOTHING_EMPTY = frozenset(
    {"id", "code", "task_id", "task_code", "claim_token", "supersedes"}
    | {"issue_ref", "type_filter", "completed_at", "expires_at"}
)
"""What an empty text can only mean to leave out; of ``parent_id`` and the like it clears."""

_ON_ONE_LINE = frozenset({"title", "name", "phase", "role", *_AGENTS})
"""What lists show in a line of its own, so that no text passes for a line of the list."""


class Visit(NamedTuple):
    """A call as its operation sees it."""

    ctx: Context
    desk: Desk
    tool: str
    arguments: Arguments
    project: Project
    now: int

    @property
    def agent(self) -> str:
        """Who acts: the agent that is named, or the client."""
        named: str = self.arguments.get("agent") or ""
        return named.strip() or self.ctx.client_name or UNKNOWN

    @property
    def aids(self) -> Aids:
        """Return what this call's searches may use."""
        return Aids(checkpoint, self.desk.embedders.at_once)

    def act(self) -> Act:
        """Return what the domain needs to know of whoever writes."""
        return Act(self.tool, self.agent, self.desk.instance, self.now, self.desk.new_id)

    async def read(self, function: Callable[[apsw.Connection, Repo], T]) -> T:
        """Read in one snapshot; a repository that nobody wrote to is empty, not an error."""
        owner, name, _ = self.project
        return await self.desk.database.read(lambda db: function(db, scope.find(db, owner, name)))

    async def search(self, function: Callable[[apsw.Connection, Repo], T]) -> T:
        """Read what takes long to compute; such reads take turns."""
        owner, name, _ = self.project
        return await self.desk.database.search(lambda db: function(db, scope.find(db, owner, name)))

    async def write(
        self, function: Callable[[apsw.Connection, Repo, Act], T], *, count: int = 1
    ) -> T:
        """Write ``count`` things in one transaction."""
        owner, name, _ = self.project
        act = self.act()

        def work(db: apsw.Connection) -> T:
            return function(db, scope.enter(db, owner, name, now=act.now), act)

        is_brief = count == 1 and self.ctx.call.size_bytes <= BRIEF_BYTES
        return await self.desk.database.write(work, is_brief=is_brief)

    def answer(self, structured: dict[str, JSON], text: Sequence[str]) -> ToolResult:
        """Return the answer; ``json: true`` makes the text the same JSON."""
        owner, name, resolved_by = self.project
        shown = {**structured, "scope": _place(self.project)}
        if self.arguments.get("json"):
            return ToolResult(shown)
        line = f"Scope: {owner}/{name} (from {resolved_by})."
        return ToolResult(shown, "\n".join([*text, line]))

    def fitted(self, count: int, draw: Callable[[int], Drawn], *, answers: int = 1) -> ToolResult:
        """Return the answer with as many of ``count`` rows as fit, at least one.

        ``draw(n)`` makes the answer with the first ``n`` rows; it may be as long as ``answers``.
        """
        max_chars = answers * self.desk.answer_chars
        whole = self.answer(*draw(count))
        if count <= 1 or _fits(whole, max_chars):
            return whole
        fits, exceeds = 1, count
        while exceeds - fits > 1:
            middle = (fits + exceeds) // 2
            if _fits(self.answer(*draw(middle)), max_chars):
                fits = middle
            else:
                exceeds = middle
        return self.answer(*draw(fits))

    async def path(self, field: str) -> str | None:
        """Return a path of the arguments, from the project's folder.  Raises InvalidArguments."""
        given: str | None = self.arguments.get(field)
        return given and await projects.inside(self.ctx, self.desk.places, given, field)

    def page(self, default: int, highest: int = 100) -> tuple[int, int]:
        """Return the limit and the offset, within bounds.  Raises InvalidArguments."""
        limit, offset = self.arguments.get("limit", default), self.arguments.get("offset", 0)
        if not 0 <= offset <= MAX_OFFSET:
            raise InvalidArguments(
                f"offset is {offset}; send a whole number from 0 to {MAX_OFFSET:,}.", field="offset"
            )
        return min(limit, highest), offset

    def handles(self, *names: str) -> list[str]:
        """Return the ids and codes that the arguments give, each once and single ones first.

        Raises InvalidArguments for a blank one, which names nothing, and for too many.
        """
        found: list[str] = []
        for name in names:
            value = self.arguments.get(name)
            found += value if isinstance(value, list) else [value] if value is not None else []
        if not found or not all(str(handle).strip() for handle in found):
            code = _CODES[self.tool.partition("-")[0]]
            raise InvalidArguments(
                f"nothing is named; send {' or '.join(names[:2])} with an id or a code such as "
                f"{code}.",
                field=names[0],
            )
        if len(found) > MAX_HANDLES:
            raise InvalidArguments(
                f"{len(found):,} things are named; send at most {MAX_HANDLES} in a call.",
                field=names[0],
            )
        return list(dict.fromkeys(found))


def _fits(result: ToolResult, max_chars: int) -> bool:
    return len(compact(result.structured)) <= max_chars and len(result.text or "") <= max_chars


def _place(project: Project) -> dict[str, JSON]:
    return {"owner": project.owner, "repo": project.name, "resolved_by": str(project.resolved_by)}


Mode: TypeAlias = tuple[Callable[[Arguments], bool], Callable[[Visit], Awaitable[ToolResult]]]


async def serve(
    ctx: Context, desk: Desk, tool: str, arguments: Arguments, modes: Sequence[Mode]
) -> ToolResult:
    """Answer by the first mode that the arguments ask for."""
    visit = await begin(ctx, desk, tool, arguments)
    for applies, operate in modes:
        if applies(visit.arguments):
            return await operate(visit)
    raise AssertionError(f"no mode of {tool} applies")


async def begin(ctx: Context, desk: Desk, tool: str, arguments: Arguments) -> Visit:
    """Return the visit that a call makes."""
    project = await projects.resolve(ctx, desk, arguments)
    for name in _AGENTS:
        if name in arguments:
            rules.check_text(arguments[name] or "", name, (0, rules.SHORT_CHARS[1]))
    if ctx.wants_log("debug"):
        ctx.log("debug", {"tool": tool, **_place(project)}, logger="workspace")
    return Visit(ctx, desk, tool, spoken(arguments), project, desk.now_us())


def spoken(arguments: Arguments) -> Arguments:
    """Return the arguments that say something: some models fill in every field of a schema."""
    said = {
        name: value
        for name, value in arguments.items()
        if value != "" or name not in _SAYS_NOTHING_EMPTY
    }
    for name in _ON_ONE_LINE & said.keys():
        said[name] = " ".join(said[name].splitlines())
    return said


def relocated(arguments: Arguments) -> Arguments:
    """Return the arguments with the owner and repo that stand in the scope or the query."""
    place, query = arguments.get("scope"), arguments.get("query")
    if not place and not query:
        return arguments
    named = {key: place[key] for key in _NAMED_BY if place and isinstance(place.get(key), str)}
    asked = inline.parse(query or "", _NAMED_BY)
    tagged = {key: value for key in _NAMED_BY if (value := asked.one(key)) is not None}
    return {**arguments, **named, **tagged}


def given(*names: str) -> Callable[[Arguments], bool]:
    """Return the predicate that one of these arguments is there."""
    wanted = frozenset(names)
    return lambda arguments: not wanted.isdisjoint(arguments)


def always(_: Arguments) -> bool:
    """Hold for the mode that is left."""
    return True
