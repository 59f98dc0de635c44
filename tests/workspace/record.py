"""Write the transcripts of the workspace's tools anew: ``python -m tests.workspace.record``.

Each conversation is held with a server in this process; what differs from run to run (ids, times)
becomes a pattern, and what later lines send back is captured.  Read the difference before you
commit it: a transcript is a promise.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from conformance.patterns import Bindings, fill, match
from conformance.peers import InProcessPeer
from conformance.transcripts import CLIENT_INFO, envelope
from memrpc.app import Application
from memrpc.settings import load
from tests.workspace.conversations import CONVERSATIONS

FOLDER = Path(__file__).with_name("transcripts")
REVISIONS = ("2025-03-26", "2026-07-28")
Expect = Callable[..., dict]
ANSWER_S = 60
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
VOLATILE = re.compile(rf"{UUID.pattern}|{TIME.pattern}|\[[0-9a-f]{{8}}\]|\d{{4}}-\d\d-\d\d")


def server(folder: Path) -> InProcessPeer:
    settings = load({"db": str(folder / "memory.db"), "toolset": "work", "embedder": "none"})
    return InProcessPeer(Application(settings).connection)


def request(number: int, tool: str, arguments: dict, revision: str) -> dict:
    params = {"name": tool, "arguments": {"owner": "acme", "repo": "harbor", **arguments}}
    if revision == "2026-07-28":
        params["_meta"] = {"$envelope": {}}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def sent(message: dict, bindings: Bindings) -> bytes:
    params = dict(message["params"])
    if "_meta" in params:
        params["_meta"] = envelope({})
    return json.dumps(fill({**message, "params": params}, bindings)).encode() + b"\n"


def pattern(value: Any, name: str = "") -> Any:
    """The value with what differs from run to run replaced."""
    if isinstance(value, dict):
        return {key: pattern(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [pattern(item, name) for item in value]
    if isinstance(value, str) and VOLATILE.search(value):
        parts = map(re.escape, VOLATILE.split(value))
        return {"$matches": "^" + ".+".join(parts) + "$"}
    return value


def expected(result: dict, captured: str = "") -> dict:
    shown = {key: result[key] for key in ("isError", "resultType") if key in result}
    if "structuredContent" in result:
        shown["structuredContent"] = pattern(result["structuredContent"])
    lines = result["content"][0]["text"].splitlines()
    parts = [".+".join(map(re.escape, VOLATILE.split(line))) for line in lines[:3]]
    told = rf"(?=[\s\S]*{captured})" if captured else ""
    text = {"$matches": f"^{told}" + "\n".join(parts)}
    return {**shown, "content": [{"type": "text", "text": text}]}


def conversation(
    tool: str, revision: str, calls: Sequence[tuple], expect: Expect
) -> Iterator[dict]:
    """The lines of one transcript, header first.

    ``expect(result, *rest)`` makes the pattern of a result; ``rest`` stands behind the arguments.
    """
    yield {"title": f"{tool}: every mode", "requirements": ["tools.content"], "server": "memrpc"}
    bindings = Bindings(revision)
    with tempfile.TemporaryDirectory() as folder:
        peer = server(Path(folder))
        if revision != "2026-07-28":
            yield {"open": {}}
            params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT_INFO}
            opening = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
            begun = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            peer.send(b"".join(json.dumps(each).encode() + b"\n" for each in (opening, begun)))
            peer.receive(10)
        for number, (called, arguments, *rest) in enumerate(calls, 1):
            message = request(number, called, arguments, revision)
            peer.send(sent(message, bindings))
            line = peer.receive(ANSWER_S)
            assert line is not None, message
            result = json.loads(line)["result"]
            answer = {"jsonrpc": "2.0", "id": number, "result": expect(result, *rest)}
            match(answer, json.loads(line), bindings)
            yield {"from": "client", "message": message}
            yield {"from": "server", "message": answer}
        peer.close()


def write_transcripts(
    folder: Path, conversations: Mapping[str, Sequence[tuple]], expect: Expect
) -> None:
    """Hold the conversations and write them down, a file for each tool and revision."""
    for revision in REVISIONS:
        (folder / revision).mkdir(parents=True, exist_ok=True)
        for tool, calls in conversations.items():
            held = conversation(tool, revision, calls, expect)
            lines = [json.dumps(each, ensure_ascii=False) for each in held]
            path = folder / revision / f"{tool}.jsonl"
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_transcripts(FOLDER, CONVERSATIONS, expected)
