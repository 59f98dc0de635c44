"""Who is measured, and how each is started."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from .venvs import ROOT, sdk_python

YARDSTICKS = ROOT / "benchmarks" / "yardsticks"


@dataclass(frozen=True, slots=True)
class Contender:
    """A server; ``has_echo`` if it serves the yardsticks' tool."""

    key: str
    title: str
    command: tuple[str, ...]
    has_echo: bool = True


def all_contenders(database: Path) -> Mapping[str, Contender]:
    """By key; without S where the SDK cannot be installed."""
    python = sys.executable
    serve = (str(Path(python).parent / "memrpc"), "serve", "--db", str(database))
    sdk = sdk_python()
    listed = [
        Contender("B", "blocking loop", (python, _script("blocking"))),
        Contender("C", "chunked loop", (python, _script("chunked"))),
        Contender("E", "memrpc's engine", (python, _script("engine"))),
        Contender("M", "memrpc serve", serve, has_echo=False),
    ]
    if sdk is not None:
        listed.append(Contender("S", "official SDK", (str(sdk), _script("sdk_lowlevel"))))
    return {contender.key: contender for contender in listed}


def _script(name: str) -> str:
    return str(YARDSTICKS / f"{name}.py")
