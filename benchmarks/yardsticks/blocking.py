"""B, the floor: one line in, one line out, validating nothing."""

import sys

import orjson
from echo_tool import DESCRIPTION, INPUT, NAME

TOOL = {"name": NAME, "description": DESCRIPTION, "inputSchema": INPUT}
HELLO = {"capabilities": {"tools": {}}, "serverInfo": {"name": "blocking", "version": "1"}}


def answer(method: str, params: dict) -> dict:
    if method == "tools/call":
        given = params["arguments"]
        text = given["text"] * given.get("times", 1)
        return {"content": [{"type": "text", "text": text}], "isError": False}
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], **HELLO}
    return {"tools": [TOOL]} if method == "tools/list" else {}


for line in sys.stdin.buffer:
    message = orjson.loads(line)
    if "id" in message:
        result = answer(message["method"], message.get("params", {}))
        body = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        sys.stdout.buffer.write(orjson.dumps(body, option=orjson.OPT_APPEND_NEWLINE))
        sys.stdout.buffer.flush()
