"""The parsing process: looks at files one by one, and may be killed at any time.

A grammar is native code; one that never returns or brings its process down costs one file and one
process.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from typing import TYPE_CHECKING, Final

from memrpc.codebase.parsing import GC_THRESHOLD, look_at, read_frames, write_frame

if TYPE_CHECKING:
    from memrpc.codebase.parsing import Order

GRACE_S: Final = 5
"""After the parent's limit: only a process whose parent was killed lives as long as this."""


def main() -> None:
    """Serve the parent until it is gone."""
    gc.set_threshold(GC_THRESHOLD)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # What a grammar prints must not get between the frames.
    frames = read_frames(sys.stdin.buffer)
    order: Order = next(frames)
    with contextlib.suppress(BrokenPipeError):
        for tasks in frames:
            for task in tasks:
                _set_alarm(order.time_limit_s + GRACE_S)
                write_frame(answers, look_at(order, task))
            _set_alarm(0)


def _set_alarm(seconds: int) -> None:
    """End this process when the parent that should have ended it is gone."""
    if sys.platform != "win32":
        import signal

        signal.alarm(seconds)


if __name__ == "__main__":
    main()
