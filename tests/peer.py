"""A client made of pipes: spawns any stdio server, writes raw bytes, judges every line it reads."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Self

from tests.oracle import Oracle, Violation

ROOT = Path(__file__).parent.parent
FIXTURE = (sys.executable, "-m", "tests.fixture_server")
DEADLINE_S = 10.0
_KEY = "io.modelcontextprotocol/"


def request(id_, method, params=None) -> dict:
    message = {"jsonrpc": "2.0", "id": id_, "method": method}
    return message if params is None else {**message, "params": params}


def note(method, params=None) -> dict:
    message = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}


def cancel(id_) -> dict:
    return note("notifications/cancelled", {"requestId": id_})


def initialize(version="2025-11-25", id_="init", capabilities=None) -> dict:
    client = {"name": "peer", "version": "1"}
    body = {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": client}
    return request(id_, "initialize", body)


def envelope(capabilities=None, **more) -> dict:
    """The ``_meta`` of a 2026-07-28 request."""
    return {
        f"{_KEY}protocolVersion": "2026-07-28",
        f"{_KEY}clientCapabilities": capabilities or {},
        **more,
    }


def modern(id_, method, params=None, meta=None) -> dict:
    return request(id_, method, {**(params or {}), "_meta": meta or envelope()})


def call(id_, tool, arguments=None, *, meta=None) -> dict:
    params = {"name": tool, "arguments": arguments or {}}
    return request(id_, "tools/call", params if meta is None else {**params, "_meta": meta})


INITIALIZED = note("notifications/initialized")


def to_line(message: object) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


class Peer:
    """One spawned server.  Use it as a context manager: it kills what it started."""

    def __init__(
        self,
        command=FIXTURE,
        *,
        env=None,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        reads=True,
        drains_stderr=True,
        judges=True,
    ) -> None:
        self.oracle = Oracle()
        self.judges = judges
        self.notices: list[dict] = []
        self.stderr = bytearray()
        self._messages: queue.SimpleQueue = queue.SimpleQueue()
        self._ids = itertools.count(1)
        self.process = subprocess.Popen(
            list(command),
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            start_new_session=True,
            bufsize=0,
        )
        self._readers: list[threading.Thread] = []
        if drains_stderr:
            self._spawn(self._drain_stderr)
        if reads and self.process.stdout is not None:
            self.start_reading()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def _spawn(self, target) -> None:
        thread = threading.Thread(target=target, daemon=True)
        thread.start()
        self._readers.append(thread)

    def start_reading(self) -> None:
        self._spawn(self._read)

    def _read(self) -> None:
        parts: list[bytes] = []
        while chunk := _read_some(self.process.stdout):
            *ended, rest = chunk.split(b"\n")
            for piece in ended:
                line = b"".join([*parts, piece, b"\n"])
                parts.clear()
                self._messages.put((time.monotonic(), line))
            parts.append(rest)
        self._messages.put((time.monotonic(), b"".join(parts) or None))

    def _drain_stderr(self) -> None:
        while chunk := _read_some(self.process.stderr):
            self.stderr += chunk

    # Out

    def write(self, raw: bytes) -> None:
        """Send bytes as they are; whole lines of JSON among them are shown to the oracle."""
        for line in raw.split(b"\n"):
            with contextlib.suppress(ValueError, RecursionError):
                self.oracle.sent(json.loads(line))
        self.write_unseen(raw)

    def write_unseen(self, raw: bytes) -> None:
        """Send bytes that the oracle must not learn requests from."""
        view = memoryview(raw)
        while view:
            view = view[self.process.stdin.write(view) :]

    def send(self, *messages: object) -> None:
        """Send messages in one write."""
        for message in messages:
            self.oracle.sent(message)
        self.write_unseen(b"".join(map(to_line, messages)))

    # In

    def receive(self, timeout_s=DEADLINE_S) -> list[dict]:
        """The messages of the next line; an empty list at the end of the stream."""
        return self.receive_timed(timeout_s)[1]

    def receive_timed(self, timeout_s=DEADLINE_S) -> tuple[float, list[dict]]:
        at, line = self._messages.get(timeout=timeout_s)
        if line is None:
            self._messages.put((at, None))
            return at, []
        return at, self.oracle.judge(line) if self.judges else _plain(line)

    def answer(self, id_, timeout_s=DEADLINE_S) -> dict:
        """The response to ``id_``; what comes before it goes to ``notices``."""
        deadline = time.monotonic() + timeout_s
        while True:
            for kept in self.notices:
                if _answers(kept, id_):
                    self.notices.remove(kept)
                    return kept
            messages = self.receive(max(0.01, deadline - time.monotonic()))
            assert messages, f"the stream ended before {id_!r} was answered: {self.stderr[-2000:]}"
            self.notices += messages

    def ask(self, method, params=None, timeout_s=DEADLINE_S) -> dict:
        """Send a request of the handshake session and return its response."""
        id_ = f"ask-{next(self._ids)}"
        self.send(request(id_, method, params))
        return self.answer(id_, timeout_s)

    def ask_modern(self, method, params=None, meta=None, timeout_s=DEADLINE_S) -> dict:
        id_ = f"ask-{next(self._ids)}"
        self.send(modern(id_, method, params, meta))
        return self.answer(id_, timeout_s)

    def handshake(self, version="2025-11-25", capabilities=None) -> dict:
        """Open the handshake session; the result of ``initialize``."""
        id_ = f"init-{next(self._ids)}"
        self.send(initialize(version, id_, capabilities), INITIALIZED)
        return self.answer(id_)["result"]

    def prove_alive(self) -> None:
        """After any accident: the process lives and answers both eras, soon."""
        started = time.monotonic()
        assert "result" in self.ask("ping")
        found = self.ask_modern("server/discover")["result"]
        assert found["supportedVersions"] == ["2026-07-28"]
        assert self.process.poll() is None
        assert time.monotonic() - started < 5.0

    # The end

    def end(self, timeout_s=10.0) -> tuple[int, float]:
        """Close stdin; the exit code and the seconds it took."""
        self.process.stdin.close()
        return self.wait(timeout_s)

    def wait(self, timeout_s=10.0) -> tuple[int, float]:
        started = time.monotonic()
        code = self.process.wait(timeout_s)
        return code, time.monotonic() - started

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def rest(self) -> list[dict]:
        """Everything up to the end of the stream."""
        found = list(self.notices)
        while messages := self.receive():
            found += messages
        return found

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)
        for thread in self._readers:
            thread.join(5)

    def wait_for_stderr(self, text: bytes, timeout_s=DEADLINE_S) -> None:
        deadline = time.monotonic() + timeout_s
        while text not in self.stderr:
            if time.monotonic() > deadline:
                raise Violation(f"{text!r} is not on stderr: {bytes(self.stderr[-2000:])!r}")
            time.sleep(0.005)  # Polling a pipe that another thread drains; no barrier exists.

    def resident_kib(self) -> int:
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.split("VmRSS:")[1].split()[0])


def _answers(message: object, id_: object) -> bool:
    if not isinstance(message, dict) or "method" in message or "id" not in message:
        return False
    return type(message["id"]) is type(id_) and message["id"] == id_


def _plain(line: bytes) -> list[dict]:
    value = json.loads(line)
    return value if isinstance(value, list) else [value]


def _read_some(stream) -> bytes:
    try:
        return os.read(stream.fileno(), 1 << 16)
    except (OSError, ValueError):
        return b""
