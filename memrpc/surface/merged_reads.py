"""One memory-read for the toolset ``all``: some hosts write ``_`` for ``-`` and could not tell two.

It is the workspace's tool with four parameters more.  With ``record_id`` it reads the archive's
original, and ``offset`` counts characters; without, it is the workspace's tool as it stands.
"""

from __future__ import annotations

from typing import Final

from memrpc.server.context import Context
from memrpc.server.contracts import Contract
from memrpc.server.faults import RefusedError, invalid_arguments
from memrpc.server.service import Tool, ToolHandler, ToolResult
from memrpc.server.validation import Schema
from memrpc.wire.messages import JSON, JSONObject

ARCHIVE: Final = "memory_read"
WORKSPACE: Final = "memory-read"
RECORD: Final = "record_id"
_ADDED: Final[dict[str, JSON]] = {
    RECORD: {"type": "string", "description": "Original by event or memory id"},
    "max_chars": {
        "type": "integer",
        "description": "Its page length",
        "minimum": 1,
        "maximum": 20_000,
        "default": 4_000,
    },
    "persona_id": {"type": "string", "description": "Its persona", "default": "default"},
    "project_id": {"type": "string", "description": "Its project", "default": "default"},
}
_EXCLUSIVE: Final = ("query", "id", "ids", "code", "codes")
_SENTENCE: Final = " record_id reads an original, offset then in characters."


def merged(tools: dict[str, Tool]) -> dict[str, Tool]:
    """Return the tools with both reads as one, in the workspace's place and under its name."""
    if not {ARCHIVE, WORKSPACE} <= tools.keys():
        return tools
    tool = _merge(tools[ARCHIVE], tools[WORKSPACE])
    rest = {name: _pointing(each) for name, each in tools.items() if name != ARCHIVE}
    return rest | {WORKSPACE: tool}


def by_merged_name(text: str) -> str:
    """A text that sends its reader to the archive's original, by the name that this has here."""
    return text.replace(ARCHIVE, f"{WORKSPACE} with {RECORD}")


def _pointing(tool: Tool) -> Tool:
    description = by_merged_name(tool.contract.description)
    return tool._replace(contract=tool.contract._replace(description=description))


def _merge(archive: Tool, workspace: Tool) -> Tool:
    contract = workspace.contract
    schema = contract.input.text
    joined = {**schema, "properties": {**schema["properties"], **_ADDED}}
    return Tool(
        contract._replace(
            description=contract.description + _SENTENCE,
            input=Schema(joined),
            output=_output(archive.contract, contract),
        ),
        _handler(archive.handler, workspace.handler),
    )


def _output(archive: Contract, workspace: Contract) -> Schema | None:
    """Return the schema of either answer; a member that both have is described alone."""
    if archive.output is None or workspace.output is None:
        return None
    ours: JSONObject = workspace.output.text["properties"]
    theirs: JSONObject = archive.output.text["properties"]
    both = {
        name: {"description": schema.get("description", "Depends on the mode.")}
        for name, schema in ours.items()
        if name in theirs and theirs[name] != schema
    }
    properties = {**theirs, **ours, **both}
    return Schema({**workspace.output.text, "properties": properties, "required": []})


def _handler(archive: ToolHandler, workspace: ToolHandler) -> ToolHandler:
    async def handle(ctx: Context, arguments: dict[str, JSON]) -> ToolResult:
        if RECORD not in arguments:
            return await workspace(ctx, arguments)
        beside = [name for name in _EXCLUSIVE if name in arguments]
        if beside:
            raise RefusedError(
                invalid_arguments(
                    f"{RECORD} reads the archive and {', '.join(beside)} the workspace; send one.",
                    field=beside[0],
                )
            )
        return await archive(ctx, arguments)

    return handle
