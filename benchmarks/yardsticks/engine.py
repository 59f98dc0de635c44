"""E, memrpc's engine alone with the same tool, validated against its schema."""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module

from memrpc.server.stdio import claim, run

WARM_UP = tuple(
    partial(import_module, name)
    for name in (
        "selectors",
        "ssl",
        "asyncio",
        "anyio",
        "anyio._backends._asyncio",
        "memrpc.server.driver",
    )
)


class Secrets:
    async def signing_key(self) -> bytes:
        return b"k" * 32


def main() -> int:
    wire = claim()  # Before anything else is imported.
    import os
    import time

    from memrpc.server.connection import Connection
    from memrpc.server.ports import Ports

    ports = Ports(_log, time.monotonic, time.time, lambda: os.urandom(8).hex())
    return run(Connection(_service(), ports), wire, WARM_UP)


def _service():
    from echo_tool import DESCRIPTION, INPUT, NAME

    from memrpc.server.contracts import Contract
    from memrpc.server.service import Service, Tool, ToolResult
    from memrpc.server.validation import Schema

    async def echo(_context, arguments) -> ToolResult:
        return ToolResult(text=arguments["text"] * arguments["times"])

    contract = Contract(NAME, "Echo", DESCRIPTION, Schema(INPUT))
    return Service(
        identity={"name": "engine", "version": "1"},
        instructions="",
        tools={NAME: Tool(contract, echo)},
        secrets=Secrets(),
    )


def _log(level: str, event: str, /, **fields: object) -> None:
    sys.stderr.write(f"{level} {event} {fields}\n")


if __name__ == "__main__":
    sys.exit(main())
