"""jobs: list the work that is owed, or make dead jobs ready again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memrpc.cli.terminal import show, show_json
from memrpc.settings import Settings

if TYPE_CHECKING:
    import argparse

    from memrpc.store.jobs import Job

MAX_NUMBER: Final = 2**63 - 1


def arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    listed = actions.add_parser("list", help="every job that is owed, dead ones too")
    listed.add_argument("--json", action="store_true", help="as JSON")
    listed.add_argument("--limit", type=count, default=100, help="how many; default: 100")
    again = actions.add_parser("retry", help="make a dead job ready again")
    again.add_argument("job", nargs="?", type=number, help="its id; without it, every dead job")


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    from memrpc.app import now_us
    from memrpc.cli.opening import opened
    from memrpc.store import jobs
    from memrpc.surface.shapes import to_json

    with opened(settings) as application:
        database, now = application.database, now_us()
        if parsed.action == "list":
            owed = database.read_blocking(lambda db: jobs.list_jobs(db, limit=parsed.limit))
            _list(owed) if not parsed.json else show_json(to_json(owed))
        elif parsed.job is None:
            revived = database.write_blocking(lambda db: jobs.retry_all(db, now=now))
            show(f"{revived} jobs are ready again")
        else:
            database.write_blocking(lambda db: jobs.retry(db, parsed.job, now=now))
            show(f"job {parsed.job} is ready again")
    return 0


def number(text: str) -> int:
    """One that SQLite knows, too; the name is what argparse tells of."""
    value = int(text)
    if abs(value) > MAX_NUMBER:
        raise ValueError(text)
    return value


def count(text: str) -> int:
    """At least one."""
    if number(text) < 1:
        raise ValueError(text)
    return number(text)


def _list(owed: list[Job]) -> None:
    rows = [f"{j.id:6} {j.kind:10} {j.state.value:8} {j.attempts:3} {j.error or ''}" for j in owed]
    show("\n".join(rows) if rows else "nothing is owed")
