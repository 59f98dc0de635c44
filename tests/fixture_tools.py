"""Tools that do what tools do wrong, and what the protocol lets them do right."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings

import anyio
from anyio.to_thread import run_sync

from memrpc.protocol import asks
from memrpc.server.context import Context, answer_of
from memrpc.server.contracts import Contract
from memrpc.server.faults import Refusal, RefusedError
from memrpc.server.service import Change, Tool, ToolHandler, ToolResult
from memrpc.server.validation import Schema

ANY = {"type": "object"}
TEXT = {"type": "string"}
NUMBER = {"type": "number"}
INTEGER = {"type": "integer"}
FORM = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name", "default": "Ann"},
        "colour": {
            "type": "string",
            "oneOf": [{"const": "r", "title": "Red"}, {"const": "g", "title": "Green"}],
        },
        "age": {"type": "integer", "minimum": 0, "default": 30},
        "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        "sure": {"type": "boolean", "default": True},
    },
    "required": ["name"],
}
ICON = {"src": "https://example.com/icon.png", "mimeType": "image/png", "sizes": ["48x48"]}
RICH_BLOCKS = (
    {"type": "text", "text": "hello \u2028 there", "_meta": {"example.com/k": 1}},
    {
        "type": "image",
        "data": "aGk=",
        "mimeType": "image/png",
        "annotations": {
            "audience": ["user"],
            "priority": 0.5,
            "lastModified": "2026-01-01T00:00:00Z",
        },
    },
    {"type": "audio", "data": "aGk=", "mimeType": "audio/wav", "_meta": {}},
    {
        "type": "resource",
        "resource": {
            "uri": "test://item/1",
            "mimeType": "text/plain",
            "text": "one",
            "_meta": {"example.com/k": 2},
        },
    },
    {
        "type": "resource_link",
        "uri": "test://item/2",
        "name": "item-2",
        "title": "Item two",
        "size": 3,
        "icons": [ICON],
        "annotations": {"lastModified": "2026-01-01T00:00:00Z"},
    },
)

TOOLS: dict[str, Tool] = {}


def tool(name: str, properties=None, *, required=(), output=None, **extra):
    """Register a handler under ``name`` with a flat object as its input."""
    schema = {"type": "object", "properties": properties or {}, "required": list(required)}

    def register(handler: ToolHandler) -> ToolHandler:
        contract = Contract(
            name,
            name.title(),
            f"The tool {name}.",
            Schema(schema),
            Schema(output) if output else None,
            {"title": name, "readOnlyHint": True, "openWorldHint": False},
            extra,
        )
        TOOLS[name] = Tool(contract, handler)
        return handler

    return register


_ECHOED = {"type": "object", "properties": {"text": TEXT}, "required": ["text"]}


@tool(
    "echo",
    {"text": TEXT},
    required=["text"],
    output=_ECHOED,
    icons=[ICON],
    execution={"taskSupport": "forbidden"},
    _meta={"example.com/k": 1},
)
async def _echo(ctx: Context, arguments):
    return ToolResult(structured={"text": arguments["text"]})


@tool("numbers", output={"type": "array", "items": {"type": "integer"}})
async def _numbers(ctx: Context, arguments):
    return ToolResult(structured=[1, 2, 3])


@tool("either", output={"anyOf": [{"type": "object"}, {"type": "array"}]})
async def _either(ctx: Context, arguments):
    return ToolResult(structured={"a": 1})


@tool("count", {"values": {"type": "array", "items": INTEGER}}, required=["values"])
async def _count(ctx: Context, arguments):
    return ToolResult(text=str(len(arguments["values"])))


@tool("rich")
async def _rich(ctx: Context, arguments):
    return ToolResult(content=list(RICH_BLOCKS))


@tool("slow", {"steps": INTEGER, "delay_s": NUMBER})
async def _slow(ctx: Context, arguments):
    steps = arguments.get("steps", 5)
    for step in range(steps):
        ctx.progress(step, steps, f"step {step}")
        await anyio.sleep(arguments.get("delay_s", 0.01))
    return ToolResult(text="done")


@tool("wait")
async def _wait(ctx: Context, arguments):
    ctx.progress(1)
    try:
        await anyio.sleep_forever()
    finally:
        ctx.progress(2)
        ctx.peer.ports.log("info", "wait_stopped")


@tool("stubborn")
async def _stubborn(ctx: Context, arguments):
    """Swallows its cancellation, as careless code does."""
    try:
        await anyio.sleep_forever()
    except BaseException:  # noqa: BLE001 -- that is what this tool is for
        ctx.progress(2)
        ctx.log("emergency", "too late")
    return ToolResult(text="too late")


@tool("stuck", {"seconds": NUMBER})
async def _stuck(ctx: Context, arguments):
    ctx.progress(1)
    await run_sync(time.sleep, arguments.get("seconds", 30))
    return ToolResult(text="done")


@tool("fail")
async def _fail(ctx: Context, arguments):
    raise ValueError("secret detail")


@tool("refuse")
async def _refuse(ctx: Context, arguments):
    raise RefusedError(Refusal("not_found", "There is no such thing; send another"))


@tool("exit")
async def _exit(ctx: Context, arguments):
    sys.exit(3)


@tool("cancelled_inside")
async def _cancelled_inside(ctx: Context, arguments):
    raise anyio.get_cancelled_exc_class()


_MEASURED = {"type": "object", "properties": {"value": NUMBER}, "required": ["value"]}


@tool("nan", output=_MEASURED)
async def _nan(ctx: Context, arguments):
    return ToolResult(structured={"value": float("nan")})


@tool("nan_progress")
async def _nan_progress(ctx: Context, arguments):
    for value in (1.0, float("nan"), 2.0, float("inf"), 3.0):
        ctx.progress(value, float("nan"))
    return ToolResult(text="done")


@tool("deep", {"levels": INTEGER})
async def _deep(ctx: Context, arguments):
    value: list = []
    for _ in range(arguments.get("levels", 300)):
        value = [value]
    return ToolResult(structured={"value": value})


@tool("huge_integer")
async def _huge_integer(ctx: Context, arguments):
    return ToolResult(structured={"value": 2**70, "other": float("nan")})


@tool("no_json")
async def _no_json(ctx: Context, arguments):
    return ToolResult(content=[{"type": "text", "text": "x", "_meta": {"o": object()}}])


@tool("big", {"chars": INTEGER})
async def _big(ctx: Context, arguments):
    return ToolResult(text="x" * arguments.get("chars", 1_000_000))


@tool("print")
async def _print(ctx: Context, arguments):
    print("stray print")  # noqa: T201 -- that is what this tool is for
    os.write(1, b"stray write\n")
    warnings.warn("stray warning", stacklevel=1)
    subprocess.run(["echo", "stray child"], check=True)  # noqa: ASYNC221 -- the same
    return ToolResult(text="printed")


@tool("print_much", {"stream": TEXT})
async def _print_much(ctx: Context, arguments):
    stream = getattr(sys, arguments.get("stream", "stdout"))
    for _ in range(1_000):
        print("stray " * 200, file=stream)
    return ToolResult(text="printed")


@tool("child")
async def _child(ctx: Context, arguments):
    done = await run_sync(lambda: subprocess.run(["cat"], stdout=subprocess.PIPE, check=True))
    return ToolResult(text=done.stdout.decode())


@tool("ask_stdin")
async def _ask_stdin(ctx: Context, arguments):
    return ToolResult(text=input("Name? "))  # noqa: ASYNC250 -- that is what this tool is for


@tool("chatter", {"lines": INTEGER})
async def _chatter(ctx: Context, arguments):
    for number in range(arguments.get("lines", 1000)):
        ctx.peer.ports.log("error", "chatter", number=number, padding="x" * 1000)
    return ToolResult(text="said")


@tool("flood", {"count": INTEGER})
async def _flood(ctx: Context, arguments):
    for number in range(arguments.get("count", 1000)):
        ctx.progress(number)
        ctx.log("error", {"number": number})
    return ToolResult(text="flooded")


@tool("log_all")
async def _log_all(ctx: Context, arguments):
    for level in ("debug", "info", "warning", "emergency"):
        ctx.log(level, f"a {level}")
    return ToolResult(text="logged")


@tool("change", {"kind": TEXT, "uri": TEXT}, required=["kind"])
async def _change(ctx: Context, arguments):
    ctx.peer.publish(Change(arguments["kind"], arguments.get("uri", "")))
    return ToolResult(text="changed")


_MESSAGES = [{"role": "user", "content": {"type": "text", "text": "hi"}}]
ASKS = {
    "form": asks.elicit_form("Name?", FORM),
    "url": asks.elicit_url("Go there", "https://example.com/x", "e-1"),
    "sample": asks.sample({"messages": _MESSAGES, "maxTokens": 10}),
    "roots": asks.list_roots(),
}


@tool("ask", {"what": {"type": "array", "items": TEXT}, "timeout_s": NUMBER}, required=["what"])
async def _ask(ctx: Context, arguments):
    timeout_s = arguments.get("timeout_s", 30)
    chosen = {
        name: asks.Ask(ASKS[name].method, ASKS[name].needs, ASKS[name].params, timeout_s)
        for name in arguments["what"]
    }
    answers = await ctx.ask_all(chosen)
    return ToolResult(structured={"answers": dict(answers)})


@tool("ask_twice")
async def _ask_twice(ctx: Context, arguments):
    first = answer_of(await ctx.ask("first", ASKS["form"]))
    second = answer_of(await ctx.ask("second", ASKS["form"]))
    return ToolResult(structured={"first": first, "second": second})
