"""What the store's tests share: a database in a fresh folder, and other processes to meet."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import pytest

from memrpc.store import lane_thread
from memrpc.store.database import Database
from memrpc.store.lanes import Connector, Lane
from tests.store.lane_setup import patience, prepare

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ACTORS = Path(__file__).with_name("actors.py")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nothing be long, and nobody idle, because the machine is busy."""
    monkeypatch.setattr(lane_thread, "BRIEF_S", 60)
    monkeypatch.setattr(lane_thread, "IDLE_AFTER_S", 600)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    opened = Database(path, jitter=lambda: 0.0)
    yield opened
    opened.close()


@pytest.fixture
def connector(path: Path) -> Connector:
    return Connector(lambda: apsw.Connection(str(path)), prepare)


@pytest.fixture
def lane(connector: Connector) -> Iterator[Lane]:
    lane = Lane("test", connector, patience())
    yield lane
    lane.close()


@pytest.fixture
def actor() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start another process that plays one role of ``actors.py`` and talks on its pipes."""
    started = []

    def start(role: str, *arguments: object) -> subprocess.Popen[str]:
        command = [sys.executable, str(ACTORS), role, *map(str, arguments)]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def full_disk() -> Callable[[Path, str], str]:
    """Play a role with its database on a disk of 1 MiB, which only that process sees."""

    def run(folder: Path, role: str) -> str:
        folder.mkdir()
        script = 'mount -t tmpfs -o size=1m tmpfs "$1" && exec "$2" "$3" "$4" "$1/memory.db"'
        command = ["unshare", "-m", "sh", "-c", script, "sh", folder, sys.executable, ACTORS, role]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        if "mount:" in done.stderr or "unshare:" in done.stderr:
            pytest.skip("no right to mount a small disk")
        return done.stdout

    return run
