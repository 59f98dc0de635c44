"""The process of an index run: ``python -m memrpc.codebase.indexer``.

The order comes as one line of JSON on standard input, which stays open: when it closes, whoever
asked is gone, and the run ends.  Lines of JSON on standard output tell the progress and at last
the report or the refusal.  The server that asked computes nothing, so it stays as responsive as it
was; it stops a run by killing the process with its children, which is safe at any moment.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from memrpc.codebase import holders
from memrpc.codebase.parsing import GC_THRESHOLD
from memrpc.codebase.run import Ports, Request, Run
from memrpc.store.database import Database
from memrpc.store.errors import DomainError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memrpc.codebase.repositories import Lease

REPORT_EVERY_S: Final = 0.05
NICE: Final = 10


def main() -> None:
    """Serve the one who started this process."""
    order: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_end_with_parent, daemon=True).start()
    gc.set_threshold(GC_THRESHOLD)
    if hasattr(os, "nice"):
        os.nice(NICE)  # The server and whoever else waits for an answer go first.
    includes, excludes = (tuple(order.pop(name, ())) for name in ("includes", "excludes"))
    request = Request(**order, includes=includes, excludes=excludes)
    database = Database(Path(request.database), jitter=_jitter, readers=1, busy_timeout_s=30)
    ports = Ports(
        now_us=lambda: time.time_ns() // 1_000,
        monotonic=time.monotonic,
        progress=_Voice().progress,
        begun=_begun,
        holder=holders.name(os.getpid()),
        is_gone=holders.is_gone,
    )
    answer: dict[str, Any]
    try:
        answer = {"report": Run(database, request, ports).report()}
    except DomainError as error:
        answer = {"refusal": [error.code, error.message, bool(error.retryable), error.details]}
    database.close()
    _say(answer)


def _begun(lease: Lease) -> None:
    """Whoever kills this process gives the lease back."""
    _say({"lease": lease})


class _Voice:
    """Tells the progress, not more often than anybody can see."""

    def __init__(self) -> None:
        self._told_at = 0.0

    def progress(self, done: int, total: int) -> None:
        now = time.monotonic()
        if now - self._told_at >= REPORT_EVERY_S or done == total:
            self._told_at = now
            _say({"done": done, "total": total})


def _say(value: Mapping[str, Any]) -> None:
    with contextlib.suppress(BrokenPipeError):
        sys.stdout.write(json.dumps(value) + "\n")
        sys.stdout.flush()


def _jitter() -> float:
    return int.from_bytes(os.urandom(4)) / 2**32


def _end_with_parent() -> None:
    """When standard input closes, the one who asked is gone: end, with the parsing processes."""
    while os.read(0, 4_096):
        pass
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


if __name__ == "__main__":
    main()
