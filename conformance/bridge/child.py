"""One stdio server as a child process: lines in, lines out, and an end that is judged."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from typing import IO, Final

from conformance.bridge.findings import Findings

EXIT_WITHIN_S: Final = 2.0


class Child:
    """``on_line`` gets each line of stdout on a thread of the child's own, None after the last."""

    def __init__(
        self,
        command: Sequence[str],
        findings: Findings,
        on_line: Callable[[bytes | None], None],
    ) -> None:
        self._findings = findings
        self._on_line = on_line
        self._lock = threading.Lock()
        self._closing = False
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        findings.count_child()
        self._threads = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._watch_stderr, daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def send(self, line: str) -> None:
        """Write one message; line feeds in it are white space, so they become spaces."""
        data = line.replace("\r", " ").replace("\n", " ").encode() + b"\n"
        with self._lock:
            try:
                stdin = _opened(self._process.stdin)
                stdin.write(data)
                stdin.flush()
            except (OSError, ValueError) as error:
                self._findings.fail(f"the child takes no input: {error}")

    def close(self) -> None:
        """Close its stdin and hold it to a clean exit within ``EXIT_WITHIN_S``."""
        self._closing = True
        with self._lock:
            _opened(self._process.stdin).close()
        started = time.monotonic()
        try:
            code = self._process.wait(EXIT_WITHIN_S)
        except subprocess.TimeoutExpired:
            self._findings.fail(f"a child outlived the end of its input by {EXIT_WITHIN_S} s")
            self._process.kill()
            self._process.wait()
        else:
            self._judge_exit(code, time.monotonic() - started)
        for thread in self._threads:
            thread.join(EXIT_WITHIN_S)
        _opened(self._process.stdout).close()
        _opened(self._process.stderr).close()

    def _judge_exit(self, code: int, seconds: float) -> None:
        self._findings.note_exit(seconds)
        if code != 0:
            self._findings.fail(f"a child exited with {code} at the end of its input")

    def _read(self) -> None:
        for line in _opened(self._process.stdout):
            self._on_line(line)
        if not self._closing:
            self._findings.fail("a child closed its output while its input was open")
        self._on_line(None)

    def _watch_stderr(self) -> None:
        for line in _opened(self._process.stderr):
            if line.startswith(b"Traceback"):
                self._findings.fail("a traceback on stderr")


def _opened(stream: IO[bytes] | None) -> IO[bytes]:
    if stream is None:
        raise ValueError("the child was started without this pipe")
    return stream
