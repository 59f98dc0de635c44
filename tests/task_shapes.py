"""The shapes of the tasks extension of 2026-07-28 (SEP-2663), strict: nothing else may be sent.

The official schemas of the protocol do not hold them.
"""

from __future__ import annotations

from functools import cache

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

METHODS = frozenset({"tasks/get", "tasks/update", "tasks/cancel"})
IDS = {"type": "array", "items": {"type": "string"}}
_TIME = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"}
_DURATION = {"type": "integer", "minimum": 1}
_TASK = {
    "taskId": {"type": "string", "minLength": 1},
    "status": {"enum": ["working", "input_required", "completed", "cancelled", "failed"]},
    "statusMessage": {"type": "string", "minLength": 1},
    "createdAt": _TIME,
    "lastUpdatedAt": _TIME,
    "ttlMs": {"anyOf": [_DURATION, {"type": "null"}]},
    "pollIntervalMs": _DURATION,
}
_REQUIRED = ["taskId", "status", "createdAt", "lastUpdatedAt", "ttlMs"]
_ERROR = {
    "type": "object",
    "properties": {"code": {"type": "integer"}, "message": {"type": "string"}, "data": {}},
    "required": ["code", "message"],
    "additionalProperties": False,
}
OUTCOMES = {
    "working": {},
    "cancelled": {},
    "input_required": {"inputRequests": {"type": "object", "minProperties": 1}},
    "completed": {"result": {"type": "object"}},
    "failed": {"error": _ERROR},
}


@cache
def _validator(outcome: str | None, *around: str) -> Draft202012Validator:
    members = {} if outcome is None else OUTCOMES[outcome]
    return Draft202012Validator(
        {
            "type": "object",
            "properties": {**_TASK, **members, **{name: {} for name in around}},
            "required": [*_REQUIRED, *members, *around],
            "additionalProperties": False,
        }
    )


def _fault(validator: Draft202012Validator, value: dict) -> str | None:
    error = best_match(validator.iter_errors(value))
    return None if error is None else f"task {error.json_path}: {error.message[:300]}"


def created_fault(result: dict) -> str | None:
    """What is wrong with the answer to a call that became a task."""
    return _fault(_validator(None, "resultType", "_meta"), result)


def result_fault(method: str, result: dict) -> str | None:
    """What is wrong with the answer to one of the extension's own methods."""
    if result.get("resultType") != "complete":
        return f"{method} answers with type {result.get('resultType')}"
    if method == "tasks/get":
        return _fault(_validator(result.get("status"), "resultType", "_meta"), result)
    unknown = result.keys() - {"_meta", "resultType"}
    return f"an empty result has {sorted(unknown)}" if unknown else None


def notification_fault(params: dict) -> str | None:
    """What is wrong with ``notifications/tasks``."""
    return _fault(_validator(params.get("status"), "_meta"), params)
