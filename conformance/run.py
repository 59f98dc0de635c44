"""``python -m conformance.run``: the official suite against the fixture, through the bridge.

Each requirement set is run twice: with a child for every handshake session and one for all other
calls, and with one child for everything.  The exit code is 1 unless every required scenario is
green each time and no child broke a promise that the suite cannot see.
"""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conformance.bridge.front import Bridge
from conformance.official import CACHE, REQUIRED, Outcome, install, run_suite

FIXTURE: Final = (sys.executable, "-m", "conformance.fixture")
_MODES: Final = {"children": False, "one-child": True}


def main() -> int:
    """Run, print, judge."""
    parser = argparse.ArgumentParser(prog="python -m conformance.run")
    parser.add_argument("--revision", choices=list(REQUIRED), action="append")
    parser.add_argument("--mode", choices=list(_MODES), action="append")
    parser.add_argument("command", nargs="*", help="another stdio server (default: the fixture)")
    arguments = parser.parse_args()
    node, program = install()
    command = arguments.command or FIXTURE
    revisions = arguments.revision or list(REQUIRED)
    verdicts = [
        _run(Suite(node, program, revisions), command, mode) for mode in arguments.mode or _MODES
    ]
    return 0 if all(verdicts) else 1


@dataclass(frozen=True, slots=True)
class Suite:
    """The suite as it is installed, and the requirement sets to run."""

    node: str
    program: Path
    revisions: Sequence[str]


def _run(suite: Suite, command: Sequence[str], mode: str) -> bool:
    """All requirement sets against one bridge, so that both eras meet in one process."""
    print(f"{mode}:", flush=True)
    bridge = Bridge(command, one_child=_MODES[mode])
    threading.Thread(target=bridge.serve_forever, daemon=True).start()
    try:
        verdicts = [_run_set(suite, bridge.url, mode, revision) for revision in suite.revisions]
    finally:
        bridge.close()
    print(f"  {bridge.findings.summary()}")
    for failure in bridge.findings.failures:
        print(f"  FAILURE {failure[:500]}")
    return all(verdicts) and not bridge.findings.failures


def _run_set(suite: Suite, url: str, mode: str, revision: str) -> bool:
    """One requirement set; True if every required scenario is green."""
    results = CACHE / "results" / mode / revision
    outcomes = run_suite(suite.node, suite.program, url, revision, results)
    scored = [o for o in outcomes if o.unscored_because is None]
    green = sum(o.is_green for o in scored)
    passed, failed = sum(o.passed for o in outcomes), sum(o.failed for o in outcomes)
    print(f"  {revision}: {green}/{REQUIRED[revision]} required scenarios", end="; ")
    print(f"{passed}/{passed + failed} checks with the unscored ones", flush=True)
    for outcome in outcomes:
        _print_noteworthy(outcome)
    return green == REQUIRED[revision] == len(scored)


def _print_noteworthy(outcome: Outcome) -> None:
    counts = f"{outcome.passed} passed, {outcome.failed} failed"
    if outcome.unscored_because is not None:
        print(f"    unscored ({outcome.unscored_because}) {outcome.scenario}: {counts}")
    elif not outcome.is_green:
        print(f"    RED {outcome.scenario}: {counts}")


if __name__ == "__main__":
    sys.exit(main())
