"""The official schema of each revision, strict: what a revision does not name may not be sent.

The published schemas leave most objects open, so a field of a newer revision would pass in an
older one.  Here every named object is closed to the members it lists.  Carve-outs, each an
erratum or a contradiction of the published text:

* ``NumberSchema`` limits are published as integers in 2025-06-18 and 2025-11-25;
* format ``byte`` is any string;
* an error to an unreadable request has ``id: null`` (JSON-RPC 2.0, section 5), which no revision's
  schema admits: the caller removes the id, or gives a placeholder.
"""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from mcp_types import methods as mcp_types
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from tests import task_shapes

_ROOT = Path(__file__).parent.parent
_DEFAULT = _ROOT.parent / "shared" / "mcp-schema"
SCHEMA_DIR = Path(os.environ.get("MCP_SCHEMA_DIR", _DEFAULT))
HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ENVELOPE = "2026-07-28"
REVISIONS = (*HANDSHAKE, ENVELOPE)
is_available = (SCHEMA_DIR / f"{ENVELOPE}.json").is_file()
needs_schemas = pytest.mark.skipif(
    not is_available, reason="the official schemas are absent; set MCP_SCHEMA_DIR"
)

# Objects that are open by design, or that others extend.
_OPEN = frozenset({"Result", "Error", "Task", "NotificationParams", "JSONObject"})
_NUMBER_SCHEMA_LIMITS = ("minimum", "maximum", "default")
_RESULTS = {
    "initialize": "InitializeResult",
    "server/discover": "DiscoverResult",
    "tools/list": "ListToolsResult",
    "tools/call": "CallToolResult",
    "resources/list": "ListResourcesResult",
    "resources/templates/list": "ListResourceTemplatesResult",
    "resources/read": "ReadResourceResult",
    "prompts/list": "ListPromptsResult",
    "prompts/get": "GetPromptResult",
    "completion/complete": "CompleteResult",
    "subscriptions/listen": "SubscriptionsListenResult",
}


@cache
def _document(revision: str) -> dict:
    document = json.loads((SCHEMA_DIR / f"{revision}.json").read_text())
    definitions = document.get("definitions") or document["$defs"]
    for name in _NUMBER_SCHEMA_LIMITS:
        limit = definitions.get("NumberSchema", {}).get("properties", {}).get(name)
        if limit is not None:
            limit["type"] = "number"
    if revision == ENVELOPE:
        definitions["SubscriptionFilter"]["properties"]["taskIds"] = task_shapes.IDS
    for name, definition in definitions.items():
        if name not in _OPEN and not name.endswith("MetaObject"):
            _close(definition)
    return {"$schema": document["$schema"], "$defs": definitions, "definitions": definitions}


def _close(definition: dict) -> None:
    if "properties" not in definition or "allOf" in definition:
        return
    definition.setdefault("additionalProperties", False)
    params = definition["properties"].get("params", {})
    if "properties" in params:
        params.setdefault("additionalProperties", False)


@cache
def names(revision: str) -> frozenset[str]:
    """The definitions that the revision has."""
    return frozenset(_document(revision)["$defs"])


@cache
def _validator(revision: str, name: str) -> Draft202012Validator:
    return Draft202012Validator({**_document(revision), "$ref": f"#/$defs/{name}"})


def fault(revision: str, name: str, value: object) -> str | None:
    """What the revision's schema finds wrong with ``value`` as the named definition."""
    if name not in names(revision):
        return f"{revision} has no {name}"
    error = best_match(_validator(revision, name).iter_errors(value))
    return None if error is None else f"{error.json_path}: {error.message[:300]}"


@cache
def _by_method(revision: str, union: str) -> dict[str, str]:
    """The members of ``ServerRequest`` or ``ServerNotification`` by their method."""
    definitions = _document(revision)["$defs"]
    if union not in definitions:
        return {}
    listed = [entry["$ref"].rpartition("/")[2] for entry in definitions[union]["anyOf"]]
    return {definitions[name]["properties"]["method"]["const"]: name for name in listed}


def result_fault(revision: str, method: str, result: dict) -> str | None:
    """What is wrong with ``result`` as an answer to ``method``."""
    name = _RESULTS.get(method)
    if revision == ENVELOPE and method in task_shapes.METHODS:
        inner = result.get("result")
        return task_shapes.result_fault(method, result) or (
            result_fault(revision, "tools/call", inner) if inner is not None else None
        )
    if revision == ENVELOPE and method == "tools/call" and result.get("resultType") == "task":
        return task_shapes.created_fault(result)
    if result.get("resultType") == "input_required":
        name = "InputRequiredResult"
    if name is None:
        unknown = result.keys() - {"_meta", "resultType" if revision == ENVELOPE else "_meta"}
        return f"an empty result has {sorted(unknown)}" if unknown else None
    return fault(revision, name, result) or _pydantic_fault(
        mcp_types.SERVER_RESULTS, mcp_types.validate_server_result, revision, method, result
    )


def notification_fault(revision: str, message: dict) -> str | None:
    """What is wrong with a notification that the server sent."""
    if revision == ENVELOPE and message["method"] == "notifications/tasks":
        return task_shapes.notification_fault(message["params"])
    return _message_fault(
        revision,
        "ServerNotification",
        message,
        mcp_types.SERVER_NOTIFICATIONS,
        mcp_types.parse_server_notification,
    )


def request_fault(revision: str, message: dict) -> str | None:
    """What is wrong with a request that the server sent."""
    return _message_fault(
        revision,
        "ServerRequest",
        message,
        mcp_types.SERVER_REQUESTS,
        mcp_types.parse_server_request,
    )


def _message_fault(revision, union, message, surface, parse) -> str | None:
    method = message["method"]
    name = _by_method(revision, union).get(method)
    if name is None:
        return f"{revision} has no {method} from a server"
    value = {k: v for k, v in message.items() if k in _properties(revision, name)}
    return fault(revision, name, value) or _pydantic_fault(
        surface, parse, revision, method, message.get("params")
    )


@cache
def _properties(revision: str, name: str) -> frozenset[str]:
    """The newer schemas put ``jsonrpc`` and ``id`` in each message, the older ones around it."""
    return frozenset(_document(revision)["$defs"][name]["properties"])


def error_fault(revision: str, message: dict) -> str | None:
    """What is wrong with an error response."""
    name = "JSONRPCErrorResponse"
    if name not in names(revision):
        name = "JSONRPCError"
        message = {**message, "id": 0 if message["id"] is None else message["id"]}
    if message["id"] is None:
        message = {k: v for k, v in message.items() if k != "id"}
    return fault(revision, name, message)


def _pydantic_fault(surface, validate, revision, method, value) -> str | None:
    """What the official Python types find wrong, where they have a type."""
    assert revision in KNOWN_PROTOCOL_VERSIONS
    if (method, revision) not in surface:
        return None
    try:
        validate(method, revision, value)
    except ValidationError as error:
        return f"mcp-types: {error}"[:500]
    return None
