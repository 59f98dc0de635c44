"""The methods that a server answers: those answered in place, and those that run a handler.

``IN_PLACE`` needs nothing but memory, so its answers leave in the order of their requests and
before the event loop exists.  ``HANDLED`` runs as a task that can be cancelled.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final, TypeAlias

from memrpc.protocol.calls import Call
from memrpc.protocol.capabilities import NEEDS, declares
from memrpc.protocol.cursors import CursorError, seal, unseal
from memrpc.protocol.revisions import Era, versions
from memrpc.server import schema_files
from memrpc.server.context import Context
from memrpc.server.faults import MissingCapabilityError, invalid_params, resource_not_found
from memrpc.server.service import CompletionQuery, Page, Service
from memrpc.server.tool_calls import call_tool
from memrpc.server.validation import Schema
from memrpc.wire.messages import JSON, JSONObject

MAX_COMPLETIONS: Final = 100  # Source: Completion, every revision
InPlace: TypeAlias = Callable[[Service, Call], JSONObject]
Handled: TypeAlias = Callable[[Service, Context], Awaitable[JSONObject]]


@cache
def _shape(method: str) -> Schema | None:
    """The shape of a method's params, for the methods that have members to check."""
    known = method.replace("/", ".")
    if known not in schema_files.names("protocol"):
        return None
    return Schema(schema_files.read("protocol", f"{known}.json"))


def check_client(call: Call) -> None:
    """Raise MissingCapabilityError where the method needs what the client did not declare."""
    path = NEEDS.get(call.method)
    if path is not None and not declares(call.client.capabilities, path):
        raise MissingCapabilityError(path)


def check_params(call: Call) -> None:
    """Raise the fault that malformed params are.  A null member counts as absent."""
    shape = _shape(call.method)
    if shape is None or shape.accepts(call.params):
        return
    given = _without_nulls(call.params, shape.text)
    violation = shape.violation(given)
    if violation is not None:
        raise invalid_params(f"Invalid params: {violation.message}")
    call.params = given


def _without_nulls(value: JSON, shape: JSONObject) -> JSON:
    """``value`` without the nulls by which some clients say that a member of the shape is absent.

    An object whose members the shape does not tell, such as a tool's arguments, is left alone.
    """
    told, other = shape.get("properties", {}), shape.get("additionalProperties")
    if not isinstance(value, dict) or not (told or other):
        return value
    return {
        name: _without_nulls(member, told.get(name, other or {}))
        for name, member in value.items()
        if member is not None
    }


# Answered in place


def _initialize(service: Service, call: Call) -> JSONObject:
    return {
        "protocolVersion": call.revision.version,
        "capabilities": service.capabilities(),
        "serverInfo": service.identity,
        "instructions": service.instructions,
    }


def _discover(service: Service, _: Call) -> JSONObject:
    return {
        "supportedVersions": versions(Era.ENVELOPE),
        "capabilities": service.capabilities(),
        "instructions": service.instructions,
    }


def _ping(_: Service, __: Call) -> JSONObject:
    return {}


def _set_level(_: Service, call: Call) -> JSONObject:
    if call.handshake is not None:
        call.handshake.log_level = call.params["level"]
    return {}


def _list_tools(service: Service, call: Call) -> JSONObject:
    _refuse_cursor(call)
    listed = [t.contract.listing() for t in service.tools.values() if t.is_listed(call)]
    return {"tools": listed}


def _list_templates(service: Service, call: Call) -> JSONObject:
    _refuse_cursor(call)
    return {"resourceTemplates": list(service.resources.templates()) if service.resources else []}


def _refuse_cursor(call: Call) -> None:
    """These lists have one page, so no cursor can have come from them."""
    if "cursor" in call.params:
        raise invalid_params("Invalid params: cursor is not one that this list gave out")


def _subscribe(service: Service, call: Call) -> JSONObject:
    uri: str = call.params["uri"]
    if not service.serves(uri):
        raise resource_not_found(uri, call.revision)
    if call.handshake is not None:
        call.handshake.subscribed.add(uri)
    return {}


def _unsubscribe(_: Service, call: Call) -> JSONObject:
    if call.handshake is not None:
        call.handshake.subscribed.discard(call.params["uri"])
    return {}


IN_PLACE: Final[Mapping[str, InPlace]] = MappingProxyType(
    {
        "initialize": _initialize,
        "server/discover": _discover,
        "ping": _ping,
        "logging/setLevel": _set_level,
        "tools/list": _list_tools,
        "resources/templates/list": _list_templates,
        "resources/subscribe": _subscribe,
        "resources/unsubscribe": _unsubscribe,
    }
)


# Run by a handler


async def _list_resources(service: Service, ctx: Context) -> JSONObject:
    page = await service.resources.page(ctx, _after(ctx.call)) if service.resources else Page([])
    ctx.peer.hear_of_lists(ctx.call)
    return _page("resources", page, ctx.call)


async def _list_prompts(service: Service, ctx: Context) -> JSONObject:
    page = await service.prompts.page(ctx, _after(ctx.call)) if service.prompts else Page([])
    return _page("prompts", page, ctx.call)


def _after(call: Call) -> str | None:
    cursor = call.params.get("cursor")
    if cursor is None:
        return None
    try:
        return unseal(call.method, cursor)
    except CursorError as error:
        message = "Invalid params: cursor is not one that this list gave out"
        raise invalid_params(message) from error


def _page(member: str, page: Page, call: Call) -> JSONObject:
    body: dict[str, JSON] = {member: list(page.items)}
    if page.after is not None:
        body["nextCursor"] = seal(call.method, page.after)
    return body


async def _read_resource(service: Service, ctx: Context) -> JSONObject:
    uri: str = ctx.call.params["uri"]
    if service.resources is None:
        raise resource_not_found(uri, ctx.call.revision)
    try:
        contents = await service.resources.read(ctx, uri)
    except KeyError as error:
        hint = str(error.args[1]) if len(error.args) > 1 else ""
        raise resource_not_found(uri, ctx.call.revision, hint=hint) from error
    return {"contents": list(contents)}


async def _get_prompt(service: Service, ctx: Context) -> JSONObject:
    name: str = ctx.call.params["name"]
    if service.prompts is None:
        raise invalid_params(f"Unknown prompt: {name}")
    try:
        return await service.prompts.get(ctx, name, ctx.call.params.get("arguments", {}))
    except KeyError as error:
        raise invalid_params(f"Unknown prompt: {name}") from error


async def _complete(service: Service, ctx: Context) -> JSONObject:
    reference, argument = ctx.call.params["ref"], ctx.call.params["argument"]
    kind = reference["type"].removeprefix("ref/")
    name = reference.get("name" if kind == "prompt" else "uri")
    if name is None or service.completions is None:
        raise invalid_params("Invalid params: ref needs a name (prompt) or a uri (resource)")
    context = ctx.call.params.get("context", {}).get("arguments", {})
    query = CompletionQuery(kind, name, argument["name"], argument["value"], context)
    try:
        values = await service.completions.complete(ctx, query)
    except KeyError as error:
        raise invalid_params(f"Nothing to complete at {kind} {name}") from error
    return {"completion": _completion(list(values))}


def _completion(values: list[str]) -> JSONObject:
    return {
        "values": values[:MAX_COMPLETIONS],
        "total": len(values),
        "hasMore": len(values) > MAX_COMPLETIONS,
    }


async def _get_task(_: Service, ctx: Context) -> JSONObject:
    return await ctx.peer.tasks.show(ctx.call.params["taskId"])


async def _update_task(_: Service, ctx: Context) -> JSONObject:
    await ctx.peer.tasks.answer(ctx.call.params["taskId"], ctx.call.params["inputResponses"])
    return {}


async def _cancel_task(_: Service, ctx: Context) -> JSONObject:
    await ctx.peer.tasks.cancel(ctx.call.params["taskId"])
    return {}


HANDLED: Final[Mapping[str, Handled]] = MappingProxyType(
    {
        "tools/call": call_tool,
        "resources/list": _list_resources,
        "resources/read": _read_resource,
        "prompts/list": _list_prompts,
        "prompts/get": _get_prompt,
        "completion/complete": _complete,
        "tasks/get": _get_task,
        "tasks/update": _update_task,
        "tasks/cancel": _cancel_task,
    }
)
MULTI_ROUND: Final = frozenset({"tools/call", "resources/read", "prompts/get"})
"""Requests that may be answered by asking for more input (2026-07-28)."""
