"""A file of the first schema (``fixtures/spine.db``, version 3) is migrated with all it holds."""

from __future__ import annotations

import shutil
from pathlib import Path

import apsw
import pytest

from memrpc.app import Application
from memrpc.archive import exporting, persona, recalling
from memrpc.archive.recalling import RecallInput
from memrpc.settings import load
from memrpc.store import backups, migrate

SPINE = Path(__file__).parent / "fixtures" / "spine.db"
NOW = 1_800_000_000_000_000


@pytest.fixture
def old(tmp_path):
    path = tmp_path / "memory.db"
    shutil.copy(SPINE, path)
    application = Application(load({"db": str(path)}))
    yield application
    application.close_quickly()


def shown(application: Application, question: str, **more) -> list[str]:
    request = RecallInput(question, **more)
    found = application.database.read_blocking(lambda db: recalling.recall(db, request, now=NOW))
    return [m.content for m in found.memories] + [r.excerpt for r in found.raw]


def test_b65_the_first_schema_is_migrated_and_backed_up(old):
    assert SPINE.read_bytes()[60:64] == (3).to_bytes(4, "big")  # SQLite's user_version
    assert old.database.read_blocking(migrate.version) == migrate.latest()
    (backup,) = backups.complete(old.database.path)
    copy = apsw.Connection(str(backup))
    assert copy.pragma("user_version") == 3
    copy.close()


def test_b65_everything_in_it_is_still_found(old):
    now = shown(old, "ferry leaves")
    assert now[0] == "The ferry leaves at eight."
    assert not any("seven" in text for text in now)
    assert "The ferry leaves at seven." in shown(old, "ferry leaves", include_history=True)
    assert shown(old, "黄昏靠岸")[0] == "我们的船在黄昏靠岸。"
    assert shown(old, "ERR_DOCK_7") != []
    assert shown(old, "waiting memories") != []
    assert old.database.read_blocking(lambda db: persona.current(db, "default")).items == (
        "I am the harbour's clerk.",
    )


def test_b65_it_exports_and_is_whole(old):
    lines = old.database.read_blocking(lambda db: list(exporting.export_lines(db)))
    assert sum('"type":"event"' in line for line in lines) == 5
    assert old.database.read_blocking(lambda db: db.pragma("integrity_check")) == "ok"
