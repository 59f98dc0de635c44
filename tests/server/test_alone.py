"""The engine stands alone: no memory code beside it, nothing heavy before it is needed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import official
from tests.peer import ROOT, Peer, call

ENGINE = ("wire", "protocol", "server")
HEAVY = (
    "asyncio",
    "anyio",
    "jsonschema",
    "referencing",
    "numpy",
    "tiktoken",
    "apsw",
    "ssl",
)


def test_the_engine_serves_both_eras_with_the_memory_code_absent(tmp_path: Path):
    package = tmp_path / "memrpc"
    for part in ENGINE:
        shutil.copytree(ROOT / "memrpc" / part, package / part)
    for file in ("memrpc/__init__.py", "memrpc/log.py"):
        shutil.copy(ROOT / file, tmp_path / file)
    shutil.copytree(ROOT / "schemas" / "protocol", tmp_path / "schemas" / "protocol")
    (tmp_path / "tests").mkdir()
    for file in ("__init__", "fixture_server", "fixture_tools"):
        shutil.copy(ROOT / "tests" / f"{file}.py", tmp_path / "tests")
    with Peer((sys.executable, "-m", "tests.fixture_server"), cwd=tmp_path) as peer:
        peer.handshake("2025-06-18")
        peer.send(call(1, "echo", {"text": "x"}), call(2, "echo", {"text": 7}))
        assert peer.answer(1)["result"]["structuredContent"] == {"text": "x"}
        assert peer.answer(2)["result"]["isError"]
        assert "result" in peer.ask_modern("resources/read", {"uri": "test://item/1"})
        maps = Path(f"/proc/{peer.process.pid}/maps").read_text()
        assert "apsw" not in maps
        assert "numpy" not in maps
        assert peer.end()[0] == 0


OPENING = f"""
import sys
from memrpc.server.connection import Connection
from memrpc.server.contracts import Contract
from memrpc.server.ports import Ports
from memrpc.server.service import Service, Tool
from memrpc.server.validation import Schema

tool = Tool(Contract("t", "T", "T.", Schema({{"type": "object"}})), None)
service = Service({{"name": "x", "version": "1"}}, "", {{"t": tool}}, None)
connection = Connection(service, Ports(print, float, float, str))
connection.feed(
    b'{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"2025-11-25"}}}}\\n'
    b'{{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{{"cursor":null}}}}\\n'
    b'{{"jsonrpc":"2.0","id":3,"method":"server/discover","params":{{}}}}\\n'
    b'{{"jsonrpc":"2.0","id":4,"method":"ping"}}\\n'
)
assert bytes(connection.outbox.peek()).count(b"result") == 3
print([name for name in {HEAVY!r} if name in sys.modules])
"""


def test_nothing_heavy_is_imported_before_a_call_needs_it():
    done = subprocess.run(
        [sys.executable, "-c", OPENING], capture_output=True, cwd=ROOT, check=False, timeout=30
    )
    assert done.stderr == b""
    assert done.stdout.strip() == b"[]"


MEMORY = ("archive", "workspace", "codebase", "store", "recall", "workers", "surface", "cli")
OF_THE_PRODUCT = ("tests/faults/test_product.py", "test_transcript_holds_against_memrpc_itself")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_transcripts_and_failures_hold_with_the_memory_code_removed(tmp_path: Path):
    """The whole of tests/faults and tests/conformance, in a tree that has only the engine."""
    here = tmp_path / "main"
    for folder in ("memrpc", "tests", "conformance", "schemas", "benchmarks", "docs"):
        shutil.copytree(ROOT / folder, here / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", here)
    for part in MEMORY:
        shutil.rmtree(here / "memrpc" / part)
    for file in ("app.py", "options.py", "settings.py"):
        (here / "memrpc" / file).unlink()
    words = ["-m", "pytest", "-q", "-m", "not slow", "tests/faults", "tests/conformance"]
    deselected = [f"--deselect={OF_THE_PRODUCT[0]}", "-k", f"not {OF_THE_PRODUCT[1]}"]
    done = subprocess.run(
        [sys.executable, *words, *deselected],
        cwd=here,
        env={**os.environ, "MCP_SCHEMA_DIR": str(official.SCHEMA_DIR)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
