"""Index runs, each in a process group of its own.

The server only passes on what the process says.  When the call is cancelled the whole group is
killed, which leaves the index as it was before, and the lease is given back so that the next run
need not wait for it to expire.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from subprocess import PIPE
from typing import TYPE_CHECKING, Any, Final

import anyio

from memrpc.codebase import repositories
from memrpc.codebase.repositories import Lease
from memrpc.store import errors
from memrpc.store.database import Database
from memrpc.store.errors import DomainError, Unavailable

if TYPE_CHECKING:
    from anyio.abc import Process

    from memrpc.store.json_column import JSON

_COMMAND: Final = (sys.executable, "-m", "memrpc.codebase.indexer")


@dataclass(frozen=True, slots=True)
class IndexOrder:
    """What to index, and as what."""

    owner: str
    repo: str
    root: str
    force: bool = False
    includes: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()


class Indexing:
    """Starts runs; ``workers`` parsing processes each."""

    def __init__(self, database: Callable[[], Database], workers: int) -> None:
        self._database = database
        self._workers = workers

    async def run(
        self, order: IndexOrder, progress: Callable[[int, int], None]
    ) -> Mapping[str, JSON]:
        """Index and return the report.  A cancel ends the run at once.

        Raises DomainError.
        """
        is_group = sys.platform != "win32"
        process = await anyio.open_process(
            _COMMAND, stdin=PIPE, stdout=PIPE, stderr=None, start_new_session=is_group
        )
        lease: list[Lease] = []
        try:
            return await self._follow(process, order, progress, lease)
        finally:
            with anyio.CancelScope(shield=True):
                await self._end(process, lease)

    async def _follow(
        self,
        process: Process,
        order: IndexOrder,
        progress: Callable[[int, int], None],
        lease: list[Lease],
    ) -> Mapping[str, JSON]:
        assert process.stdin is not None  # noqa: S101 -- it was made with pipes
        with contextlib.suppress(anyio.BrokenResourceError):  # Its end is noticed below.
            await process.stdin.send(self._written(order))
        async for said in _lines(process):
            match said:
                case {"done": int(done), "total": int(total)}:
                    progress(done, total)
                case {"lease": [int(repository), int(token)]}:
                    lease.append(Lease(repository, token))
                case {"report": report}:
                    found: Mapping[str, JSON] = report
                    await process.wait()
                    return found
                case {"refusal": [str(code), str(message), bool(), details]}:
                    raise _refusal(code, message, details)
        raise Unavailable(
            "The index run ended before its time; the index is as it was. Try again.",
            reason="INDEX_FAILED",
        )

    def _written(self, order: IndexOrder) -> bytes:
        values = {
            "database": str(self._database().path.absolute()),
            "owner": order.owner,
            "repo": order.repo,
            "root": order.root,
            "force": order.force,
            "includes": order.includes,
            "excludes": order.excludes,
            "workers": self._workers,
        }
        return json.dumps(values).encode() + b"\n"

    async def _end(self, process: Process, lease: list[Lease]) -> None:
        """Kill what still runs, and give back its lease."""
        is_running = process.returncode is None
        if is_running:
            _kill(process)
        await process.aclose()
        if is_running and lease:
            with contextlib.suppress(DomainError):
                await self._database().write(lambda db: repositories.release(db, lease[-1]))


def _kill(process: Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)


async def _lines(process: Process) -> AsyncIterator[Any]:
    """What the process says, line by line."""
    assert process.stdout is not None  # noqa: S101 -- it was made with pipes
    rest = b""
    async for chunk in process.stdout:
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield json.loads(line)


def _refusal(code: str, message: str, details: Mapping[str, JSON]) -> DomainError:
    """The refusal that the process met, as if it had been met here."""
    kinds = {
        kind.code: kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, DomainError) and "code" in vars(kind)
    }
    return kinds.get(code, Unavailable)(message, **details)
