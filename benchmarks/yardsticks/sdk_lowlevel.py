"""S, the official Python SDK's low-level server with the same tool.

Its low-level server does not validate a tool's arguments against the schema, so neither is added
here: the comparison errs in its favour.
"""

import anyio
import mcp_types as types
from echo_tool import DESCRIPTION, INPUT, NAME
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


async def list_tools(_context, _params) -> types.ListToolsResult:
    tool = types.Tool(name=NAME, description=DESCRIPTION, input_schema=INPUT)
    return types.ListToolsResult(tools=[tool])


async def call_tool(_context, params) -> types.CallToolResult:
    given = params.arguments
    text = given["text"] * given.get("times", 1)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])


async def main() -> None:
    server = Server("sdk", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


anyio.run(main)
