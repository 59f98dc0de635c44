"""Tasks: calls answered with a handle first, and with their result when it is asked for.

A task is a value and ``MOVES`` is the diagram of its states; each change makes the next version.
What a task asks its client stands in ``outcome`` until everything is answered, as its result or
its error does at the end.

Source: the tasks extension of 2026-07-28 (SEP-2663).
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from memrpc.protocol.calls import Call, enveloped_call
from memrpc.wire.codec import compact, read_value
from memrpc.wire.messages import JSON, JSONObject

METHOD: Final = "tools/call"
KEPT_MS: Final = 3_600_000  # after the last change
POLL_INTERVAL_MS: Final = 1_000
LOST_AFTER_MS: Final = 30_000
"""A task that works says so more often than this; one that does not has lost its process."""

_NOT_KEPT: Final = frozenset({"inputResponses", "requestState"})


class Status(enum.Enum):
    """Where a task stands."""

    WORKING = "working"
    INPUT_REQUIRED = "input_required"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


MOVES: Final[Mapping[Status, frozenset[Status]]] = MappingProxyType(
    {
        Status.WORKING: frozenset(Status),
        Status.INPUT_REQUIRED: frozenset(
            {Status.INPUT_REQUIRED, Status.WORKING, Status.FAILED, Status.CANCELLED}
        ),
        Status.COMPLETED: frozenset(),
        Status.FAILED: frozenset(),
        Status.CANCELLED: frozenset(),
    }
)
"""What may follow what; nothing follows an end."""

_OUTCOMES: Final[Mapping[Status, str]] = MappingProxyType(
    {
        Status.INPUT_REQUIRED: "inputRequests",
        Status.COMPLETED: "result",
        Status.FAILED: "error",
    }
)


class Task(NamedTuple):
    """One call that goes on after its answer.

    ``params`` are the call's, envelope included; ``answers`` is what the client has answered.
    """

    id: str
    params: JSONObject
    answers: JSONObject
    created_ms: int
    updated_ms: int
    status: Status = Status.WORKING
    message: str = ""
    outcome: JSON = None
    version: int = 1

    @property
    def expires_ms(self) -> int:
        return self.updated_ms + KEPT_MS

    def is_lost(self, now_ms: int) -> bool:
        """True if nobody has worked on it for so long that nobody does."""
        return self.status is Status.WORKING and now_ms - self.updated_ms > LOST_AFTER_MS

    def move(
        self, status: Status, now_ms: int, message: str = "", outcome: JSON = None
    ) -> Task | None:
        """The task in its next state; None where ``MOVES`` does not lead there."""
        if status not in MOVES[self.status]:
            return None
        return self._replace(
            status=status,
            updated_ms=max(now_ms, self.updated_ms),
            message=message,
            outcome=outcome,
            version=self.version + 1,
        )

    def answer(self, responses: JSONObject, now_ms: int) -> Task | None:
        """The task with what was asked and is now answered; None where that is nothing.

        It works again as soon as nothing is left to answer.
        """
        if self.status is not Status.INPUT_REQUIRED:
            return None
        given = {
            key: response
            for key, response in responses.items()
            if key in self.outcome and isinstance(response, dict)
        }
        left = {key: ask for key, ask in self.outcome.items() if key not in given}
        status = Status.INPUT_REQUIRED if left else Status.WORKING
        moved = self.move(status, now_ms, outcome=left or None) if given else None
        return moved and moved._replace(answers={**self.answers, **given})


def new_task(id_: str, call: Call, answers: JSONObject, now_ms: int) -> Task:
    """A task that carries out ``call``, of whose asks these are answered."""
    params = {name: value for name, value in call.params.items() if name not in _NOT_KEPT}
    return Task(id_, params, answers, now_ms, now_ms)


def call_of(task: Task) -> Call:
    """The call that a task carries out; its progress and its log have no receiver."""
    return enveloped_call(task.id, METHOD, task.params)


def handle(task: Task) -> dict[str, JSON]:
    """A Task object: what a client polls with, and how long it may."""
    body: dict[str, JSON] = {
        "taskId": task.id,
        "status": task.status.value,
        "createdAt": _to_text(task.created_ms),
        "lastUpdatedAt": _to_text(task.updated_ms),
        "ttlMs": task.expires_ms - task.created_ms,
        "pollIntervalMs": POLL_INTERVAL_MS,
    }
    return {**body, "statusMessage": task.message} if task.message else body


def created(task: Task) -> JSONObject:
    """A CreateTaskResult: the answer to the call that became a task."""
    return {"resultType": "task", **handle(task)}


def detailed(task: Task) -> JSONObject:
    """A DetailedTask: the handle, and what the status brings with it."""
    member = _OUTCOMES.get(task.status)
    return {**handle(task), member: task.outcome} if member else handle(task)


def to_text(task: Task) -> str:
    """The task as it is kept."""
    return compact({**task._asdict(), "status": task.status.value})


def from_text(text: str) -> Task:
    fields: dict[str, JSON] = read_value(text)
    return Task(**{**fields, "status": Status(fields["status"])})


def _to_text(milliseconds: int) -> str:
    """ISO 8601, UTC."""
    from datetime import UTC, datetime

    moment = datetime.fromtimestamp(milliseconds / 1_000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
