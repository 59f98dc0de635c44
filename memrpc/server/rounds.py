"""One run of a handler, from its earlier answers to the response: result, question or error.

In 2026-07-28 a handler that needs the client's input ends with a question; the client sends the
request again with its answers, and the handler runs again from the top.  Nothing is kept in
between: the earlier answers come back inside the signed ``requestState``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memrpc.protocol import projection
from memrpc.protocol.asks import (
    STATE_LIFETIME_S,
    StateError,
    ask_params,
    call_of,
    open_state,
    seal_state,
)
from memrpc.protocol.calls import Call
from memrpc.server.context import Context, Deferred, InputRequired
from memrpc.server.faults import (
    MissingCapabilityError,
    ProtocolFault,
    Refusal,
    as_error,
    as_refusal,
    internal,
    invalid_params,
    missing_capability,
    tool_error,
)
from memrpc.server.methods import MULTI_ROUND
from memrpc.server.ports import Ports
from memrpc.wire.messages import Error, JSONObject, Response

if TYPE_CHECKING:
    from memrpc.server.connection import Connection
    from memrpc.server.methods import Handled

_ALREADY: Final = float("-inf")  # the deadline of whoever is being cancelled


async def serve_round(run: Handled, call: Call, peer: Connection) -> Response:
    """The response to ``call``.  Cancellation passes through: it has no response.

    A handler that raises a cancellation or an exit of its own ends itself, not the server.
    """
    try:
        may_go_on = call.revision.result_envelope and call.method in MULTI_ROUND
        ctx = Context(call, peer, await _earlier_answers(call, peer) if may_go_on else {})
        try:
            result = await run(peer.service, ctx)
        except InputRequired as question:
            result = await _input_required(ctx, question)
        except Deferred:
            result = await peer.tasks.begin(ctx)
        ctx.flush_progress()
        return respond(call, result, peer)
    except _cancelled() as error:
        if is_stopped():
            raise
        return error_response(error, call, peer)
    except (Exception, SystemExit) as error:  # noqa: BLE001 -- the request's boundary
        return error_response(error, call, peer)


def _cancelled() -> type[BaseException]:
    from anyio import get_cancelled_exc_class

    return get_cancelled_exc_class()


def is_stopped() -> bool:
    """True once the running task is cancelled from outside, be it by the client or at the end."""
    from anyio import current_effective_deadline

    return current_effective_deadline() == _ALREADY


def respond(call: Call, result: JSONObject, peer: Connection) -> Response:
    """The answer to ``call``, in the shape that its revision knows."""
    identity = peer.service.identity
    return Response(call.id, projection.project(result, call.method, call.revision, identity))


async def _earlier_answers(call: Call, peer: Connection) -> JSONObject:
    """What the client has answered so far, in this request and in the rounds before it."""
    state = call.params.get("requestState")
    given: JSONObject = call.params.get("inputResponses", {})
    if state is None:
        return given
    key = await peer.service.secrets.signing_key()
    try:
        known = open_state(key, call_of(call.method, call.params), state, now_s=peer.ports.now_s())
    except StateError as error:
        raise invalid_params(str(error)) from error
    return {**known, **given}


async def _input_required(ctx: Context, question: InputRequired) -> JSONObject:
    """Source: 2026-07-28, Multi Round-Trip Requests, InputRequiredResult."""
    call, peer = ctx.call, ctx.peer
    key = await peer.service.secrets.signing_key()
    expires_s = peer.ports.now_s() + STATE_LIFETIME_S
    known = {k: answer for k, answer in ctx.answers.items() if isinstance(answer, dict)}
    return {
        "resultType": "input_required",
        "inputRequests": input_requests(call, question),
        "requestState": seal_state(
            key, call_of(call.method, call.params), known, expires_s=expires_s
        ),
    }


def input_requests(call: Call, question: InputRequired) -> JSONObject:
    """What the client must answer, by key."""
    return {
        key: {"method": ask.method, "params": ask_params(ask, call.revision)}
        for key, ask in question.asks.items()
    }


def error_response(error: BaseException, call: Call, peer: Connection) -> Response:
    """How an exception leaves: see the three planes in ``faults``."""
    if isinstance(error, ProtocolFault):
        return Response(call.id, error=error.error)
    if isinstance(error, MissingCapabilityError):
        fault = missing_capability(error, call.revision)
        if fault is not None:
            return Response(call.id, error=fault)
    known = as_refusal(error, peer.service.explain) if isinstance(error, Exception) else None
    refusal = known or _incident(error, call.method, peer.ports)
    if call.method == "tools/call":
        return respond(call, tool_error(refusal), peer)
    return Response(call.id, error=as_error(refusal))


def unwritable(error: Exception, ports: Ports) -> Error:
    """What stands in for an answer that JSON cannot say."""
    return as_error(_incident(error, "", ports))


def _incident(error: BaseException, method: str, ports: Ports) -> Refusal:
    """Log a defect of ours; the refusal names the id under which it stands in the log."""
    incident = ports.new_id()
    import traceback

    trace = "".join(traceback.format_exception(error))
    ports.log("error", "internal_error", incident=incident, method=method, trace=trace)
    return internal(incident)
