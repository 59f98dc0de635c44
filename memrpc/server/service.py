"""What an application gives the engine to serve: tools, resources, prompts, completions.

The engine knows these shapes and nothing of what stands behind them.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeAlias

from memrpc.protocol.calls import Call
from memrpc.protocol.revisions import TASKS_EXTENSION
from memrpc.server.contracts import Contract
from memrpc.server.faults import Refusal
from memrpc.server.ports import Secrets, TaskStore
from memrpc.wire.messages import JSON, JSONObject

if TYPE_CHECKING:
    from memrpc.server.context import Context

_NONE: Final[JSONObject] = MappingProxyType({})


class ToolResult(NamedTuple):
    """What a tool found.

    ``text`` is the readable form; without it the structured part stands there as compact JSON.
    ``content`` replaces both with content blocks.
    """

    structured: JSON = None
    text: str | None = None
    content: Sequence[JSONObject] | None = None
    is_error: bool = False


ToolHandler: TypeAlias = "Callable[[Context, dict[str, JSON]], Awaitable[ToolResult]]"


class Tool(NamedTuple):
    """A contract and the handler that keeps it."""

    contract: Contract
    handler: ToolHandler
    is_listed: Callable[[Call], bool] = lambda _: True


class Page(NamedTuple):
    """Part of a list; ``after`` is where the next part begins, None on the last."""

    items: Sequence[JSONObject]
    after: str | None = None


class Resources(Protocol):
    """Named contents.  ``read`` raises ``KeyError`` for a URI that names nothing."""

    def templates(self) -> Sequence[JSONObject]: ...
    def serves(self, uri: str) -> bool: ...
    async def page(self, ctx: Context, after: str | None) -> Page: ...
    async def read(self, ctx: Context, uri: str) -> Sequence[JSONObject]: ...


class Prompts(Protocol):
    """Prompt templates.  ``get`` raises ``KeyError`` for a name that is not there."""

    async def page(self, ctx: Context, after: str | None) -> Page: ...
    async def get(self, ctx: Context, name: str, arguments: Mapping[str, str]) -> JSONObject: ...


class CompletionQuery(NamedTuple):
    """What is being typed, where, and what has been filled in already."""

    kind: str
    name: str
    argument: str
    value: str
    context: Mapping[str, str]


class Completions(Protocol):
    """Values for an argument; ``KeyError`` for a prompt or template that is not there."""

    async def complete(self, ctx: Context, query: CompletionQuery) -> Sequence[str]: ...


Publish: TypeAlias = "Callable[[Change], None]"


class Change(NamedTuple):
    """Something that clients may have subscribed to has changed.

    ``kind`` is ``tools``, ``prompts``, ``resources`` (the lists), ``resource`` (one, by URI; or
    all beneath a URI that ends in a slash) or ``task`` (one, by id, with its state).
    """

    kind: str
    uri: str = ""
    state: JSONObject = _NONE


async def _nothing(_: Publish) -> None:
    """The default: nothing changes behind the server's back, and nothing is owed."""
    from anyio import sleep_forever

    await sleep_forever()


class Service(NamedTuple):
    """One application; with a store for tasks, its handlers may defer."""

    identity: JSONObject
    instructions: str
    tools: Mapping[str, Tool]
    secrets: Secrets
    resources: Resources | None = None
    prompts: Prompts | None = None
    completions: Completions | None = None
    tasks: TaskStore | None = None
    extra_capabilities: Mapping[str, JSON] = _NONE
    list_changes: bool = False
    aliases: Mapping[str, str] = _NONE
    explain: Callable[[Exception], Refusal | None] = lambda _: None
    watch: Callable[[Publish], Awaitable[None]] = _nothing
    background: Callable[[Publish], Awaitable[None]] = _nothing
    checks_output: bool = False

    def capabilities(self) -> JSONObject:
        """The newest shape of what this server declares."""
        changes = {"listChanged": self.list_changes}
        declared: dict[str, JSON] = {"tools": changes, "logging": {}}
        if self.resources is not None:
            declared["resources"] = {"subscribe": True, **changes}
        if self.prompts is not None:
            declared["prompts"] = changes
        if self.completions is not None:
            declared["completions"] = {}
        if self.tasks is not None:
            declared["extensions"] = {TASKS_EXTENSION: {}}
        return {**declared, **self.extra_capabilities}

    def tool(self, name: str) -> Tool | None:
        return self.tools.get(self.aliases.get(name, name))

    def serves(self, uri: str) -> bool:
        """True for a URI that has the form of one of the resources."""
        return self.resources is not None and self.resources.serves(uri)
