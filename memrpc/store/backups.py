"""Automatic backups: ``<file>.bak-<version>``, the file as it was before a migration.

A backup is complete or absent: it is written under another name, which begins the same way so
that whatever deletes or searches the backups meets an abandoned one too.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import apsw

from memrpc.store.lane_thread import checkpoint

KEPT: Final = 2
_INFIX: Final = ".bak-"
_PARTIAL: Final = ".partial"
_PAGES_A_STEP: Final = 1_000


def back_up(db: apsw.Connection, version: int) -> None:
    """Copy the committed content of ``db``'s file aside and drop all but the newest backups."""
    path = Path(db.filename)
    target = path.with_name(f"{path.name}{_INFIX}{version}")
    partial = target.with_name(target.name + _PARTIAL)
    partial.unlink(missing_ok=True)
    copy(path, partial)
    partial.replace(target)
    for old in complete(path)[:-KEPT]:
        old.unlink(missing_ok=True)


def complete(path: Path) -> list[Path]:
    """List the finished backups of the file at ``path``, oldest version first."""
    numbered = [(_version(found), found) for found in every(path)]
    return [found for version, found in sorted(numbered) if version >= 0]


def every(path: Path) -> list[Path]:
    """List all automatic backups of the file at ``path``, abandoned ones and side files too."""
    prefix = path.name + _INFIX
    return sorted(entry for entry in path.parent.iterdir() if entry.name.startswith(prefix))


def delete(path: Path) -> int:
    """Delete all automatic backups of the file at ``path`` and say how many files that were."""
    found = every(path)
    for backup in found:
        backup.unlink(missing_ok=True)
    return len(found)


def _version(backup: Path) -> int:
    """Return the version in a finished backup's name; -1 for anything else."""
    suffix = backup.name.rpartition(_INFIX)[2]
    return int(suffix) if suffix.isdecimal() else -1


def copy(path: Path, target: Path) -> None:
    """Copy through SQLite, so that what is still in the write-ahead log is in the copy.

    The source is a second connection: the first one may hold the write lock, which keeps its
    content still while this one reads.
    """
    create_private(target)
    source, twin = apsw.Connection(str(path)), apsw.Connection(str(target))
    try:
        with twin.backup("main", source, "main") as backup:
            while not backup.done:
                checkpoint()
                backup.step(_PAGES_A_STEP)
    finally:
        twin.close()
        source.close()


def create_private(path: Path) -> None:
    """Create an empty file that only its owner may read, unless something is there.

    SQLite gives its side files the same permissions.
    """
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        return
