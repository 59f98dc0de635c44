"""What a handler may do while it serves one call: report, log, ask, pause.

It never sees a JSON-RPC message.  Everything here stops having effect once the call is answered
or cancelled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from memrpc.protocol import projection
from memrpc.protocol.asks import Ask, ask_params, may_ask
from memrpc.protocol.calls import Call
from memrpc.protocol.capabilities import TASKS, declares
from memrpc.protocol.envelope import as_object
from memrpc.protocol.revisions import Era
from memrpc.server.faults import MissingCapabilityError, Refusal, RefusedError
from memrpc.server.ports import Ports
from memrpc.server.progress import Progress
from memrpc.wire.codec import exact_number
from memrpc.wire.messages import JSON, JSONObject

if TYPE_CHECKING:
    from memrpc.server.service import Change, Service
    from memrpc.server.tasks import Tasks


class InputRequired(Exception):
    """The client must answer these before the call can go on (2026-07-28)."""

    def __init__(self, asks: Mapping[str, Ask]) -> None:
        super().__init__(", ".join(asks))
        self.asks = asks


class Deferred(Exception):
    """The call goes on as a task (2026-07-28 with the extension)."""


class Peer(Protocol):
    """The part of the connection that a context may use."""

    ports: Ports
    service: Service

    @property
    def tasks(self) -> Tasks: ...
    def publish(self, change: Change) -> None: ...
    def hear_of_lists(self, call: Call) -> None: ...
    def notify(self, call: Call, method: str, params: JSONObject) -> None: ...
    async def request(self, ask: Ask, params: JSONObject) -> JSONObject: ...


@dataclass(slots=True, eq=False)
class Context:
    """One call, as its handler sees it."""

    call: Call
    peer: Peer
    answers: JSONObject
    _progress: Progress | None = None

    @property
    def client_name(self) -> str | None:
        """What the client calls itself, if it says."""
        return self.call.client.name

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Tell the client how far the work is, if it asked to be told."""
        if self.call.progress_token is None:
            return
        if self._progress is None:
            token = exact_number(self.call.progress_token)
            self._progress = Progress(token, self._send_progress, self.peer.ports.monotonic)
        self._progress.report(done, total, message)

    def flush_progress(self) -> None:
        """Send the last value; the answer follows."""
        if self._progress is not None:
            self._progress.flush()

    def _send_progress(self, params: dict[str, JSON]) -> None:
        shaped = projection.progress(params, self.call.revision)
        self.peer.notify(self.call, "notifications/progress", shaped)

    def wants_log(self, level: str) -> bool:
        """True if ``log`` would send a message of this level, for those who make one at a cost."""
        return self.call.wants_log(level)

    def log(self, level: str, data: JSON, logger: str = "memrpc") -> None:
        """Send a log message to the client, if it wants this level for this call."""
        if self.wants_log(level):
            params = {"level": level, "logger": logger, "data": data}
            self.peer.notify(self.call, "notifications/message", params)

    def can_ask(self, ask: Ask) -> bool:
        """True if the client can be asked this."""
        return may_ask(ask, self.call.revision, self.call.client.capabilities)

    async def ask(self, key: str, ask: Ask) -> JSONObject:
        """The client's answer.  Ask before anything is written: the handler may run again."""
        answers = await self.ask_all({key: ask})
        return answers[key]

    async def ask_all(self, asks: Mapping[str, Ask]) -> Mapping[str, JSONObject]:
        """The client's answers to several asks at once.

        Raises ``MissingCapabilityError`` where the client cannot answer, ``RefusedError`` where it
        would not or did not in time.  In 2026-07-28 it ends the handler, which runs again from
        the top when the answers come.
        """
        for ask in asks.values():
            if not self.can_ask(ask):
                raise MissingCapabilityError(ask.needs)
        if self.call.revision.era is Era.ENVELOPE:
            return self._answered(asks)
        return {key: await self._request(ask) for key, ask in asks.items()}

    async def _request(self, ask: Ask) -> JSONObject:
        return await self.peer.request(ask, ask_params(ask, self.call.revision))

    def _answered(self, asks: Mapping[str, Ask]) -> Mapping[str, JSONObject]:
        missing = {k: ask for k, ask in asks.items() if not isinstance(self.answers.get(k), dict)}
        if missing:
            raise InputRequired(missing)
        return {key: self.answers[key] for key in asks}

    def defer(self, *, required: bool = False) -> None:
        """Answer with a task and go on behind it, where client and server know tasks.

        Defer before anything is written: it ends the handler, which runs again from the top as
        the task.  What was asked before has been answered by then; what is asked after it is
        asked through the task.  Elsewhere the call goes on as it is, or where a task is
        ``required`` raises ``MissingCapabilityError``.
        """
        knows = self.call.revision.era is Era.ENVELOPE and self.peer.service.tasks is not None
        if knows and declares(self.call.client.capabilities, TASKS):
            raise Deferred
        if required:
            raise MissingCapabilityError(TASKS)

    async def checkpoint(self) -> None:
        """Let others run, and stop here if the call has been cancelled."""
        from anyio.lowlevel import checkpoint

        await checkpoint()


def answer_of(result: JSONObject) -> JSONObject:
    """The content of an accepted form.  Raises ``RefusedError`` if the user did not accept."""
    if result.get("action") != "accept":
        action = str(result.get("action", "cancel"))
        raise RefusedError(Refusal("invalid_state", f"The user chose to {action} the form"))
    return as_object(result.get("content"))
