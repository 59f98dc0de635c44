"""The product as a system under test: a spawned ``memrpc serve``, asked through its own tools."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import apsw

from memrpc.recall import code, vectors

from .datasets import Haystack, Item

T = TypeVar("T")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_PAGE = 20
_BULK, _MOST = 100, 100
_SUFFIXES = {
    "python": ".py",
    "ruby": ".rb",
    "javascript": ".js",
    "go": ".go",
    "rust": ".rs",
    "c": ".c",
    "java": ".java",
}


class Product:
    """memory_record for each item, memory_recall for each question, one project a haystack.

    A hit is a distinct event id, by score over memories and raw together; answers are paged until
    there are as many as were asked for.
    """

    toolset = "core"

    def __init__(self, search_mode: str = "fast", embedder: str = "builtin:use3") -> None:
        self.name = f"memrpc {search_mode}, {embedder} (its own tools over stdio)"
        self.search_mode = search_mode
        self.has_vectors = embedder != "none"
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "quality.db"
        command = [sys.executable, "-m", "memrpc", "serve", "--db", str(self.path)]
        command += ["--toolset", self.toolset, "--embedder", embedder]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.calls = 0
        self.project = ""
        self._request(
            "initialize",
            {
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "clientInfo": {"name": "quality", "version": "0"},
            },
        )
        self._send({"method": "notifications/initialized"})

    def remember(self, haystack: Haystack) -> None:
        self.project = haystack.scope
        for item in haystack.items:
            self._call("memory_record", self._record_arguments(item))
        self._await_vectors()

    def _await_vectors(self) -> None:
        """Ask when everything that was recorded can be found in every way."""
        question = {"query": "anything", "search_mode": "semantic", "project_id": self.project}
        while self.has_vectors:
            coverage = self._call("memory_recall", question)["coverage"]
            if not coverage["pending_vectors"]:
                return
            time.sleep(0.2)

    def close(self) -> None:
        """End the server, which the next system should not have to share the machine with."""
        self.process.stdin.close()
        self.process.wait(60)

    def _record_arguments(self, item: Item) -> dict:
        arguments = {
            "event_id": f"{self.project}/{item.id}",
            "text": item.text,
            "role": "user",
            "source": item.speaker or "document",
            "session_id": f"{self.project}/{item.session}",
            "project_id": self.project,
        }
        if item.occurred_at is not None:
            moment = _EPOCH + timedelta(microseconds=item.occurred_at)
            arguments["occurred_at"] = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
        return arguments

    def ask(self, question: str, k: int) -> list[str]:
        found: dict[str, None] = {}
        offset: int | None = 0
        while offset is not None and len(found) < k:
            answer = self._call(
                "memory_recall",
                {
                    "query": question,
                    "limit": _PAGE,
                    "offset": offset,
                    "search_mode": self.search_mode,
                    "project_id": self.project,
                },
            )
            shown = [*answer["memories"], *answer["raw"]]
            shown.sort(key=lambda each: -each["score"])
            found |= dict.fromkeys(each["event_id"] for each in shown)
            is_last = len(shown) < _PAGE and "next_offset" not in answer
            offset = None if is_last else answer.get("next_offset", offset + len(shown))
        return [each.removeprefix(f"{self.project}/") for each in found][:k]

    @property
    def _place(self) -> dict:
        return {"owner": "quality", "repo": self.project}

    def _call(self, tool: str, arguments: dict) -> dict:
        result = self._request("tools/call", {"name": tool, "arguments": arguments})
        if result["isError"]:
            raise RuntimeError(result["content"][0]["text"])
        return result["structuredContent"]

    def _request(self, method: str, params: dict) -> dict:
        self.calls += 1
        self._send({"id": self.calls, "method": method, "params": params})
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") == self.calls:
                return message["result"]

    def _send(self, message: dict) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        self.process.stdin.write(line)
        self.process.stdin.flush()


class Entries(Product):
    """An entry for each item, ``memory-write`` and ``memory-read``: a hit is an entry's title."""

    toolset = "all"

    def __init__(self, embedder: str = "builtin:use3") -> None:
        super().__init__(embedder=embedder)
        self.name = f"memrpc memory-read, {embedder} (its own tools over stdio)"

    def remember(self, haystack: Haystack) -> None:
        self.project = haystack.scope
        for start in range(0, len(haystack.items), _BULK):
            bulk = [_entry(item) for item in haystack.items[start : start + _BULK]]
            self._call("memory-write", {**self._place, "memories": bulk})
        self._await_vectors()

    def _await_vectors(self) -> None:
        """Ask when the file owes no vector."""
        while self.has_vectors and any(each.pending for each in self._read(vectors.summaries)):
            time.sleep(0.2)

    def _read(self, ask: Callable[[apsw.Connection], T]) -> T:
        db = apsw.Connection(str(self.path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return ask(db)
        finally:
            db.close()

    def ask(self, question: str, k: int) -> list[str]:
        asked = {"query": question, "limit": min(k, _MOST)}
        rows = self._call("memory-read", {**self._place, **asked})["rows"]
        return [title.partition(" ")[2] for _, _, title, *_ in rows]


def _entry(item: Item) -> dict:
    return {"type": "code_fact", "title": f"Item {item.id}", "content": item.text, "importance": 3}


class Symbols(Product):
    """A file for each item, ``codebase-index`` and ``codebase-read``: a hit is a symbol's file.

    The code index keeps names, signatures and comments, not the code, and has no vectors.
    """

    toolset = "all"

    def __init__(self) -> None:
        super().__init__(embedder="none")
        self.name = "memrpc codebase-read (its own tools over stdio)"

    def remember(self, haystack: Haystack) -> None:
        root = Path(self.folder.name) / haystack.scope
        root.mkdir()
        for item in haystack.items:
            (root / f"{item.id}{_suffix(item.text)}").write_text(item.text + "\n")
        self.project = haystack.scope
        self._call("codebase-index", {**self._place, "repoPath": str(root)})

    def ask(self, question: str, k: int) -> list[str]:
        found = self._call("codebase-read", {**self._place, "query": question, "limit": 2 * k})
        files = dict.fromkeys(Path(each["filePath"]).stem for each in found["symbols"])
        return list(files)[:k]


def _suffix(text: str) -> str:
    language = code.head(text).partition(" ")[0]
    return _SUFFIXES.get(language, ".txt")
