"""The JSON-RPC messages that cross the wire, as values.

A line of input becomes exactly one of these.  What cannot be one of the first four becomes
``Malformed``, which already says how to answer it, or that no answer is due.

They are named tuples: one is made for each line, and both making one and defining its class cost
a fraction of what a frozen dataclass does, which start-up would feel.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

RequestId: TypeAlias = str | int
JSON: TypeAlias = Any  # whatever JSON can say; parsed further in by those who know its shape
JSONObject: TypeAlias = Mapping[str, Any]


class Request(NamedTuple):
    """A call that must be answered once, unless it is cancelled first."""

    id: RequestId
    method: str
    params: JSONObject


class Notification(NamedTuple):
    """A one-way message: never answered, whatever is wrong with it."""

    method: str
    params: JSONObject


class Error(NamedTuple):
    """The ``error`` member of a response."""

    code: int
    message: str
    data: JSON = None


class Response(NamedTuple):
    """An answer; ``id`` is None only where the request's own id could not be read."""

    id: RequestId | None
    result: JSONObject | None = None
    error: Error | None = None


class Malformed(NamedTuple):
    """Input that is no message; ``error`` is None where silence is the right answer."""

    id: RequestId | None
    error: Error | None


class Batch(NamedTuple):
    """A JSON array of messages, which only 2025-03-26 allows."""

    items: Sequence[Request | Notification | Response | Malformed]


Inbound: TypeAlias = Request | Notification | Response | Malformed | Batch
Outbound: TypeAlias = Request | Notification | Response
