"""Judge every line that a server writes, knowing what its client has sent.

The oracle reads both directions.  From the client it learns which requests are open, under which
revision and with which tokens; from the server it demands valid lines, the official shape of the
revision, at most one answer a request, and nothing for a request that is not open.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from tests import official

_PREFIX = "io.modelcontextprotocol/"
_ENVELOPE_KEYS = ("protocolVersion", "clientCapabilities", "clientInfo", "logLevel")
_ENVELOPE_METHODS = frozenset({"server/discover", "subscriptions/listen"})
_CODES = {
    "handshake": frozenset({-32700, -32600, -32601, -32602, -32603, -32002}),
    "envelope": frozenset({-32700, -32600, -32601, -32602, -32603, -32021, -32022}),
}


class Violation(AssertionError):
    """The server broke a rule."""


@dataclass(slots=True, eq=False)
class Open:
    """A request that the server may answer."""

    method: str
    revision: str
    token: object
    log_level: str | None
    progress: float = float("-inf")
    is_acknowledged: bool = False


def _key(id_: object) -> tuple[type, object]:
    return (type(id_), id_)


def _refuse_constant(text: str) -> None:
    raise Violation(f"{text} is not JSON")


def parse(line: bytes) -> object:
    """The JSON of one line, judged as strictly as the strictest client."""
    if not line.endswith(b"\n") or b"\r" in line:
        raise Violation(f"not one line with one line feed: {line[-80:]!r}")
    text = line.decode()  # Strict UTF-8.
    if "\u2028" in text or "\u2029" in text:
        raise Violation("a raw line separator")
    return json.loads(text, parse_constant=_refuse_constant)


@dataclass(eq=False)
class Oracle:
    """``sent`` takes client messages, ``judge`` takes server lines and returns their messages."""

    session: str | None = None
    session_is_open: bool = False
    open: dict[tuple[type, object], list[Open]] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    cancelled: set[tuple[type, object]] = field(default_factory=set)
    ended: set[tuple[type, object]] = field(default_factory=set)
    checks_schemas: bool = official.is_available

    # What the client sends

    def sent(self, message: object) -> None:
        """Note what a client message opens or closes."""
        if isinstance(message, list):
            for item in message:
                self.sent(item)
        elif isinstance(message, dict):
            self._note(message)

    def _note(self, message: dict) -> None:
        method, id_ = message.get("method"), message.get("id")
        params = message.get("params") if isinstance(message.get("params"), dict) else {}
        if method == "notifications/initialized" and "id" not in message:
            self.session_is_open = self.session is not None
        elif method == "notifications/cancelled" and "id" not in message:
            if self.open.pop(_key(params.get("requestId")), None):
                self.cancelled.add(_key(params.get("requestId")))
        elif isinstance(method, str) and type(id_) in (int, str):
            self._note_request(method, id_, params)
        elif method is None and isinstance(id_, str):
            self.asked.discard(id_)

    def _note_request(self, method: str, id_: object, params: dict) -> None:
        meta = params.get("_meta") if isinstance(params.get("_meta"), dict) else {}
        asked = params.get("protocolVersion")
        revision = self.session or official.HANDSHAKE[-1]
        if method == "initialize" and isinstance(asked, str):
            revision = asked if asked in official.HANDSHAKE else official.HANDSHAKE[-1]
            self.session, self.session_is_open = revision, False
        elif method in _ENVELOPE_METHODS or any(_PREFIX + key in meta for key in _ENVELOPE_KEYS):
            revision = official.ENVELOPE
        entry = Open(method, revision, meta.get("progressToken"), meta.get(f"{_PREFIX}logLevel"))
        self.open.setdefault(_key(id_), []).append(entry)
        self.cancelled.discard(_key(id_))

    # What the server writes

    def judge(self, line: bytes) -> list[dict]:
        """The messages of a line.  Raises ``Violation``."""
        value = parse(line)
        if isinstance(value, list):
            self._demand(self.session == "2025-03-26", "a batch outside 2025-03-26", value)
            self._demand(bool(value), "an empty batch", value)
            for item in value:
                self._demand("method" not in item, "a batch holds responses only", item)
        messages = value if isinstance(value, list) else [value]
        for message in messages:
            self._judge_message(message)
        return messages

    @staticmethod
    def _demand(holds: bool, rule: str, message: object) -> None:  # noqa: FBT001 -- an assertion
        if not holds:
            raise Violation(f"{rule}: {json.dumps(message)[:600]}")

    def _fault(self, found: str | None, message: dict) -> None:
        self._demand(found is None, found or "", message)

    def _judge_message(self, message: dict) -> None:
        self._demand(isinstance(message, dict), "not an object", message)
        self._demand(message.get("jsonrpc") == "2.0", "jsonrpc is not 2.0", message)
        if "method" not in message:
            self._judge_response(message)
        elif "id" in message:
            self._judge_request(message)
        else:
            self._judge_notification(message)

    def _judge_response(self, message: dict) -> None:
        known = {"jsonrpc", "id", "result", "error"}
        self._demand(message.keys() <= known, "unknown members in a response", message)
        self._demand(("result" in message) != ("error" in message), "result xor error", message)
        self._demand("id" in message, "a response without an id", message)
        if message["id"] is None:
            self._demand("error" in message, "a result without an id", message)
            revision = self.session or official.ENVELOPE
            if self.checks_schemas:
                self._fault(official.error_fault(revision, message), message)
            return
        entry = self._close(message)
        if "error" in message:
            self._judge_error(message, entry)
        elif self.checks_schemas:
            result = message["result"]
            self._fault(official.result_fault(entry.revision, entry.method, result), message)

    def _close(self, message: dict) -> Open:
        key = _key(message["id"])
        entries = self.open.get(key)
        self._demand(key not in self.cancelled, "an answer after its cancel", message)
        self._demand(bool(entries), "an answer to nothing, or a second answer", message)
        entry = entries.pop(0)
        if not entries:
            del self.open[key]
        if entry.method == "subscriptions/listen":
            self.ended.add(key)
        return entry

    def _judge_error(self, message: dict, entry: Open) -> None:
        era = "envelope" if entry.revision == official.ENVELOPE else "handshake"
        code = message["error"]["code"]
        self._demand(code in _CODES[era], f"code {code} in {entry.revision}", message)
        if self.checks_schemas:
            self._fault(official.error_fault(entry.revision, message), message)

    def _judge_request(self, message: dict) -> None:
        self._demand(self.session_is_open, "a request before initialized", message)
        self._demand(message["id"] not in self.asked, "an id used twice", message)
        self.asked.add(message["id"])
        if self.checks_schemas:
            self._fault(official.request_fault(self.session, message), message)

    def _judge_notification(self, message: dict) -> None:
        self._demand("result" not in message, "a notification with a result", message)
        params = message.get("params", {})
        match message["method"]:
            case "notifications/progress":
                revision = self._judge_progress(message, params)
            case "notifications/message":
                revision = self._judge_log(message)
            case "notifications/cancelled" if params["requestId"] in self.asked:
                self.asked.discard(params["requestId"])
                revision = self.session
            case _:
                revision = self._judge_change(message, params)
        if self.checks_schemas:
            self._fault(official.notification_fault(revision, message), message)

    def _judge_progress(self, message: dict, params: dict) -> str:
        token = _key(params["progressToken"])
        entries = [e for entries in self.open.values() for e in entries if _key(e.token) == token]
        self._demand(bool(entries), "progress for a token that is not open", message)
        entry = entries[0]
        self._demand(params["progress"] > entry.progress, "progress that does not rise", message)
        entry.progress = params["progress"]
        return entry.revision

    def _judge_log(self, message: dict) -> str:
        enveloped = any(e.log_level for entries in self.open.values() for e in entries)
        self._demand(enveloped or self.session is not None, "a log nobody asked for", message)
        return self.session or official.ENVELOPE

    def _judge_change(self, message: dict, params: dict) -> str:
        tag = params.get("_meta", {}).get(f"{_PREFIX}subscriptionId")
        if message["method"] == "notifications/cancelled":
            key = _key(params["requestId"])  # The end of a stream; its answer went before it.
            self._demand(key in self.ended, "a cancel of what was never asked", message)
            return official.ENVELOPE
        if tag is None:
            self._demand(self.session_is_open, "a change before initialized", message)
            return self.session
        listens = [e for e in self.open.get(_key(tag), ()) if e.method == "subscriptions/listen"]
        self._demand(bool(listens), "a change on a stream that is not open", message)
        is_ack = message["method"] == "notifications/subscriptions/acknowledged"
        self._demand(listens[0].is_acknowledged != is_ack, "ack first, and once", message)
        listens[0].is_acknowledged = True
        return official.ENVELOPE

    def owes(self) -> list[tuple[object, str]]:
        """The requests without an answer, open streams aside."""
        return [
            (key[1], entry.method)
            for key, entries in self.open.items()
            for entry in entries
            if entry.method != "subscriptions/listen"
        ]
