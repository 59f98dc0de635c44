"""The official conformance suite: install it beside the tree, run it, read what it found.

The suite speaks HTTP only and needs Node 22.  Both live in ``.conformance``, which ignores itself.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SUITE: Final = "@modelcontextprotocol/conformance"
SUITE_VERSION: Final = "0.2.0-alpha.12"
CACHE: Final = Path(__file__).parents[1] / ".conformance"
REQUIRED: Final = {"2025-11-25": 30, "2026-07-28": 37}
_NODE_MAJOR: Final = 22
_RUN_TIMEOUT_S: Final = 300
_SCENARIO: Final = re.compile(r"([✓✗]) (\S+): (\d+) passed, (\d+) failed")
_UNSCORED: Final = re.compile(r"  [✓✗] (\S+) \(([a-z-]+)\)")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the suite says about one scenario."""

    scenario: str
    is_green: bool
    passed: int
    failed: int
    unscored_because: str | None


def install() -> tuple[str, Path]:
    """The node binary and the suite's program, installed if they are not there yet."""
    CACHE.mkdir(exist_ok=True)
    (CACHE / ".gitignore").write_text("*\n")
    wanted = [] if _installed_version() == SUITE_VERSION else [f"{SUITE}@{SUITE_VERSION}"]
    if _node() is None:
        wanted.append(f"node@{_NODE_MAJOR}")
    if wanted:
        _npm_install(wanted)
    node = _node()
    if node is None:
        raise RuntimeError(f"Node {_NODE_MAJOR} or newer could not be installed from npm")
    return node, _suite() / "dist" / "index.js"


def _npm_install(packages: Sequence[str]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise RuntimeError("npm is needed to install the official suite")
    command = [npm, "install", "--no-audit", "--no-fund", "--save-exact", "--prefix", str(CACHE)]
    subprocess.run([*command, *packages], check=True, stdout=subprocess.DEVNULL)


def _suite() -> Path:
    return CACHE / "node_modules" / SUITE


def _installed_version() -> str | None:
    manifest = _suite() / "package.json"
    return json.loads(manifest.read_text())["version"] if manifest.exists() else None


def _node() -> str | None:
    """The first Node that is new enough: the machine's own, else the one in the cache."""
    folder = CACHE / "node_modules" / "node"
    found = [shutil.which("node"), folder / "bin" / "node"]
    for path in [*found, *folder.glob("node_modules/node-*/bin/node")]:
        if path is not None and _major(str(path)) >= _NODE_MAJOR:
            return str(path)
    return None


def _major(node: str) -> int:
    try:
        shown = subprocess.run([node, "--version"], capture_output=True, check=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return 0
    return int(shown.stdout.strip().removeprefix("v").partition(".")[0])


def run_suite(node: str, program: Path, url: str, revision: str, results: Path) -> list[Outcome]:
    """Every server scenario of the revision's requirement set, run against ``url``."""
    shutil.rmtree(results, ignore_errors=True)
    command = [node, str(program), "server", "--url", url, "--requirements", revision]
    done = subprocess.run(
        [*command, "-o", str(results)],
        capture_output=True,
        check=False,
        text=True,
        timeout=_RUN_TIMEOUT_S,
        cwd=CACHE,
    )
    results.mkdir(parents=True, exist_ok=True)
    (results / "output.txt").write_text(done.stdout + done.stderr)
    return read_summary(done.stdout)


def read_summary(output: str) -> list[Outcome]:
    """The outcomes that stand in the suite's summary."""
    _, _, summary = output.partition("=== SUMMARY ===")
    scored, _, rest = summary.partition("Not scored for")
    unscored = dict(_UNSCORED.findall(rest))
    return [
        Outcome(name, mark == "✓", int(passed), int(failed), unscored.get(name))
        for mark, name, passed, failed in _SCENARIO.findall(scored)
    ]
