"""``python -m conformance.bridge [--one-child] -- COMMAND...``: bridge until stdin ends."""

from __future__ import annotations

import argparse
import sys
import threading

from conformance.bridge.front import Bridge


def main() -> int:
    """Serve until the standard input ends; exit with 1 if a child broke a promise."""
    parser = argparse.ArgumentParser(prog="python -m conformance.bridge")
    parser.add_argument("--one-child", action="store_true", help="one child serves everybody")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    bridge = Bridge(arguments.command, one_child=arguments.one_child, port=arguments.port)
    threading.Thread(target=bridge.serve_forever, daemon=True).start()
    print(bridge.url, flush=True)
    sys.stdin.read()
    bridge.close()
    print(bridge.findings.summary(), *bridge.findings.failures, sep="\n")
    return 1 if bridge.findings.failures else 0


if __name__ == "__main__":
    sys.exit(main())
