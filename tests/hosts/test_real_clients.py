"""The official clients connect, list and call: SDK 1.x and 2.x, and the Inspector's CLI.

Each gets an environment of its own, made on the first run in a folder that git ignores.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.peer import FIXTURE, ROOT

pytestmark = pytest.mark.timeout(400)
HERE = Path(__file__).parent
INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
EVENT = {"event_id": "e1", "role": "user", "source": "ann", "text": "Ann moved to Lyon"}


@pytest.fixture(params=["fixture", "memrpc"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[list[str], list[list]]:
    """A server's command, and calls that it answers."""
    if request.param == "fixture":
        return list(FIXTURE), [["echo", {"text": "★"}], ["refuse", {}]]
    database = str(tmp_path / "memory.db")
    command = [sys.executable, "-m", "memrpc", "serve", "--toolset", "core", "--db", database]
    return command, [["memory_record", EVENT], ["memory_recall", {"query": "Lyon"}]]


@cache
def sdk(major: int) -> str | None:
    """The Python of an environment with that SDK; None if it cannot be had."""
    folder = ROOT / f".venv-mcp{major}"
    python = folder / "bin" / "python"
    if not (folder / ".installed").exists():
        commands = (
            [sys.executable, "-m", "venv", str(folder)],
            [str(python), "-m", "pip", "install", "--quiet", f"mcp=={major}.*"],
        )
        for command in commands:
            if subprocess.run(command, capture_output=True, check=False, timeout=300).returncode:
                return None
        (folder / ".installed").touch()
    return str(python)


@cache
def inspector() -> str | None:
    """The Inspector's command; None if it cannot be had."""
    folder = ROOT / ".venv-inspector"
    command = folder / "node_modules" / ".bin" / "mcp-inspector"
    npm = shutil.which("npm")
    if not command.exists() and npm is not None:
        install = [npm, "install", "--silent", "--no-fund", "--no-audit", "--prefix", str(folder)]
        subprocess.run([*install, INSPECTOR], capture_output=True, check=False, timeout=300)
    return str(command) if command.exists() else None


def run(command: list[str]) -> dict:
    done = subprocess.run(command, capture_output=True, cwd=ROOT, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    return json.loads(done.stdout)


def check(told: dict, version: str, calls: list[list]) -> None:
    assert told["version"] == version
    assert {name for name, _ in calls} <= set(told["tools"])
    assert told["errors"] == [name == "refuse" for name, _ in calls]
    assert told["structured"][0] is not None


def test_the_python_sdk_1_connects_lists_and_calls(server):
    python = sdk(1)
    if python is None:
        pytest.skip("mcp 1.x cannot be installed here")
    command, calls = server
    told = run([python, str(HERE / "sdk1_client.py"), json.dumps([command, calls])])
    check(told, "2025-11-25", calls)


@pytest.mark.parametrize(
    ("mode", "version"),
    [("auto", "2026-07-28"), ("legacy", "2025-11-25"), ("2026-07-28", "2026-07-28")],
)
def test_the_python_sdk_2_connects_lists_and_calls_in_both_eras(server, mode: str, version: str):
    python = sdk(2)
    if python is None:
        pytest.skip("mcp 2.x cannot be installed here")
    command, calls = server
    told = run([python, str(HERE / "sdk2_client.py"), json.dumps([command, calls, mode])])
    check(told, version, calls)


def test_the_inspector_lists_and_calls(server):
    cli = inspector()
    if cli is None:
        pytest.skip("npm, or the Inspector from it, cannot be had here")
    command, calls = server
    listed = run([cli, "--cli", *command, "--method", "tools/list"])
    assert {name for name, _ in calls} <= {tool["name"] for tool in listed["tools"]}
    name, arguments = calls[0]
    given = [part for key, value in arguments.items() for part in ("--tool-arg", f"{key}={value}")]
    called = run([cli, "--cli", *command, "--method", "tools/call", "--tool-name", name, *given])
    assert called.get("isError", False) is False
    assert called["structuredContent"]
