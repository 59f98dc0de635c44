"""One child and everybody who talks to it: ids out, answers and notifications back.

Theory of operation.  HTTP calls know nothing of each other and reuse ids, while one child sees
them all on one pipe.  So the ids and progress tokens of calls without a session are replaced by
unique ones on the way in and restored on the way out; nothing else of a message is touched.  With
``maps_sessions`` the same is done for handshake sessions, several of which then share the child.

What the child writes belongs to the exchange that its id, token or subscription id names.  What
names none belongs to the handshake session: to its newest open request, else to its own stream.
Whatever belongs to nobody is a failure of the child.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Final

from conformance.bridge.child import Child
from conformance.bridge.exchange import Exchange, Session
from conformance.bridge.findings import Findings
from conformance.bridge.messages import SUBSCRIPTION_KEY, Key, Message, key_of, read_message
from conformance.bridge.splice import Path, replace

_TOKEN: Final = ("params", "_meta", "progressToken")
_REPORTED_TOKEN: Final = ("params", "progressToken")
_SUBSCRIPTION: Final = ("params", "_meta", SUBSCRIPTION_KEY)
_RESULT_SUBSCRIPTION: Final = ("result", "_meta", SUBSCRIPTION_KEY)
_CANCELLED: Final = "notifications/cancelled"
_REQUEST_ID: Final = ("params", "requestId")


class Hub:
    """Thread-safe: HTTP threads call in, the child's reader thread calls ``_receive``."""

    def __init__(
        self, command: Sequence[str], findings: Findings, *, maps_sessions: bool = False
    ) -> None:
        self._findings = findings
        self._maps_sessions = maps_sessions
        self._lock = threading.RLock()
        self._opened = 0
        self._exchanges: dict[Key, Exchange] = {}
        self._cancelled: set[Key] = set()
        self._session: Session | None = None
        self._is_gone = False
        self._child = Child(command, findings, self._receive)

    # From the client

    def open(self, request: Message, session: Session | None) -> Exchange:
        """Forward a request; its exchange gets what belongs to it."""
        with self._lock:
            exchange, line = self._prepare(request, session)
            self._exchanges[exchange.wire_id] = exchange
            self._session = session or self._session
            if self._is_gone:
                exchange.inbox.put(None)
        self._child.send(line)
        return exchange

    def _prepare(self, request: Message, session: Session | None) -> tuple[Exchange, str]:
        """The exchange, and the line that the child is to see."""
        has_token = "progressToken" in request.meta
        if not self._maps(session):
            token = key_of(request.meta["progressToken"]) if has_token else None
            return Exchange(request, session, key_of(request.value["id"]), token), request.text
        self._opened += 1
        id_, token_ = f"bridge-{self._opened}", f"token-{self._opened}"
        line = replace(request.text, {("id",): f'"{id_}"', _TOKEN: f'"{token_}"'})
        return Exchange(request, session, key_of(id_), key_of(token_) if has_token else None), line

    def _maps(self, session: Session | None) -> bool:
        return session is None or self._maps_sessions

    def forward(self, message: Message, session: Session | None) -> None:
        """Forward a notification or a response."""
        line = message.text
        if message.method == _CANCELLED and self._maps(session):
            with self._lock:
                found = self._newest(
                    e
                    for e in self._exchanges.values()
                    if e.session is session and e.client_id == key_of(message.params["requestId"])
                )
            line = replace(line, {_REQUEST_ID: f'"{found.wire_id[1]}"'}) if found else line
        self._child.send(line)

    def abandon(self, exchange: Exchange) -> None:
        """The client hung up: for a call without a session that is a cancellation."""
        with self._lock:
            if exchange.session is not None or self._exchanges.pop(exchange.wire_id, None) is None:
                return
            self._cancelled.add(exchange.wire_id)
        params = f'{{"requestId":"{exchange.wire_id[1]}","reason":"the client disconnected"}}'
        self._child.send(f'{{"jsonrpc":"2.0","method":"{_CANCELLED}","params":{params}}}')

    def close(self) -> None:
        self._child.close()

    # From the child

    def _receive(self, line: bytes | None) -> None:
        if line is None:
            self._end()
            return
        try:
            message = read_message(line)
        except (ValueError, TypeError, RecursionError) as error:
            self._findings.fail(f"the child wrote a line that is no message ({error}): {line!r}")
            return
        with self._lock:
            self._route(message)

    def _end(self) -> None:
        with self._lock:
            self._is_gone = True
            for exchange in self._exchanges.values():
                exchange.inbox.put(None)

    def _route(self, message: Message) -> None:
        if message.method is None:
            self._answer(message)
        elif message.has_id:
            self._ask(message)
        elif message.method == "notifications/progress":
            self._report(message)
        elif SUBSCRIPTION_KEY in message.meta:
            self._tell_listener(message)
        elif message.method == _CANCELLED:
            self._cancel(message)
        elif message.method == "notifications/message":
            self._log(message)
        else:
            self._tell_session(message)

    def _answer(self, message: Message) -> None:
        id_ = key_of(message.value.get("id"))
        exchange = self._exchanges.pop(id_, None)
        if exchange is None:
            if id_ in self._cancelled:
                self._findings.count_late_answer()
            else:
                self._findings.fail(f"an answer to no request: {message.text.strip()}")
            return
        edits = {("id",): exchange.id_text, _RESULT_SUBSCRIPTION: exchange.id_text}
        self._deliver(exchange, message, edits)

    def _deliver(self, exchange: Exchange, message: Message, edits: dict[Path, str]) -> None:
        text = replace(message.text, edits) if self._maps(exchange.session) else message.text
        exchange.inbox.put(Message(text, message.value))

    def _ask(self, message: Message) -> None:
        """A request of the child's: only a handshake session may get one."""
        if self._session is not None:
            self._tell_session(message)
            return
        self._findings.fail(f"a request without a handshake: {message.text.strip()}")
        for exchange in self._exchanges.values():
            exchange.inbox.put(message)

    def _report(self, message: Message) -> None:
        token = key_of(message.params.get("progressToken"))
        owner = self._newest(e for e in self._exchanges.values() if e.wire_token == token)
        if owner is None:
            self._findings.fail(f"progress for nobody: {message.text.strip()}")
            return
        self._deliver(owner, message, {_REPORTED_TOKEN: owner.token_text})

    def _tell_listener(self, message: Message) -> None:
        listener = self._exchanges.get(key_of(message.meta[SUBSCRIPTION_KEY]))
        if listener is not None:
            self._deliver(listener, message, {_SUBSCRIPTION: listener.id_text})
        elif key_of(message.meta[SUBSCRIPTION_KEY]) not in self._cancelled:
            self._findings.fail(f"news for no subscription: {message.text.strip()}")

    def _cancel(self, message: Message) -> None:
        """Either a question is withdrawn, or a stream is over whose answer has just been sent."""
        if self._session is not None:
            self._tell_session(message)

    def _log(self, message: Message) -> None:
        """Nothing in a log message says whose it is."""
        stateless = [e for e in self._exchanges.values() if e.session is None and not e.is_listen]
        asked = self._newest(e for e in stateless if e.wants_log)
        if asked is not None:
            asked.inbox.put(message)
        elif self._session is not None:
            self._tell_session(message)
        else:
            for exchange in stateless:
                exchange.inbox.put(message)

    def _tell_session(self, message: Message) -> None:
        if self._session is None:
            self._findings.fail(f"a message for nobody: {message.text.strip()}")
            return
        newest = self._newest(e for e in self._exchanges.values() if e.session is self._session)
        if newest is None or _is_change(message):
            self._session.inbox.put(message.text)
        else:
            newest.inbox.put(message)

    @staticmethod
    def _newest(exchanges: Iterable[Exchange]) -> Exchange | None:
        return next(reversed(list(exchanges)), None)


def _is_change(message: Message) -> bool:
    method = message.method or ""
    return method.endswith(("/list_changed", "/updated"))
