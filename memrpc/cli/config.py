"""config: show every setting, its value and where that comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrpc.cli.terminal import show, show_json
from memrpc.options import OPTIONS
from memrpc.settings import Settings
from memrpc.store.errors import DomainError

if TYPE_CHECKING:
    import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="as JSON")
    parser.add_argument("--markdown", action="store_true", help="the reference page instead")


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    if parsed.markdown:
        from memrpc.surface.reference import settings_page

        show(settings_page([(o.name, o.flag, o.variable, o.default, o.help) for o in OPTIONS]))
        return 0
    values = {n: {"value": s.value, "origin": s.origin} for n, s in settings.values.items()}
    values["database"] = {"value": _database(settings), "origin": "resolved"}
    if parsed.json:
        show_json(values)
    else:
        width = max(map(len, values))
        show("\n".join(f"{n:{width}} {v['value']!s:30} {v['origin']}" for n, v in values.items()))
    return 0


def _database(settings: Settings) -> str:
    try:
        return str(settings.database_path())
    except DomainError as error:
        return error.message
