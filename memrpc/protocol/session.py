"""The session: messages in, decisions out.  It never awaits, never writes, never looks at a clock.

Theory of operation.  Each message is judged alone.  A request whose ``_meta`` carries an envelope
is served under 2026-07-28; ``initialize`` opens (or reopens) the one handshake session of the
process; every other request belongs to that session.  Both eras may be in use at once, in any
order: nothing is locked by the first message.

``in_flight`` is the only ledger of requests, for both eras.  A request enters it in ``receive``
and leaves it once, either in ``settle`` (its answer may be written) or in a cancel (it may not).
So every request is answered at most once, and never after its cancel.  The id is free again
before the answer is written, because the peer may use it as soon as it reads the answer.

Source: revisions 2024-11-05 to 2026-07-28, Lifecycle, Versioning, Cancellation.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from memrpc.protocol.calls import (
    Call,
    Cancel,
    Client,
    Decision,
    Dispatch,
    Handshake,
    Ignore,
    Key,
    Notice,
    Reply,
    Resolve,
    enveloped_call,
    request_key,
)
from memrpc.protocol.capabilities import BEHIND, declares
from memrpc.protocol.envelope import (
    VERSION_KEY,
    as_object,
    envelope_fault,
    has_envelope,
    progress_token,
)
from memrpc.protocol.outbound import Outbound
from memrpc.protocol.revisions import (
    EXTENSION_REQUESTS,
    OPENS_ENVELOPE,
    REVISIONS,
    Era,
    Revision,
    negotiate,
    versions,
)
from memrpc.wire.codec import is_request_id
from memrpc.wire.errors import ErrorCode
from memrpc.wire.messages import (
    JSON,
    Error,
    JSONObject,
    Malformed,
    Notification,
    Request,
    RequestId,
    Response,
)

# A revision identifier is a date; drafts have carried the prefix. Anything else is no version.
_REVISION_IDENTIFIER: Final = re.compile(r"\d{4}-\d{2}-\d{2}|DRAFT-")
_KNOWN_REQUESTS: Final = frozenset().union(
    *(r.requests for r in REVISIONS.values()), *EXTENSION_REQUESTS.values()
)


class Phase(enum.Enum):
    """How far the handshake has come."""

    OPENING = "opening"
    INITIALIZING = "initializing"
    OPERATING = "operating"


PHASES: Final[Mapping[tuple[Phase, str], Phase]] = MappingProxyType(
    {
        (Phase.OPENING, "initialize"): Phase.INITIALIZING,
        (Phase.INITIALIZING, "notifications/initialized"): Phase.OPERATING,
        (Phase.INITIALIZING, "initialize"): Phase.INITIALIZING,
        (Phase.OPERATING, "initialize"): Phase.INITIALIZING,
    }
)
"""The handshake's states; a pair that is absent changes nothing.

A second ``initialize`` starts over: hosts do send it, and refusing it breaks them.
"""


_IGNORE: Final = Ignore()


@dataclass(slots=True, eq=False)
class Session:
    """One peer on one pair of pipes; ``capabilities`` is what this server declares."""

    capabilities: JSONObject
    phase: Phase = Phase.OPENING
    handshake: Handshake | None = None
    in_flight: dict[Key, Call] = field(default_factory=dict)
    outbound: Outbound = field(default_factory=Outbound)
    _undeclared: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self._undeclared = frozenset(
            method for method, path in BEHIND.items() if not declares(self.capabilities, path)
        )

    @property
    def accepts_batches(self) -> bool:
        return self.handshake is not None and self.handshake.revision.accepts_batches

    def receive(self, message: Request | Notification | Response | Malformed) -> Decision:
        """What to do about one message."""
        match message:
            case Request():
                return self._receive_request(message)
            case Notification():
                return self._receive_notification(message)
            case Response():
                return self._receive_response(message)
            case Malformed(error=None):
                return _IGNORE
            case Malformed(id=id_, error=error):
                return Reply(Response(None if self._is_in_use(id_) else id_, error=error))

    def receive_in_batch(self, message: Request | Notification | Response | Malformed) -> Decision:
        """The same for an element of a batch, where two kinds of request may not stand."""
        if isinstance(message, Request) and (
            message.method == "initialize" or has_envelope(message.params)
        ):
            return _refuse(message.id, ErrorCode.INVALID_REQUEST, _NOT_IN_BATCH)
        return self.receive(message)

    def settle(self, call: Call) -> bool:
        """Claim the right to answer ``call``.  False: it was cancelled; write nothing."""
        if self.in_flight.get(call.key) is not call:
            return False
        del self.in_flight[call.key]
        return True

    def is_open(self, call: Call) -> bool:
        """True while something may still be written for ``call``."""
        return self.in_flight.get(call.key) is call

    def _is_in_use(self, id_: RequestId | None) -> bool:
        """True while an answer under ``id_`` belongs to the call that has it."""
        return id_ is not None and request_key(id_) in self.in_flight

    # Requests

    def _receive_request(self, request: Request) -> Decision:
        if self._is_in_use(request.id):
            return _refuse(None, ErrorCode.INVALID_REQUEST, "Invalid Request: id is in use")
        judged = self._judge(request)
        if isinstance(judged, Call):
            self.in_flight[judged.key] = judged
            return Dispatch(judged)
        return Reply(Response(request.id, error=judged))

    def _judge(self, request: Request) -> Call | Error:
        """Which era a request belongs to, and whether it may be served there."""
        asked = request.params.get("protocolVersion")
        if request.method == "initialize" and isinstance(asked, str):
            return self._open(request, asked)
        if has_envelope(request.params) or request.method in OPENS_ENVELOPE:
            return self._judge_enveloped(request)
        if request.method == "initialize":
            return _unsupported(asked)
        return self._judge_in_session(request)

    def _judge_in_session(self, request: Request) -> Call | Error:
        if request.method == "ping":
            return _handshake_call(request, self.handshake or _NO_HANDSHAKE)
        if self.handshake is None:
            return _without_session(request.method)
        if not self._serves(request.method, self.handshake.revision):
            return _method_not_found(request.method)
        return _handshake_call(request, self.handshake)

    def _open(self, request: Request, asked: str) -> Call | Error:
        if not _REVISION_IDENTIFIER.match(asked):
            return _unsupported(asked)
        client = Client(
            as_object(request.params.get("capabilities")),
            as_object(request.params.get("clientInfo")),
        )
        self.handshake = Handshake(negotiate(asked), client)
        self.phase = PHASES[self.phase, "initialize"]
        return _handshake_call(request, self.handshake)

    def _judge_enveloped(self, request: Request) -> Call | Error:
        """Source: 2026-07-28, Base Protocol, ``_meta``, and Versioning."""
        meta = as_object(request.params.get("_meta"))
        fault = envelope_fault(meta)
        if fault is not None:
            return fault
        revision = REVISIONS.get(meta[VERSION_KEY])
        if revision is None or revision.era is not Era.ENVELOPE:
            return Error(
                ErrorCode.UNSUPPORTED_VERSION,
                "Unsupported protocol version",
                {"supported": versions(Era.ENVELOPE), "requested": meta[VERSION_KEY]},
            )
        if not self._serves(request.method, revision):
            return _method_not_found(request.method)
        return enveloped_call(request.id, request.method, request.params)

    def _serves(self, method: str, revision: Revision) -> bool:
        known = method in revision.requests or (
            revision.era is Era.ENVELOPE
            and any(method in methods for methods in EXTENSION_REQUESTS.values())
        )
        return known and method not in self._undeclared

    # Notifications and responses

    def _receive_notification(self, note: Notification) -> Decision:
        if note.method == "notifications/cancelled":
            return self._cancel(note.params)
        if self.handshake is None:
            return _IGNORE
        self.phase = PHASES.get((self.phase, note.method), self.phase)
        if note.method == "notifications/roots/list_changed":
            self.handshake.roots = None
        return Notice(note.method)

    def _cancel(self, params: JSONObject) -> Decision:
        id_: JSON = params.get("requestId")
        call = self.in_flight.pop(request_key(id_), None) if is_request_id(id_) else None
        return _IGNORE if call is None else Cancel(call)

    def _receive_response(self, response: Response) -> Decision:
        if isinstance(response.id, str) and self.outbound.close(response.id):
            return Resolve(response.id, response)
        return _IGNORE


_NO_HANDSHAKE: Final = Handshake(negotiate(""), Client({}, {}))
_NOT_IN_BATCH: Final = "Invalid Request: send initialize and enveloped requests on their own"


def _handshake_call(request: Request, handshake: Handshake) -> Call:
    return Call(
        request.id,
        request.method,
        request.params,
        handshake.revision,
        handshake.client,
        progress_token(request.params),
        handshake,
    )


def _refuse(id_: RequestId | None, code: ErrorCode, message: str) -> Reply:
    return Reply(Response(id_, error=Error(code, message)))


def _method_not_found(method: str) -> Error:
    return Error(ErrorCode.METHOD_NOT_FOUND, f"Method not found: {method}")


def _unsupported(asked: JSON) -> Error:
    return Error(
        ErrorCode.INVALID_PARAMS,
        "Unsupported protocol version",
        {"supported": versions(Era.HANDSHAKE), "requested": asked},
    )


def _without_session(method: str) -> Error:
    if method not in _KNOWN_REQUESTS:
        return _method_not_found(method)
    newest = versions(Era.ENVELOPE)
    return Error(
        ErrorCode.INVALID_PARAMS,
        f"No session: send initialize, or _meta {VERSION_KEY} in each request",
        {"supported": newest + versions(Era.HANDSHAKE)},
    )
