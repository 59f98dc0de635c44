"""The newest shape in, the shape of one revision out: the only place where answers differ.

Handlers know one shape.  Each result is projected by its method, each member by the field sets of
the call's revision, so no field of a newer revision reaches an older client and none that a newer
one demands is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from memrpc.protocol.revisions import Fields, Revision, Structured
from memrpc.wire.messages import JSON, JSONObject

SERVER_INFO_KEY: Final = "io.modelcontextprotocol/serverInfo"
_CACHED: Final = frozenset(
    {
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
    }
)
_CACHE_MEMBERS: Final = frozenset({"ttlMs", "cacheScope"})
_FRESH_ALWAYS: Final[JSONObject] = {"ttlMs": 0, "cacheScope": "private"}


def project(
    result: JSONObject, method: str, revision: Revision, identity: JSONObject
) -> JSONObject:
    """``result`` of ``method`` as ``revision`` knows it.

    ``identity`` is this server's Implementation object in its newest shape.
    """
    shape = _BY_METHOD.get(method)
    body = shape(result, revision) if shape else result
    if revision.result_envelope:
        return _enveloped(dict(body), method, implementation(identity, revision))
    if _ENVELOPE_MEMBERS.isdisjoint(body):
        return body
    return {k: v for k, v in body.items() if k not in _ENVELOPE_MEMBERS}


_ENVELOPE_MEMBERS: Final = _CACHE_MEMBERS | {"resultType"}


def _enveloped(body: dict[str, JSON], method: str, identity: JSONObject) -> JSONObject:
    """Source: 2026-07-28, Base Protocol, ``resultType``; Caching; ``_meta`` serverInfo."""
    body.setdefault("resultType", "complete")
    if method in _CACHED and body["resultType"] == "complete":
        body = {**_FRESH_ALWAYS, **body}
    body["_meta"] = {**body.get("_meta", {}), SERVER_INFO_KEY: identity}
    return body


def implementation(identity: JSONObject, revision: Revision) -> JSONObject:
    """An Implementation object with the members that the revision has."""
    return _only(identity, revision.shapes.implementation)


def capabilities(declared: JSONObject, revision: Revision) -> JSONObject:
    """A ServerCapabilities object with the members that the revision has."""
    return _only(declared, revision.server_capabilities)


def progress(params: JSONObject, revision: Revision) -> JSONObject:
    """The params of a progress notification."""
    return _only(params, revision.shapes.progress)


def _only(value: JSONObject, fields: Fields) -> dict[str, JSON]:
    return {name: member for name, member in value.items() if name in fields}


# Results, by method


def _initialize(result: JSONObject, revision: Revision) -> JSONObject:
    return {
        **result,
        "capabilities": capabilities(result["capabilities"], revision),
        "serverInfo": implementation(result["serverInfo"], revision),
    }


def _discover(result: JSONObject, revision: Revision) -> JSONObject:
    return {**result, "capabilities": capabilities(result["capabilities"], revision)}


def _listed(
    member: str, shape: Callable[[JSONObject, Revision], JSONObject]
) -> Callable[[JSONObject, Revision], JSONObject]:
    def project_list(result: JSONObject, revision: Revision) -> JSONObject:
        if member not in result:
            return result
        return {**result, member: [shape(item, revision) for item in result[member]]}

    return project_list


def _tool(tool: JSONObject, revision: Revision) -> JSONObject:
    body = _only(tool, revision.shapes.tool)
    schema = body.get("outputSchema")
    if schema is None or revision.structured is not Structured.OBJECT:
        return body
    kind = schema.get("type")
    if kind in _NEVER_OBJECTS:
        body["outputSchema"] = _wrapped_schema(schema)
    elif kind != "object":
        # Some results are objects and some are not, so no schema holds for all of them.
        del body["outputSchema"]
    return body


_NEVER_OBJECTS: Final = ("array", "string", "number", "integer", "boolean", "null")


def _wrapped_schema(schema: JSONObject) -> JSONObject:
    return {"type": "object", "properties": {"result": schema}, "required": ["result"]}


def _prompt(prompt: JSONObject, revision: Revision) -> JSONObject:
    body = _only(prompt, revision.shapes.prompt)
    if "arguments" in body:
        body["arguments"] = [_only(a, revision.shapes.argument) for a in body["arguments"]]
    return body


def _resource(resource: JSONObject, revision: Revision) -> JSONObject:
    return _annotated(_only(resource, revision.shapes.resource), revision)


def _template(template: JSONObject, revision: Revision) -> JSONObject:
    return _annotated(_only(template, revision.shapes.template), revision)


def _contents(contents: JSONObject, revision: Revision) -> JSONObject:
    return _only(contents, revision.shapes.contents)


def _annotated(body: dict[str, JSON], revision: Revision) -> dict[str, JSON]:
    if "annotations" in body:
        body["annotations"] = _only(body["annotations"], revision.shapes.annotations)
    return body


def _call_result(result: JSONObject, revision: Revision) -> JSONObject:
    body = dict(result)
    if "content" in body:
        body["content"] = [block(item, revision) for item in body["content"]]
    if "structuredContent" not in body:
        return body
    structured = body.pop("structuredContent")
    if revision.structured is Structured.OBJECT and not isinstance(structured, dict):
        structured = {"result": structured}
    if revision.structured is not Structured.ABSENT:
        body["structuredContent"] = structured
    return body


def _prompt_result(result: JSONObject, revision: Revision) -> JSONObject:
    if "messages" not in result:
        return result
    messages = [{**m, "content": block(m["content"], revision)} for m in result["messages"]]
    return {**result, "messages": messages}


_BARE_TEXT: Final = 2
"""The members of a text with nothing said about it, which is the same in every revision."""


def block(content: JSONObject, revision: Revision) -> JSONObject:
    """A content block, turned into one that the revision has if it does not have this kind."""
    if content["type"] == "text" and len(content) == _BARE_TEXT:
        return content
    if content["type"] not in revision.shapes.content_types:
        return _SUBSTITUTES[content["type"]](content)
    body = dict(content)
    if not revision.block_meta:
        body.pop("_meta", None)
    if body["type"] == "resource":
        body["resource"] = _contents(body["resource"], revision)
    if body["type"] == "resource_link":
        body = {"type": "resource_link", **_resource(body, revision)}
    return _annotated(body, revision)


def _audio_as_resource(content: JSONObject) -> JSONObject:
    resource = {"uri": "data:audio", "mimeType": content["mimeType"], "blob": content["data"]}
    return {"type": "resource", "resource": resource}


def _link_as_text(content: JSONObject) -> JSONObject:
    return {"type": "text", "text": f"{content['name']}: {content['uri']}"}


_SUBSTITUTES: Final[Mapping[str, Callable[[JSONObject], JSONObject]]] = MappingProxyType(
    {"audio": _audio_as_resource, "resource_link": _link_as_text}
)

_BY_METHOD: Final[Mapping[str, Callable[[JSONObject, Revision], JSONObject]]] = MappingProxyType(
    {
        "initialize": _initialize,
        "server/discover": _discover,
        "tools/list": _listed("tools", _tool),
        "tools/call": _call_result,
        "prompts/list": _listed("prompts", _prompt),
        "prompts/get": _prompt_result,
        "resources/list": _listed("resources", _resource),
        "resources/templates/list": _listed("resourceTemplates", _template),
        "resources/read": _listed("contents", _contents),
    }
)
