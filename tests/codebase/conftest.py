"""Small repositories on disk, and the code index as its domain sees it and as its tools show it."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from memrpc.app import now_us
from memrpc.codebase import extraction, languages, repositories, source
from memrpc.codebase.model import Extract
from memrpc.codebase.run import Ports, Request, Run
from memrpc.server import schema_files
from memrpc.server.contracts import _inline
from memrpc.store.database import Database
from tests.workspace.conftest import Refused, Tools

GIT = (
    *("git", "-c", "init.defaultBranch=main", "-c", "user.name=t", "-c", "user.email=t@t"),
    *("-c", "protocol.file.allow=always"),
)


def write(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write a tree of files."""
    for path, content in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def git(folder: Path, *words: str) -> None:
    subprocess.run([*GIT, "-C", str(folder), *words], check=True, capture_output=True)


def extract(code: str | bytes, language: str) -> Extract:
    """What one file holds."""
    raw = code if isinstance(code, bytes) else code.encode()
    data = source.decode(raw, "file")
    return extraction.extract(data, languages.BY_NAME[language])


def declared(code: str | bytes, language: str) -> list[tuple[str, str]]:
    """Kinds and qualified names, in order."""
    return [
        (str(each.kind), f"{each.owner}.{each.name}" if each.owner else each.name)
        for each in extract(code, language).symbols
    ]


class Index:
    """The domain over a database on disk; runs happen in this process, parsing beside it."""

    def __init__(self, folder: Path) -> None:
        self.database = Database(folder / "memory.db", jitter=lambda: 0.0, readers=1)
        self.progress: list[tuple[int, int]] = []

    def run(self, root: Path, **more) -> dict:
        given = {"owner": "acme", "repo": "widgets", "workers": 1} | more
        request = Request(database="", root=str(root), **given)
        ports = Ports(
            now_us, time.monotonic, lambda *told: self.progress.append(told), lambda _lease: None
        )
        return Run(self.database, request, ports).report()

    def read(self, function: Callable, *arguments, **named):
        """``function(db, repository, ...)`` for acme/widgets."""

        def job(db):
            found = repositories.indexed(db, "acme", "widgets")
            return function(db, found.id, *arguments, **named)

        return self.database.read_blocking(job)

    def ask(self, sql: str, **values) -> list[tuple]:
        return self.database.read_blocking(lambda db: db.execute(sql, values).fetchall())

    def paths(self) -> list[str]:
        rows = self.ask("SELECT path FROM code_files WHERE state = 'live' ORDER BY path")
        return [path for (path,) in rows]

    def names(self) -> set[str]:
        rows = self.ask(
            "SELECT s.name FROM code_symbols AS s JOIN code_files AS f ON f.id = s.id >> 18 "
            "WHERE f.state = 'live'"
        )
        return {name for (name,) in rows}


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    made = Index(tmp_path)
    yield made
    made.database.close()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """An empty folder for a repository."""
    folder = tmp_path / "widgets"
    folder.mkdir()
    return folder


class CodeTools(Tools):
    """The two tools; each answer is held to the strict schema of one of the tool's modes."""

    def __init__(self, database: Path) -> None:
        super().__init__(database)
        self.place = {"owner": "acme", "repo": "widgets"}

    def call(self, tool: str, /, **arguments) -> dict:
        if not tool.startswith("codebase-"):
            return super().call(tool, **arguments)
        result = self.result(tool, **arguments)
        text = result["content"][0]["text"]
        if result["isError"]:
            assert "structuredContent" not in result
            raise Refused(json.loads(text)["error"])
        structured = result["structuredContent"]
        check_mode(tool, structured)
        assert len(text) <= 8_000
        assert len(json.dumps(structured, separators=(",", ":"), ensure_ascii=False)) <= 8_100
        return structured

    def index(self, root: Path, **more) -> dict:
        return self.call("codebase-index", repoPath=str(root), **more)

    def read(self, **arguments) -> dict:
        return self.call("codebase-read", **arguments)


def modes_of(tool: str) -> dict[str, dict]:
    return schema_files.read("tools", "codebase", f"{tool}.json")["x-memrpc"]["modes"]


def check_mode(tool: str, structured: dict) -> str:
    """The mode whose strict schema an answer satisfies, as it does the tool's whole one."""
    file = schema_files.read("tools", "codebase", f"{tool}.json")
    whole = Draft202012Validator(_inline(file["$defs"]["output"]))
    assert not list(whole.iter_errors(structured))
    errors = {}
    for name, mode in modes_of(tool).items():
        found = list(Draft202012Validator(_inline(mode)).iter_errors(structured))
        if not found:
            return name
        errors[name] = [f"{each.json_path}: {each.message[:120]}" for each in found[:3]]
    raise AssertionError(f"{tool} answered outside of its modes: {errors}")


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[CodeTools]:
    made = CodeTools(tmp_path / "memory.db")
    yield made
    made.close()
