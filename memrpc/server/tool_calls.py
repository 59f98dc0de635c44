"""``tools/call``: find the tool, read the arguments, run the handler, shape the result."""

from __future__ import annotations

from memrpc.server.context import Context
from memrpc.server.faults import invalid_arguments, invalid_params, tool_error
from memrpc.server.service import Service, Tool, ToolResult
from memrpc.wire.codec import compact, is_said_as_it_is, normalised
from memrpc.wire.messages import JSON, JSONObject


async def call_tool(service: Service, ctx: Context) -> JSONObject:
    """The result of the tool that the call names.

    An unknown tool is a fault of the message in every revision; arguments that the tool's schema
    refuses are an error result, which a model can read and mend (2025-11-25, SEP-1303).
    """
    name: str = ctx.call.params["name"]
    tool = service.tool(name)
    if tool is None:
        raise invalid_params(f"Unknown tool: {name}")
    arguments, violation = await tool.contract.read(ctx.call.params.get("arguments", {}))
    if violation is not None:
        return tool_error(invalid_arguments(violation.message, pointer=violation.pointer))
    result = await tool.handler(ctx, arguments)
    return _shape(tool, result, checks=service.checks_output)


def _shape(tool: Tool, result: ToolResult, *, checks: bool) -> JSONObject:
    body: dict[str, JSON] = {"content": [], "isError": result.is_error}
    structured = result.structured
    if structured is not None and not result.is_error:
        structured = body["structuredContent"] = _as_read(tool, structured, checks=checks)
    body["content"] = _content(result, structured)
    return body


def _content(result: ToolResult, structured: JSON) -> list[JSONObject]:
    if result.content is not None:
        return list(result.content)
    if result.text is not None:
        return [{"type": "text", "text": result.text}]
    return [{"type": "text", "text": compact(structured)}] if structured is not None else []


def _as_read(tool: Tool, structured: JSON, *, checks: bool) -> JSON:
    """A result as the peer will read it, held to the contract if JSON cannot say it as it is.

    What was NaN has become null, which a schema of numbers refuses.  Tests hold every result to it.
    """
    if not checks and is_said_as_it_is(structured):
        return structured
    read = normalised(structured)
    if checks or read != structured:
        _check(tool, read)
    return read


def _check(tool: Tool, structured: JSON) -> None:
    violation = tool.contract.output.violation(structured) if tool.contract.output else None
    if violation is not None:
        message = f"{tool.contract.name} broke its output schema: {violation.message}"
        raise AssertionError(f"{message} at {violation.pointer or '/'}")
