"""The fixture stands on the engine alone."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import conformance.fixture.service as service
service.make_connection()
memory = ("store", "recall", "archive", "workspace", "codebase", "surface", "app", "settings")
print([n for n in sys.modules if n.startswith(tuple(f"memrpc.{m}" for m in memory))])
"""


def test_the_fixture_knows_no_memory():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True)
    assert done.stdout == b"[]\n"
