"""Runs in an environment of its own with the official SDK 1.x: one session, told as JSON."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(command: list[str], calls: list[list]) -> None:
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        opened = await session.initialize()
        tools = (await session.list_tools()).tools
        await session.send_ping()
        results = [await session.call_tool(name, arguments) for name, arguments in calls]
    told = {
        "version": opened.protocolVersion,
        "tools": [tool.name for tool in tools],
        "errors": [result.isError for result in results],
        "structured": [result.structuredContent for result in results],
    }
    print(json.dumps(told))  # noqa: T201 -- its output is what it is run for


asyncio.run(main(*json.loads(sys.argv[1])))
