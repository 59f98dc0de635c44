"""What a server imports on its own, before anybody has asked for it."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("jsonschema", "numpy", "tiktoken", "tree_sitter")
WARMED_UP = f"""
import sys
from memrpc.warm_up import WARM_UP
for step in WARM_UP:
    step()
print([name for name in sys.modules if name.partition(".")[0] in {HEAVY}])
"""


def test_the_whole_warm_up_imports_nothing_heavy():
    done = subprocess.run(
        [sys.executable, "-c", WARMED_UP], capture_output=True, check=True, text=True, timeout=60
    )
    assert done.stdout == "[]\n"
