"""``python -m memrpc`` and the ``memrpc`` command.

Serving is decided before anything heavy is imported, so that the wire is safe from the first
stray print and the first answer comes soon.
"""

from __future__ import annotations

import sys


def main() -> int:
    """Serve when asked to, or when spawned on pipes without a word; else run a verb."""
    arguments = sys.argv[1:]
    if arguments[:1] == ["serve"]:
        return _serve(arguments[1:])
    if not arguments and not (sys.stdin and sys.stdin.isatty()):
        return _serve([])
    from memrpc.cli import run

    return run(arguments)


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
