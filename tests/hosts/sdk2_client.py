"""Runs in an environment of its own with the official SDK 2.x: one session, told as JSON."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def main(command: list[str], calls: list[list], mode: str) -> None:
    server = StdioServerParameters(command=command[0], args=command[1:])
    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        results = [await client.call_tool(name, arguments) for name, arguments in calls]
        told = {
            "version": client.protocol_version,
            "tools": [tool.name for tool in tools],
            "errors": [result.is_error for result in results],
            "structured": [result.structured_content for result in results],
        }
    print(json.dumps(told))  # noqa: T201 -- its output is what it is run for


asyncio.run(main(*json.loads(sys.argv[1])))
