"""The HTTP side of the bridge: one thread a request, loopback only."""

from __future__ import annotations

import select
import socket
import sys
import threading
import traceback
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, SimpleQueue
from typing import Final, TypeVar, cast

from conformance.bridge.exchange import Exchange, Session
from conformance.bridge.findings import Findings
from conformance.bridge.header_rules import (
    HEADER_MISMATCH,
    is_local,
    is_stateless,
    mismatch,
    status_of,
)
from conformance.bridge.hub import Hub
from conformance.bridge.messages import Message, error_text, read_message

_SESSION_HEADER: Final = "Mcp-Session-Id"
_POLL_S: Final = 0.05
_Item = TypeVar("_Item")


class Bridge(ThreadingHTTPServer):
    """Streamable HTTP in front of stdio children.

    By default every handshake session has a child of its own and all calls without a session
    share one; with ``one_child`` a single child serves everybody.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, command: Sequence[str], *, one_child: bool = False, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.findings = Findings()
        self._command = command
        self._one_child = one_child
        self._lock = threading.Lock()
        self._shared: Hub | None = None
        self._sessions: dict[str, tuple[Session, Hub]] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/mcp"

    def shared_hub(self) -> Hub:
        with self._lock:
            if self._shared is None:
                self._shared = Hub(self._command, self.findings, maps_sessions=self._one_child)
            return self._shared

    def new_session(self) -> tuple[Session, Hub]:
        hub = self.shared_hub() if self._one_child else Hub(self._command, self.findings)
        session = Session()
        with self._lock:
            self._sessions[session.id] = session, hub
        return session, hub

    def session(self, id_: str) -> tuple[Session, Hub] | None:
        with self._lock:
            return self._sessions.get(id_)

    def end_session(self, id_: str) -> bool:
        """False if there is no such session."""
        with self._lock:
            _, hub = self._sessions.pop(id_, (None, None))
        if hub is not None and not self._one_child:
            hub.close()
        return hub is not None

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002 -- given
        """A client may hang up; any other error is the bridge's own and makes the run worthless."""
        if not isinstance(sys.exception(), ConnectionError):
            self.findings.fail(f"the bridge failed: {traceback.format_exc(limit=-3)}")

    def close(self) -> None:
        """End every session and the shared child."""
        self.shutdown()
        self.server_close()
        for id_ in list(self._sessions):
            self.end_session(id_)
        if self._shared is not None:
            self._shared.close()


class _DisconnectedError(Exception):
    """The client hung up while it was waiting."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    bridge: Bridge

    def setup(self) -> None:
        super().setup()
        self.bridge = cast(Bridge, self.server)
        self._is_streaming = False
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class's
        """Say nothing: the findings are the log."""

    # The three verbs

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if not is_local(self.headers):
            self._reply(403)
            return
        try:
            message = read_message(body)
        except (ValueError, TypeError, RecursionError):
            self._reply(400, error_text("null", -32700, "the bridge forwards JSON objects only"))
            return
        try:
            self._serve(message)
        except (_DisconnectedError, OSError):
            self.close_connection = True

    def do_GET(self) -> None:
        found = self.bridge.session(self.headers.get(_SESSION_HEADER, ""))
        if found is None:
            self._reply(404 if _SESSION_HEADER in self.headers else 405)
            return
        session, _ = found
        self._start_stream()
        try:
            while self.bridge.session(session.id) is not None:
                self._send_event(self._next(session.inbox))
        except (_DisconnectedError, OSError):
            self.close_connection = True

    def do_DELETE(self) -> None:
        ended = self.bridge.end_session(self.headers.get(_SESSION_HEADER, ""))
        self._reply(200 if ended else 404)

    # POST

    def _serve(self, message: Message) -> None:
        if is_stateless(message, self.headers):
            self._serve_stateless(message)
        elif message.method == "initialize":
            session, hub = self.bridge.new_session()
            self._relay(hub, hub.open(message, session))
        else:
            self._serve_in_session(message)

    def _serve_stateless(self, message: Message) -> None:
        header = mismatch(message, self.headers)
        if header is not None:
            text = error_text(
                message.text_at(("id",)), HEADER_MISMATCH, f"Header mismatch: {header}"
            )
            self._reply(400, text)
            return
        self._pass_on(message, self.bridge.shared_hub(), None)

    def _serve_in_session(self, message: Message) -> None:
        id_ = self.headers.get(_SESSION_HEADER)
        found = self.bridge.session(id_ or "")
        if found is None:
            text = error_text(message.text_at(("id",)), -32600, "No such session")
            self._reply(400 if id_ is None else 404, text)
            return
        session, hub = found
        self._pass_on(message, hub, session)

    def _pass_on(self, message: Message, hub: Hub, session: Session | None) -> None:
        if message.method is None or not message.has_id:
            hub.forward(message, session)
            self._reply(202)
        else:
            self._relay(hub, hub.open(message, session))

    def _relay(self, hub: Hub, exchange: Exchange) -> None:
        """Answer with JSON if the answer is the first thing to come, else with a stream."""
        try:
            self._relay_until_answered(exchange)
        except (_DisconnectedError, OSError):
            hub.abandon(exchange)
            raise

    def _relay_until_answered(self, exchange: Exchange) -> None:
        while True:
            message = self._next(exchange.inbox)
            if message is None:
                gone = error_text(exchange.id_text, -32603, "the server has ended")
                message = Message(gone, {"error": {"code": -32603}})
            if message.method is None:
                self._finish(message, exchange)
                return
            if not self._is_streaming:
                self._start_stream(exchange.session)
            self._send_event(message.text)

    def _finish(self, answer: Message, exchange: Exchange) -> None:
        if not self._is_streaming:
            self._reply(status_of(answer, exchange), answer.text, exchange.session)
            return
        self._send_event(answer.text)
        self.wfile.write(b"0\r\n\r\n")
        self._is_streaming = False

    def _next(self, inbox: SimpleQueue[_Item]) -> _Item:
        """The next item; raises ``_DisconnectedError`` when the client hangs up first."""
        while True:
            try:
                return inbox.get(timeout=_POLL_S)
            except Empty:
                if _has_hung_up(self.connection):
                    raise _DisconnectedError from None

    # HTTP

    def _reply(self, status: int, text: str = "", session: Session | None = None) -> None:
        body = text.strip().encode()
        self.send_response(status)
        self._send_session(session)
        if body:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _start_stream(self, session: Session | None = None) -> None:
        self.send_response(200)
        self._send_session(session)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.flush()
        self._is_streaming = True

    def _send_session(self, session: Session | None) -> None:
        if session is not None:
            self.send_header(_SESSION_HEADER, session.id)

    def _send_event(self, text: str) -> None:
        event = f"event: message\ndata: {text.strip()}\n\n".encode()
        self.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
        self.wfile.flush()


def _has_hung_up(connection: socket.socket) -> bool:
    readable, _, _ = select.select([connection], [], [], 0)
    return bool(readable) and connection.recv(1, socket.MSG_PEEK) == b""
