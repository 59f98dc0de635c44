"""``python -m benchmarks [NAME ...] [--rounds N] [--docs]``: measure, print, keep, judge.

Results go to ``benchmarks/results/NAME.json`` with a description of the machine.  ``--docs``
rewrites ``docs/benchmarks.md`` from the newest result of each benchmark.  Exit code 1: a promise
does not hold.  Retrieval quality has a command of its own: ``python -m benchmarks.quality DATA``.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from importlib import import_module

from .findings import Findings
from .venvs import ROOT, compile_ours

NAMES = ("wire", "recall", "recall_latency", "index", "workspace")
LONG = ("recall_growth",)  # only when asked for by name: its file takes an hour to make
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "benchmarks.md"
INTRODUCTION = """# Benchmarks

Written by `python -m benchmarks --docs`; do not edit.

Every figure is a median over interleaved rounds: what is compared runs turn about on the same
machine, so whatever else goes on there hits all of it. A ratio is the median of the ratios inside
each round. **Read the ratios; the times belong to the machine below.** A promise has a gate, which
must hold, and an aim.
"""


def main() -> int:
    options = _options()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    compile_ours()
    found = [_run(name, options.rounds) for name in options.names or NAMES]
    if options.docs:
        _write_page()
    return 0 if all(verdict.holds for each in found for verdict in each.verdicts) else 1


def _run(name: str, rounds: int) -> Findings:
    from .machine import describe

    machine = describe()
    found: Findings = import_module(f"benchmarks.{name}").run(rounds=rounds)
    print(found.as_text(), flush=True)
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(found.as_json(machine), indent=1) + "\n")
    return found


def _write_page() -> None:
    files = [file for name in (*NAMES, *LONG) if (file := RESULTS / f"{name}.json").exists()]
    kept = [json.loads(file.read_text()) for file in files]
    pages = [each["page"] + "\n" + _machine(each["machine"]) for each in kept]
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text("\n".join([INTRODUCTION, *pages]))


def _machine(machine: dict) -> str:
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    load = machine["load_average"][0]
    return (
        f"Measured at {machine['at']}, commit {machine['commit']}: {machine['python']} on "
        f"{machine['system']}, {machine['processor']}, {machine['cores']} cores, "
        f"{machine['memory_gib']} GiB, load {load} before the run; {packages}; "
        f"the yardstick S is {machine['sdk']}.\n"
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join((*NAMES, *LONG))}")
    parser.add_argument("--rounds", type=int, default=11, help="interleaved rounds (default 11)")
    parser.add_argument("--docs", action="store_true", help="rewrite docs/benchmarks.md")
    options = parser.parse_args()
    if unknown := set(options.names) - {*NAMES, *LONG}:
        parser.error(f"no benchmark is called {', '.join(sorted(unknown))}")
    return options


if __name__ == "__main__":
    sys.exit(main())
