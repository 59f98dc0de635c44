"""serve: speak MCP on standard input and output until the client leaves."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from memrpc import __version__
from memrpc.app import Application
from memrpc.settings import Settings, load, split_flags, unbind_git
from memrpc.store.errors import DomainError
from memrpc.wire.messages import JSON

if TYPE_CHECKING:
    import argparse

    from memrpc.server.stdio import Wire

SWITCH_S: Final = 0.0001
"""How long a thread may compute while another one waits: by default a ping would wait for 5 ms."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """It has only the settings that every verb has."""
    del parser


def serve(words: list[str], wire: Wire) -> int:
    """Serve with the settings in ``words``, beside which the verb may stand.  Returns the code."""
    from memrpc.cli.terminal import show_error

    try:
        flags, rest = split_flags(words)
        if unknown := rest[1:] if rest[:1] == ["serve"] else rest:
            show_error(f"serve does not know {unknown[0]}; see memrpc --help")
            return 2
        application = Application(load(flags))
    except DomainError as error:
        show_error(error.message)
        return 2
    unbind_git()
    sys.setswitchinterval(SWITCH_S)
    if not application.log.hears("info"):
        return application.serve(wire)
    application.log("info", "started", version=__version__, **_facts(application.settings))
    code = application.serve(wire)
    application.log("info", "ended", code=code)
    application.log.flush()
    return code


def _facts(settings: Settings) -> dict[str, JSON]:
    """What this server would use: the database, and which settings are not left at their default.

    Their values stay out of the log: an endpoint's address may hold a key.
    """
    try:
        database = str(settings.database_path())
    except DomainError as error:
        database = error.message
    origins = {n: each.origin for n, each in settings.values.items() if each.origin != "default"}
    return {"database": database, "settings": origins}
