"""Who holds a lease: a process, named so that others on its machine can tell whether it has died.

The name says which machine and boot, which table of processes, which number in it and when that
process began, because a number is given out again.  Where the system has no ``/proc`` a process has
no name, and nobody is ever known to have died: the lease runs out by itself.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")
_TABLE: Final = Path("/proc/self/ns/pid")
_STATE, _START = 0, 19
"""Places in ``/proc/PID/stat``, counted behind the program's name."""


def name(pid: int) -> str:
    """The process's name; empty where there can be none."""
    try:
        began = _fields(pid)[_START]
        return f"{_BOOT.read_text().strip()} {_TABLE.readlink()} {pid} {began}"
    except OSError:
        return ""


def is_gone(holder: str) -> bool:
    """Say whether the process of that name was one of this machine and is known to have ended."""
    place, _, process = holder.partition("] ")
    here = name(os.getpid()).partition("] ")[0]
    if not (here and place == here):
        return False
    pid, began = process.split()
    try:
        fields = _fields(int(pid))
    except (FileNotFoundError, ProcessLookupError):
        return True
    except OSError:
        return False
    return fields[_STATE] in "ZX" or fields[_START] != began


def _fields(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
