"""backup: copy the database to a file, while servers may be using it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memrpc.cli.terminal import show, spare_databases, whole
from memrpc.settings import Settings
from memrpc.store.errors import Conflict

if TYPE_CHECKING:
    import argparse
    from pathlib import Path


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="the copy; it must not exist yet")


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    from pathlib import Path

    from memrpc.cli.opening import opened

    target = Path(parsed.file)
    if target.exists():
        raise Conflict(f"{target} exists; name a file that does not.", field="file")
    spare_databases(target, settings.database_path())
    with opened(settings) as application, whole(target) as part:
        path = application.database.path
        application.database.maintain_blocking(lambda _: _copy(path, part))
    show(f"copied to {target}; what you forget later stays in this copy")
    return 0


def _copy(path: Path, target: Path) -> None:
    """Copy, and say of failures that they are the target's."""
    from memrpc.store import backups
    from memrpc.store.failures import Translated

    with Translated(target):
        backups.copy(path, target)
