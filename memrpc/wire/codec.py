"""JSON text to messages and back: the one home of orjson on the protocol side.

orjson is strict where the field's accidents happen (NaN, lone surrogates, bad UTF-8, raw control
characters are all refused) and has four edges that this module rounds off:

* an integer beyond 64 bits is read as a float; where it is an id or a progress token the line is
  read again by the standard library, so that its digits survive;
* it reads 1,024 levels but writes 254; a deeper answer is written by the standard library;
* it writes NaN as null, silently: ``normalised`` shows what the peer will see;
* U+2028 and U+2029 are written raw, and line readers of some hosts split there: they are escaped.
"""

from __future__ import annotations

import re
from typing import Any, Final

import orjson

from memrpc.wire.errors import ErrorCode
from memrpc.wire.framing import MAX_LINE_BYTES, Overlong
from memrpc.wire.messages import (
    JSON,
    Batch,
    Error,
    Inbound,
    JSONObject,
    Malformed,
    Notification,
    Outbound,
    Request,
    RequestId,
    Response,
)

_INT64_MIN: Final = -(2**63)
_UINT64_MAX: Final = 2**64 - 1
_LINE_BREAKS: Final = re.compile(rb"\xe2\x80[\xa8\xa9]")
_ESCAPED: Final = {b"\xe2\x80\xa8": rb"\u2028", b"\xe2\x80\xa9": rb"\u2029"}
_EMPTY: Final[JSONObject] = {}
_ID: Final = rb'"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*'
_VERSION: Final = rb'"jsonrpc"\s*:\s*"2\.0"\s*,\s*'
_ID_FIRST: Final = rb'\s*\{\s*(?:%b)?%b,\s*"method"' % (_VERSION, _ID)
_METHOD_FIRST: Final = rb'\s*\{\s*(?:%b)?"method"' % _VERSION
_ID_LAST: Final = rb",\s*%b\}\s*$" % _ID
"""Compiled by the first line that is too long: most processes see none, and all must start."""
MAX_BATCH: Final = 10_000
"""An element of two bytes costs a kilobyte until it is answered."""
MAX_MESSAGE_CHARS: Final = 1_000
"""Hosts show an error's message to a model, and a name in it may be as long as a line."""


def decode(line: bytes) -> Inbound:
    """The message that ``line`` is, or how to answer it when it is none."""
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return _unreadable(line, error)
    if isinstance(value, list) and len(value) > MAX_BATCH:
        return _invalid(None, f"Invalid Request: a batch is limited to {MAX_BATCH} messages")
    if isinstance(value, dict):
        return _message(_exact(value, line) if _is_inexact(value) else value)
    if isinstance(value, list):
        exact = _exact(value, line) if any(map(_is_inexact, value)) else value
        return Batch([_element(item) for item in exact])
    return _invalid(None, "Invalid Request: a message is a JSON object")


def _element(value: JSON) -> Request | Notification | Response | Malformed:
    if isinstance(value, dict):
        return _message(value)
    return _invalid(None, "Invalid Request: a message is a JSON object")


def _message(value: dict[str, Any]) -> Request | Notification | Response | Malformed:
    if "method" not in value:
        return _response(value)
    if "id" not in value:
        return _notification(value)
    id_ = value["id"]
    if not is_request_id(id_):
        return _invalid(None, "Invalid Request: id must be a string or an integer")
    fault = _envelope_fault(value)
    if fault is not None:
        return Malformed(id_, fault)
    return Request(id_, value["method"], _EMPTY if value.get("params") is None else value["params"])


def _envelope_fault(value: dict[str, Any]) -> Error | None:
    """What is wrong with a request whose id is good."""
    if value.get("jsonrpc") != "2.0":
        return _invalid_request('jsonrpc must be "2.0"')
    if not isinstance(value["method"], str):
        return _invalid_request("method must be a string")
    if "result" in value or "error" in value:
        return _invalid_request("a message is a request or a response, not both")
    params = value.get("params")
    if params is None or isinstance(params, dict):
        return None
    if isinstance(params, list):
        return Error(ErrorCode.INVALID_PARAMS, "Invalid params: send an object, not an array")
    return _invalid_request("params must be an object")


def _notification(value: dict[str, Any]) -> Notification | Malformed:
    params = _EMPTY if value.get("params") is None else value["params"]
    wrong = value.get("jsonrpc") != "2.0" or not isinstance(params, dict)
    if wrong or not isinstance(value["method"], str):
        return Malformed(None, None)
    return Notification(value["method"], params)


def _response(value: dict[str, Any]) -> Response | Malformed:
    id_ = value.get("id")
    if "result" not in value and "error" not in value:
        known = id_ if is_request_id(id_) else None
        return _invalid(known, "Invalid Request: method is missing")
    if not is_request_id(id_) or ("result" in value and "error" in value):
        return Malformed(None, None)
    if "result" in value:
        result = value["result"]
        return Response(id_, result=result if isinstance(result, dict) else {"": result})
    return Response(id_, error=_peer_error(value["error"]))


def _peer_error(value: JSON) -> Error:
    if not isinstance(value, dict):
        return Error(ErrorCode.INTERNAL_ERROR, "the peer's error was not an object")
    code, message = value.get("code"), value.get("message")
    return Error(
        code if type(code) is int else ErrorCode.INTERNAL_ERROR,
        message if isinstance(message, str) else "",
        value.get("data"),
    )


def is_request_id(value: JSON) -> bool:
    """True for a string or an integer; a boolean is neither."""
    return type(value) is str or type(value) is int


def _invalid(id_: RequestId | None, message: str) -> Malformed:
    return Malformed(id_, Error(ErrorCode.INVALID_REQUEST, message))


def _invalid_request(reason: str) -> Error:
    return Error(ErrorCode.INVALID_REQUEST, f"Invalid Request: {reason}")


def _exact(value: JSON, line: bytes) -> JSON:
    """``value`` with the integers that orjson had to read as floats, as they stand in the line."""
    exact = _read_leniently(line)
    return exact if exact is not None else value


def _is_inexact(message: JSON) -> bool:
    """True if a float stands where only an integer or a string may."""
    if not isinstance(message, dict):
        return False
    params = message.get("params")
    params = params if isinstance(params, dict) else _EMPTY
    meta = params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    return float in (type(message.get("id")), type(params.get("requestId")), type(token))


def _read_leniently(line: bytes) -> JSON:
    """What the standard library makes of a line that orjson refuses or reads inexactly.

    It forgives NaN, big integers and raw control characters; bad UTF-8 becomes lone surrogates.
    """
    import json

    try:
        return json.loads(line.decode("utf-8", "surrogateescape"), strict=False)
    except (ValueError, RecursionError):
        return None


def _unreadable(line: bytes, why: orjson.JSONDecodeError) -> Malformed:
    """Answer text that is not JSON under its own id where that can still be read."""
    reason = f"the line is not valid JSON in UTF-8: {why.msg}, at character {why.pos}"
    error = Error(ErrorCode.PARSE_ERROR, f"Parse error: {reason}")
    value = _read_leniently(line)
    if not isinstance(value, dict):
        return Malformed(None, error)
    if "method" not in value:
        looks_like_response = "result" in value or "error" in value
        return Malformed(None, None if looks_like_response else error)
    if "id" not in value:
        return Malformed(None, None)
    return Malformed(value["id"] if _is_legible(value["id"]) else None, error)


def _is_legible(id_: JSON) -> bool:
    """True for an id that came through unharmed: one with a lone surrogate names no request."""
    if not is_request_id(id_):
        return False
    return not re.search("[\ud800-\udfff]", str(id_))


def decode_overlong(line: Overlong) -> Malformed:
    """How to answer a line that was too long to be kept: under its id, where an end shows it.

    Writers of JSON put a request's id right before its method or at the very end of the line,
    where no member of anything within can stand.
    """
    found = re.match(_ID_FIRST, line.head)
    if found is None and re.match(_METHOD_FIRST, line.head):
        found = re.search(_ID_LAST, line.tail)
    id_ = read_value(found[1].decode("utf-8", "replace")) if found else None
    told = f"Invalid Request: a line is limited to {MAX_LINE_BYTES} bytes"
    return _invalid(id_ if is_request_id(id_) else None, told)


def encode(message: Outbound) -> bytes:
    """One line of JSON with its line feed.

    Raises ``TypeError``, ``ValueError`` or ``RecursionError`` for what JSON cannot say.
    """
    return _dump(_envelope(message))


def join_batch(lines: list[bytes]) -> bytes:
    """One line that holds an array of the messages of several."""
    return b"[" + b",".join(line[:-1] for line in lines) + b"]\n"


def _envelope(message: Outbound) -> dict[str, Any]:
    if isinstance(message, Response):
        body: dict[str, Any] = {"jsonrpc": "2.0", "id": _number(message.id)}
        if message.error is None:
            body["result"] = message.result
        else:
            body["error"] = _error_object(message.error)
        return body
    body = {"jsonrpc": "2.0", "method": message.method}
    if isinstance(message, Request):
        body["id"] = message.id
    if message.params:
        body["params"] = message.params
    return body


def _error_object(error: Error) -> dict[str, Any]:
    message = error.message
    if len(message) > MAX_MESSAGE_CHARS:
        message = f"{message[:MAX_MESSAGE_CHARS]}…"
    body: dict[str, Any] = {"code": int(error.code), "message": message}
    if error.data is not None:
        body["data"] = error.data
    return body


def _number(value: JSON) -> JSON:
    """An integer beyond 64 bits keeps its digits."""
    if type(value) is int and not _INT64_MIN <= value <= _UINT64_MAX:
        return orjson.Fragment(str(value).encode())
    return value


def exact_number(value: RequestId) -> JSON:
    """``value`` as something that ``encode`` writes digit by digit, whatever its size."""
    return _number(value)


def _dump(value: JSON) -> bytes:
    try:
        line = orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        line = _dump_anything(value)
    # Single bytes are found far faster than the pattern, and most texts lack one of them.
    if b"\xe2" in line and (b"\xa8" in line or b"\xa9" in line):
        line = _LINE_BREAKS.sub(lambda found: _ESCAPED[found.group()], line)
    return line


def _dump_anything(value: JSON) -> bytes:
    """The standard library's writer, for what orjson refuses: depth, size, lone surrogates."""
    import json

    def fragment(item: JSON) -> JSON:
        return json.loads(orjson.dumps(item))

    text = json.dumps(value, default=fragment, separators=(",", ":"), allow_nan=False)
    return text.encode() + b"\n"


def normalised(value: JSON) -> JSON:
    """``value`` as the peer will read it: NaN has become null, tuples have become arrays.

    Raises ``TypeError`` for what is not JSON at all.
    """
    return orjson.loads(orjson.dumps(value))


def is_said_as_it_is(value: JSON) -> bool:
    """False where the peer may read something else than ``value``: NaN becomes null.

    Raises ``TypeError`` for what is not JSON at all.
    """
    return b"null" not in orjson.dumps(value)


def compact(value: JSON) -> str:
    """``value`` as compact JSON text."""
    return _dump(value)[:-1].decode()


def load_file(data: bytes) -> JSON:
    """JSON that the program ships with."""
    return orjson.loads(data)


def read_value(text: str) -> JSON:
    """The JSON value that ``text`` holds; None where it holds none."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
