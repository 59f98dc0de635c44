"""The machine of a run, and what ran on it: no figure is worth anything without."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from importlib.metadata import version
from pathlib import Path

from .venvs import ROOT, SDK


def describe() -> dict[str, object]:
    return {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": _commit(),
        "system": f"{platform.system()} {_kernel()} {platform.machine()}",
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gib": _memory_gib(),
        "load_average": [round(value, 2) for value in os.getloadavg()],
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "packages": {name: version(name) for name in ("memrpc", "orjson", "anyio", "apsw")},
        "sdk": SDK,
    }


def _commit() -> str:
    shown = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        capture_output=True,
        cwd=ROOT,
        check=False,
        text=True,
    )
    return shown.stdout.strip() or "unknown"


def _kernel() -> str:
    return platform.release().partition("-")[0]


def _processor() -> str:
    listed = Path("/proc/cpuinfo")
    if not listed.exists():
        return platform.processor() or "unknown"
    names = (row for row in listed.read_text().splitlines() if row.startswith("model name"))
    return next(names, "unknown: unknown").partition(":")[2].strip()


def _memory_gib() -> float | None:
    if "SC_PHYS_PAGES" not in os.sysconf_names:
        return None
    return round(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30, 1)
