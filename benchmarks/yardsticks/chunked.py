"""C, the floor in flight: all the lines of one read in, one write out, validating nothing."""

import os

import orjson
from echo_tool import DESCRIPTION, INPUT, NAME

TOOL = {"name": NAME, "description": DESCRIPTION, "inputSchema": INPUT}
HELLO = {"capabilities": {"tools": {}}, "serverInfo": {"name": "chunked", "version": "1"}}


def answer(method: str, params: dict) -> dict:
    if method == "tools/call":
        given = params["arguments"]
        text = given["text"] * given.get("times", 1)
        return {"content": [{"type": "text", "text": text}], "isError": False}
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], **HELLO}
    return {"tools": [TOOL]} if method == "tools/list" else {}


def respond(line: bytes) -> bytes:
    message = orjson.loads(line)
    if "id" not in message:
        return b""
    result = answer(message["method"], message.get("params", {}))
    body = {"jsonrpc": "2.0", "id": message["id"], "result": result}
    return orjson.dumps(body, option=orjson.OPT_APPEND_NEWLINE)


rest = b""
while chunk := os.read(0, 65_536):
    *lines, rest = (rest + chunk).split(b"\n")
    view = memoryview(b"".join(map(respond, lines)))
    while view:
        view = view[os.write(1, view) :]
