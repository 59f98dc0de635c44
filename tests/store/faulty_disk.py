"""A disk that fails or kills the process at the n-th write, sync or truncation.

``python faulty_disk.py PATH MODE N`` runs a workload on it and prints what was acknowledged.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Final

import actors
import anyio
import apsw

from memrpc.store import purge
from memrpc.store.database import Database
from memrpc.store.errors import Unavailable

THINGS: Final = 8
SYSTEM: Final = apsw.vfs_names()[0]


class Disk(apsw.VFS):
    """The system's own file layer with a counter in front of what changes the file."""

    def __init__(self, mode: str, fatal_call: int) -> None:
        self.mode, self.fatal_call, self.calls = mode, fatal_call, 0
        self.is_armed = False
        super().__init__("faulty", SYSTEM, makedefault=True)

    def xOpen(self, name: object, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 -- SQLite's name
        return File(self, name, flags)

    def is_fatal(self) -> bool:
        if not self.is_armed:
            return False
        self.calls += 1
        return self.calls == self.fatal_call or (
            self.mode == "io always" and self.calls >= self.fatal_call
        )

    def fail(self) -> None:
        if self.mode in {"exit", "half"}:
            os._exit(9)
        raise apsw.FullError("planted") if self.mode == "full once" else apsw.IOError("planted")


class File(apsw.VFSFile):
    def __init__(self, disk: Disk, name: object, flags: list[int]) -> None:
        self.disk = disk
        super().__init__(SYSTEM, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 -- SQLite's name
        if self.disk.is_fatal():
            if self.disk.mode == "half":
                super().xWrite(bytes(data)[: len(data) // 2], offset)
            self.disk.fail()
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802 -- SQLite's name
        if self.disk.is_fatal():
            self.disk.fail()
        super().xSync(flags)

    def xTruncate(self, size: int) -> None:  # noqa: N802 -- SQLite's name
        if self.disk.is_fatal():
            self.disk.fail()
        super().xTruncate(size)


def work(database: Database) -> None:
    """Add things, every other one briefly, purge half-way; go on after each failure."""
    for number in range(THINGS):
        try:
            write = partial(actors.add, owner="f", number=number)
            is_brief = number % 2 == 1
            thing = anyio.run(partial(database.write, write, is_brief=is_brief))
            actors.say("added", thing)
            if number == THINGS // 2:
                database.maintain_blocking(lambda db: purge.purge(db, scrub=optimize))
        except Unavailable as error:
            actors.say("failed", error.code)


def optimize(db: apsw.Connection) -> None:
    db.execute("INSERT INTO thing_words (thing_words) VALUES ('optimize')").fetchall()


def main() -> None:
    path, mode, fatal_call = sys.argv[1:]
    disk = Disk(mode, int(fatal_call))
    database = Database(Path(path), jitter=lambda: 0.0, busy_timeout_s=1)
    database.write_blocking(actors.create)
    disk.is_armed = True
    work(database)
    database.close()
    actors.say("calls", disk.calls)


if __name__ == "__main__":
    main()
