"""Which tools and prompts are listed, and where the tools' handlers are.

A tool is its schema file in ``schemas/tools/<folder>`` and a module of the same folder and name
here, with an underscore for each hyphen.  The module is imported when the tool is first called:
listing tools must not load what stands behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from sys import modules
from types import MappingProxyType
from typing import Final

from memrpc.protocol.calls import Call
from memrpc.protocol.capabilities import declares
from memrpc.server import schema_files
from memrpc.server.context import Context
from memrpc.server.contracts import Contract, load_contract
from memrpc.server.service import Tool, ToolHandler, ToolResult
from memrpc.surface.desk import Desk
from memrpc.surface.merged_reads import merged
from memrpc.surface.prompt_book import Prompt
from memrpc.surface.prompts import archive, workspace
from memrpc.wire.messages import JSON

FOLDERS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "core": ("archive",),
        "work": ("workspace", "codebase"),
        "all": ("archive", "workspace", "codebase"),
    }
)
ALL: Final = "all"
DEFAULT_PROJECT: Final = "default"


def build(toolset: str, desk: Desk) -> dict[str, Tool]:
    """The tools of a toolset by name, in the order in which they are listed."""
    tools = {
        name: Tool(
            _contract(folder, name, desk), _handler(folder, name, desk), _LISTED.get(name, _always)
        )
        for folder in FOLDERS[toolset]
        for name in schema_files.names("tools", folder)
    }
    return merged(tools) if toolset == ALL else tools


def prompts(toolset: str) -> tuple[Prompt, ...]:
    """The prompts of a toolset: each names tools, so it is offered where those are."""
    return _PROMPTS[toolset]


_PROMPTS: Final[Mapping[str, tuple[Prompt, ...]]] = MappingProxyType(
    {
        "core": archive.PROMPTS,
        "work": workspace.PROMPTS,
        "all": (*archive.MERGED_PROMPTS, *workspace.PROMPTS),
    }
)


def _contract(folder: str, name: str, desk: Desk) -> Contract:
    """A tool's contract, with the default of ``project_id`` that the user has set."""
    contract = load_contract(folder, name)
    if folder != "archive" or desk.project == DEFAULT_PROJECT:
        return contract
    return contract.with_default("project_id", None if desk.project == "repo" else desk.project)


def _always(_: Call) -> bool:
    return True


def _can_sample(call: Call) -> bool:
    """A handshake session without sampling is not shown the tool that wants it.

    2026-07-28 lists the same tools to everybody.
    """
    return call.handshake is None or declares(call.client.capabilities, ("sampling",))


_LISTED: Final[Mapping[str, Callable[[Call], bool]]] = MappingProxyType({"synthesize": _can_sample})


def aliases(tools: Mapping[str, Tool]) -> dict[str, str]:
    """The other spelling of each name: hosts write hyphens and underscores for each other."""
    swapped = {name: name.translate(_SWAP) for name in tools}
    return {other: name for name, other in swapped.items() if other not in tools}


_SWAP: Final = str.maketrans("_-", "-_")


def _handler(folder: str, name: str, desk: Desk) -> ToolHandler:
    module_name = f"memrpc.surface.tools.{folder}.{name.replace('-', '_')}"

    async def handle(ctx: Context, arguments: dict[str, JSON]) -> ToolResult:
        module = modules.get(module_name) or import_module(module_name)
        result: ToolResult = await module.handle(ctx, desk, arguments)
        return result

    return handle
