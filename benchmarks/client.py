"""A client made of bare pipes: it spawns a server, writes lines, reads lines, and looks at a clock.

It decodes nothing while it measures; answers are checked afterwards.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Self

READ_BYTES = 1 << 20
DEADLINE_S = 60.0
PROTOCOL_VERSION = "2025-11-25"
# What changes how an interpreter starts or writes, so that it would be measured instead.
DISTURBING = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "PYTHONPATH", "PYTHONDEVMODE")


def environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in DISTURBING}


def to_line(message: object) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def request(id_: int | str, method: str, params: object = None) -> bytes:
    message = {"jsonrpc": "2.0", "id": id_, "method": method}
    return to_line(message if params is None else {**message, "params": params})


def notification(method: str, params: object = None) -> bytes:
    message = {"jsonrpc": "2.0", "method": method}
    return to_line(message if params is None else {**message, "params": params})


def call(id_: int | str, tool: str, arguments: object) -> bytes:
    return request(id_, "tools/call", {"name": tool, "arguments": arguments})


def initialize(id_: int | str = "init") -> bytes:
    client = {"name": "benchmark", "version": "1"}
    body = {"protocolVersion": PROTOCOL_VERSION, "capabilities": {}, "clientInfo": client}
    return request(id_, "initialize", body)


INITIALIZED = notification("notifications/initialized")


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Keep this process, and those it spawns meanwhile, on one core where the system can.

    A round trip between two cores of a shared machine takes 20 or 60 us more, or nothing, by where
    the kernel puts either end; on one core it takes what both ends compute.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


class Server:
    """A spawned server; leaving its context ends it."""

    def __init__(self, command: Iterable[str]) -> None:
        self.spawned_at = time.perf_counter()
        self.process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
            bufsize=0,
        )
        assert self.process.stdin
        assert self.process.stdout
        self._in = self.process.stdin.fileno()
        self._out = self.process.stdout.fileno()
        self._rest = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.returncode is None:
            self.process.kill()
            self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                stream.close()

    def write(self, line: bytes) -> None:
        os.write(self._in, line)

    def read_line(self) -> bytes:
        """The next line; it waits."""
        while b"\n" not in self._rest:
            self._rest += self._read()
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def lines_within(self, timeout_s: float) -> Iterator[bytes]:
        """The lines that have come, after waiting for the first of them no longer than this."""
        if b"\n" not in self._rest and select.select([self._out], [], [], timeout_s)[0]:
            self._rest += self._read()
        *lines, self._rest = self._rest.split(b"\n")
        yield from lines

    def ask(self, line: bytes) -> bytes:
        """One round trip; nothing else may be in flight."""
        os.write(self._in, line)
        answer = self._read()
        if answer.endswith(b"\n"):
            return answer
        parts = [answer]
        while not parts[-1].endswith(b"\n"):
            parts.append(self._read())
        return b"".join(parts)

    def exchange(self, block: bytes, count: int) -> bytes:
        """Write ``block`` as the pipe takes it and read ``count`` lines as they come."""
        unsent, parts, missing = memoryview(block), [], count
        os.set_blocking(self._in, False)
        while missing > 0:
            writers = [self._in] if unsent else []
            readable, writable, _ = select.select([self._out], writers, [], DEADLINE_S)
            if not readable and not writable:
                raise TimeoutError(f"{missing} answers are missing after {DEADLINE_S} s")
            if readable:
                parts.append(self._read())
                missing -= parts[-1].count(b"\n")
            if writable:
                with contextlib.suppress(BlockingIOError):
                    unsent = unsent[os.write(self._in, unsent) :]
        os.set_blocking(self._in, True)
        return b"".join(parts)

    def _read(self) -> bytes:
        chunk = os.read(self._out, READ_BYTES)
        if not chunk:
            raise EOFError(f"{self.process.args} closed its output")
        return chunk

    def resident_kib(self) -> int:
        """The resident set as the kernel counts it, shared pages included."""
        status = Path(f"/proc/{self.process.pid}/status")
        if status.exists():
            return int(status.read_text().split("VmRSS:")[1].split()[0])
        shown = subprocess.run(
            ["ps", "-o", "rss=", "-p", str(self.process.pid)], capture_output=True, check=True
        )
        return int(shown.stdout)

    def end(self) -> tuple[float, float]:
        """Close its input; the seconds until it is gone, and the CPU seconds of its whole life."""
        watchdog = threading.Timer(DEADLINE_S, self.process.kill)
        watchdog.start()
        started = time.perf_counter()
        self.process.stdin.close()
        _, status, usage = os.wait4(self.process.pid, 0)
        gone = time.perf_counter()
        watchdog.cancel()
        self.process.returncode = os.waitstatus_to_exitcode(status)
        return gone - started, usage.ru_utime + usage.ru_stime


def check_answers(raw: bytes, ids: Iterable[int]) -> list[dict]:
    """Each id answered once, with a result; the answers in the order of ``ids``."""
    found = {message["id"]: message for message in map(json.loads, raw.splitlines())}
    expected = list(ids)
    assert found.keys() == set(expected), "some ids were not answered, or others were"
    assert raw.count(b"\n") == len(expected), "an id was answered twice"
    refused = [message for message in found.values() if "result" not in message]
    assert not refused, refused[:1]
    return [found[id_] for id_ in expected]
