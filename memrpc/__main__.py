"""``python -m memrpc`` and the ``memrpc`` command.

Serving is decided before anything heavy is imported, so that the wire is safe from the first
stray print and the first answer comes soon.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Serve when asked to, or when spawned on pipes without a word; else run a verb."""
    arguments = sys.argv[1:]
    if _wants_server(arguments):
        return _serve(arguments)
    from memrpc.server.stdio import end_at_interrupt

    end_at_interrupt()  # Until a verb runs: some imports do not survive an exception from without.
    from memrpc.cli import run
    from memrpc.cli.terminal import open_missing, speak_utf8

    open_missing()
    speak_utf8()
    return run(arguments)


def _wants_server(arguments: list[str]) -> bool:
    """True for the verb, with settings on either side; on pipes also for settings alone."""
    if arguments[:1] == ["serve"]:
        return True
    is_spawned = not (sys.stdin and sys.stdin.isatty())
    if not arguments:
        return is_spawned
    if not arguments[0].startswith("--"):
        return False
    from memrpc.settings import split_flags
    from memrpc.store.errors import DomainError

    try:
        rest = split_flags(arguments)[1]
    except DomainError:
        return False
    return rest[:1] == ["serve"] or (is_spawned and not rest)


def _serve(arguments: list[str]) -> int:
    from memrpc.server import stdio

    wants_help = bool({"-h", "--help"} & set(arguments))
    if wants_help:
        from memrpc.cli import run

        return run(["serve", "--help"])
    wire = stdio.claim()
    from memrpc.cli.serve import serve

    return serve(arguments, wire)


if __name__ == "__main__":
    sys.exit(main())
