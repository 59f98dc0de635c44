"""schema: print a tool's contract, or the names of all tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from memrpc.cli.terminal import show
from memrpc.settings import Settings
from memrpc.store.errors import NotFound

if TYPE_CHECKING:
    import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--markdown", action="store_true", help="the reference page of all tools")
    parser.add_argument("tool", nargs="?", help="a tool's name; without it the names are listed")


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    from memrpc.app import Application

    service = Application(settings).service()
    tools = service.tools
    if parsed.markdown:
        from memrpc.surface.reference import tools_page

        show(tools_page(tool.contract for tool in tools.values()))
        return 0
    if parsed.tool is None:
        show("\n".join(tools))
        return 0
    name = service.aliases.get(parsed.tool, parsed.tool)
    if name not in tools:
        raise NotFound(f"There is no tool {parsed.tool}; there are {', '.join(tools)}.")
    listing = tools[name].contract.listing()
    show(json.dumps(listing, indent=2, ensure_ascii=False))
    return 0
