"""What the log hears of each message at its lowest level: what it was, never what it said."""

from __future__ import annotations

from typing import Final

from memrpc.protocol.envelope import as_object
from memrpc.server.ports import Log
from memrpc.wire.messages import (
    JSON,
    Batch,
    Inbound,
    JSONObject,
    Malformed,
    Notification,
    Outbound,
    Request,
    Response,
)

MAX_CHARS: Final = 80


def trace_received(log: Log, message: Inbound, size_bytes: int) -> None:
    """A line has come."""
    match message:
        case Request(id=id_, method=method, params=params):
            said = {"method": _short(method), "id": _short(id_), **_named(method, params)}
        case Notification(method=method):
            said = {"method": _short(method)}
        case Response(id=id_):
            said = {"answers": _short(id_)}
        case Batch(items=items):
            said = {"messages": len(items)}
        case Malformed(error=error):
            said = {"malformed": error.message if error else "not to be answered"}
    log("debug", "received", bytes=size_bytes, **said)


def trace_sent(log: Log, message: Outbound, size_bytes: int) -> None:
    """A line will leave."""
    match message:
        case Response(id=id_, error=error):
            code = {} if error is None else {"code": int(error.code)}
            said = {"id": _short(id_), **code}
        case _:
            said = {"method": message.method}
    log("debug", "sent", bytes=size_bytes, **said)


def _named(method: str, params: JSONObject) -> dict[str, JSON]:
    """Who opens a session and what it asks for, or which tool is called."""
    if method == "tools/call":
        return {"tool": _short(params.get("name"))}
    if method != "initialize":
        return {}
    client = as_object(params.get("clientInfo")).get("name")
    return {"version": _short(params.get("protocolVersion")), "client": _short(client)}


def _short(value: JSON) -> JSON:
    return value if value is None else str(value)[:MAX_CHARS]
