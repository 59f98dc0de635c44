"""What holds for every test: signals that end a process have their own meaning in what it spawns.

A run that was started with nohup, or in the background, ignores some, and its children would too.
One that is handled means the default to a child, and does not end the run either.

And what is slow has time enough on a machine that does other things too.
"""

from __future__ import annotations

import signal

import pytest

for _name in ("SIGHUP", "SIGINT", "SIGTERM"):
    _number = getattr(signal, _name, None)
    if _number is not None and signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, lambda _number, _frame: None)

SLOW_TIMEOUT_S = 900
"""A slow test that says nothing itself; a quiet machine needs a tenth of that."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(SLOW_TIMEOUT_S))
