"""A server on the engine alone, for tests that spawn a process or need a service at hand.

Its tools are in ``fixture_tools``.  Run it with ``python -m tests.fixture_server``.
"""

from __future__ import annotations

import sys
from functools import partial
from importlib import import_module

if __name__ == "__main__":  # The wire is claimed before anything else is imported.
    from memrpc.server.stdio import claim, run

    WIRE = claim()

import itertools
import time

from memrpc.log import Log
from memrpc.protocol.uri_template import UriTemplate
from memrpc.server.connection import Connection
from memrpc.server.ports import Ports
from memrpc.server.service import Page, Service

ITEMS = 250
PAGE = 100
IDENTITY = {
    "name": "fixture",
    "title": "Fixture",
    "version": "1",
    "description": "For tests",
    "websiteUrl": "https://example.com",
    "icons": [{"src": "https://example.com/icon.png"}],
}
_TEMPLATE = UriTemplate.parse("test://item/{n}{?view}")
_MODIFIED = {"lastModified": "2026-01-01T00:00:00Z", "priority": 0.1}


class Secrets:
    async def signing_key(self) -> bytes:
        return b"k" * 32


class Resources:
    """Items that are numbered from 1."""

    def templates(self):
        entry = {"uriTemplate": _TEMPLATE.text, "name": "item", "title": "An item"}
        return [{**entry, "annotations": _MODIFIED, "_meta": {"example.com/k": 1}}]

    def serves(self, uri):
        return _TEMPLATE.match(uri) is not None

    async def page(self, ctx, after):  # noqa: ARG002 -- the protocol asks for them
        start = int(after or 0)
        numbers = range(start + 1, min(start + PAGE, ITEMS) + 1)
        items = [
            {
                "uri": f"test://item/{n}",
                "name": f"item-{n}",
                "title": f"Item {n}",
                "icons": IDENTITY["icons"],
                "annotations": _MODIFIED,
            }
            for n in numbers
        ]
        return Page(items, str(start + PAGE) if start + PAGE < ITEMS else None)

    async def read(self, ctx, uri):  # noqa: ARG002 -- the protocol asks for it
        found = _TEMPLATE.match(uri)
        if found is None or not 1 <= int(found["n"]) <= ITEMS:
            raise KeyError(uri)
        text = {"uri": uri, "mimeType": "text/plain", "text": found["n"], "_meta": {}}
        return [text, {"uri": uri, "blob": "aGk="}]


class Prompts:
    """One greeting."""

    async def page(self, ctx, after):  # noqa: ARG002 -- the protocol asks for them
        argument = {"name": "name", "title": "Name", "description": "Who", "required": True}
        entry = {"name": "greet", "title": "Greet", "description": "Greets somebody"}
        return Page([{**entry, "arguments": [argument], "icons": IDENTITY["icons"]}])

    async def get(self, ctx, name, arguments):  # noqa: ARG002 -- the protocol asks for it
        from memrpc.server.faults import invalid_params
        from tests.fixture_tools import RICH_BLOCKS

        if name != "greet":
            raise KeyError(name)
        if "name" not in arguments:
            raise invalid_params("Missing prompt argument: name")
        hello = {"type": "text", "text": f"Hello {arguments['name']}"}
        blocks = (hello, *RICH_BLOCKS[1:])
        return {
            "description": "Greets somebody",
            "messages": [{"role": "user", "content": block} for block in blocks],
        }


class Completions:
    """Numbers that begin with what was typed."""

    async def complete(self, ctx, query):  # noqa: ARG002 -- the protocol asks for it
        if query.name not in {"greet", _TEMPLATE.text}:
            raise KeyError(query.name)
        return [str(n) for n in range(ITEMS) if str(n).startswith(query.value)]


def make_service(*, checks_output: bool = False, **parts) -> Service:
    from tests.fixture_tools import TOOLS

    served = {
        "identity": IDENTITY,
        "instructions": "For tests.",
        "tools": TOOLS,
        "secrets": Secrets(),
        "resources": Resources(),
        "prompts": Prompts(),
        "completions": Completions(),
        "list_changes": True,
        "checks_output": checks_output,
    }
    return Service(**(served | parts))


def make_ports(log, monotonic=time.monotonic, now_s=time.time) -> Ports:
    ids = itertools.count(1)
    return Ports(log=log, monotonic=monotonic, now_s=now_s, new_id=lambda: f"incident-{next(ids)}")


WARM_UP = tuple(
    partial(import_module, name)
    for name in ("selectors", "asyncio", "anyio", "anyio._backends._asyncio")
)


def force_threads() -> None:
    """Serve as where nothing can be opened anew without blocking: no /proc, or Windows."""
    from memrpc.server import opening, pumps

    for module in (opening, pumps):
        module.open_writer = lambda _: None


def main() -> int:
    """Serve; ``bare`` serves tools alone, ``threads`` forces the fallback."""
    log = Log("debug")
    if "threads" in sys.argv:
        force_threads()
    parts = {"resources": None, "prompts": None, "completions": None}
    service = make_service(**(parts if "bare" in sys.argv else {}))
    try:
        return run(Connection(service, make_ports(log)), WIRE, WARM_UP)
    finally:
        log.flush()


if __name__ == "__main__":
    sys.exit(main())
