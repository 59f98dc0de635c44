"""What holds for every test: signals that end a process have their own meaning in what it spawns.

A run that was started with nohup, or in the background, ignores some, and its children would too.
One that is handled means the default to a child, and does not end the run either.
"""

from __future__ import annotations

import signal

for _name in ("SIGHUP", "SIGINT", "SIGTERM"):
    _number = getattr(signal, _name, None)
    if _number is not None and signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, lambda _number, _frame: None)
