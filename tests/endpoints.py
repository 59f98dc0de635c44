"""A real HTTP server on loopback that answers as a test tells it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Reply:
    """What to send: a status and a body, cut off after ``cut`` bytes of it."""

    body: Any = None
    status: int = 200
    raw: bytes | None = None
    cut: int | None = None

    @property
    def content(self) -> bytes:
        return self.raw if self.raw is not None else json.dumps(self.body).encode()


@dataclass
class Asked:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Endpoint:
    """A running server.  ``answer`` may be replaced at any time; it may wait for ``may_answer``."""

    url: str
    answer: Callable[[Asked], Reply]
    asked: list[Asked] = field(default_factory=list)
    is_asked: threading.Event = field(default_factory=threading.Event)
    may_answer: threading.Event = field(default_factory=threading.Event)

    def slowly(self, _: Asked) -> Reply:
        """Answer only when the test allows it; it does at its end."""
        self.may_answer.wait(60)
        return Reply({})


@contextmanager
def serving(answer: Callable[[Asked], Reply]) -> Iterator[Endpoint]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            asked = Asked(self.path, dict(self.headers), json.loads(self.rfile.read(length)))
            endpoint.asked.append(asked)
            endpoint.is_asked.set()
            self._send(endpoint.answer(asked))

        def _send(self, reply: Reply) -> None:
            try:
                self.send_response(reply.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(reply.content)))
                self.end_headers()
                self.wfile.write(reply.content[: reply.cut])
            except OSError:  # the client has gone, which some tests ask for
                pass
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    endpoint = Endpoint(f"http://127.0.0.1:{server.server_port}/v1", answer)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.may_answer.set()
        server.shutdown()
        server.server_close()
        thread.join()


def embedding(encode: Callable[[list[str]], Any]) -> Callable[[Asked], Reply]:
    """Answer ``/embeddings`` by ``encode``."""

    def answer(asked: Asked) -> Reply:
        rows = encode(asked.body["input"])
        data = [{"index": n, "embedding": [float(x) for x in row]} for n, row in enumerate(rows)]
        return Reply({"object": "list", "data": list(reversed(data))})

    return answer
