"""One peer: bytes in, decisions obeyed, bytes out.  It owns no descriptor and imports no loop.

Theory of operation.  ``feed`` takes bytes whenever they come, even before the event loop exists,
and never waits: each line is decided by the session at once, so a cancel acts however much work
is queued before it.  What needs no handler is answered in place.  A call that needs one waits in
the crew's queue until ``begin`` has lent a task group, and until a member of the crew is free.

Invariants.  Every line to the peer goes through ``_outbox``, in one order.  Every call leaves the
session's ledger once: by ``_finish`` with its answer or by ``_cancel`` without; nothing is sent
for it afterwards.  ``except Exception`` stands here once: the request's boundary.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from functools import cached_property
from typing import TYPE_CHECKING, Final

from memrpc.protocol.asks import Ask
from memrpc.protocol.calls import Call, Cancel, Decision, Dispatch, Notice, Reply, Resolve
from memrpc.protocol.session import Session
from memrpc.server.asking import Asking
from memrpc.server.batches import Collector
from memrpc.server.crew import CALL_BYTES, Active, Crew
from memrpc.server.faults import ProtocolFault
from memrpc.server.methods import HANDLED, IN_PLACE, check_client, check_params
from memrpc.server.outbox import Outbox
from memrpc.server.ports import Ports
from memrpc.server.rounds import error_response, respond, serve_round, unwritable
from memrpc.server.service import Change, Service
from memrpc.server.subscriptions import Subscriptions, closing_notice, closing_result
from memrpc.wire.codec import decode, decode_overlong, encode, join_batch
from memrpc.wire.errors import ErrorCode
from memrpc.wire.framing import MAX_LINE_BYTES, LineSplitter, Overlong
from memrpc.wire.messages import (
    Batch,
    Error,
    JSONObject,
    Malformed,
    Notification,
    Outbound,
    Response,
)

if TYPE_CHECKING:
    import anyio
    from anyio.abc import TaskGroup

    from memrpc.server.tasks import Tasks

PAUSE_READING_ABOVE_BYTES: Final = 64 * 1024 * 1024
WATCH_AGAIN_S: Final = 5.0
MAX_BAD_LINES: Final = 16  # consecutive; a peer that answers errors with errors must not loop


class Connection:
    """Feed it bytes, write what ``outbox`` holds whenever ``wake`` is called."""

    def __init__(self, service: Service, ports: Ports) -> None:
        self.service = service
        self.ports = ports
        self.session = Session(service.capabilities())
        self.outbox = Outbox()
        self.wake: Callable[[], None] = _do_nothing
        self.subscriptions = Subscriptions(
            self.session, service.serves, self._send, self._send_once
        )
        self._asking = Asking(self.session, self._send)
        self._splitter = LineSplitter(MAX_LINE_BYTES)
        self._active: dict[Call, Active] = {}
        self._crew = Crew(self._serve)
        self._bad_lines = 0
        self._tasks: TaskGroup | None = None
        self._watch: anyio.CancelScope | None = None
        self._on_idle: Callable[[], None] = _do_nothing

    # What the driver uses

    @property
    def needs_loop(self) -> bool:
        """True once something has come that cannot be answered in place."""
        return self._crew.is_wanted or self.subscriptions.is_watched

    @property
    def is_idle(self) -> bool:
        return not self._active

    @property
    def is_congested(self) -> bool:
        """True while so much is unsent or undone that reading must pause."""
        held = self.outbox.size_bytes + self._crew.waiting_bytes + self._splitter.held_bytes
        return held > PAUSE_READING_ABOVE_BYTES

    def feed(self, chunk: bytes) -> None:
        """Take bytes as they come."""
        for line in self._splitter.feed(chunk):
            self._receive(line)

    def finish(self) -> None:
        """The peer will send no more; its last line may lack a line end."""
        for line in self._splitter.finish():
            self._receive(line)

    def begin(self, tasks: TaskGroup) -> None:
        """Run handlers in this group from now on."""
        self._tasks = tasks
        tasks.start_soon(self._work)
        self._crew.begin(tasks)
        self._tend_watch()

    def when_idle(self, call: Callable[[], None]) -> None:
        """Call this as soon as every accepted request is settled."""
        self._on_idle = call
        if self.is_idle:
            call()

    def close(self) -> None:
        """End the streams that are open, start no handler; nothing else is owed to anyone."""
        if "tasks" in self.__dict__:
            self.tasks.close()
        self._tasks = None
        for call in self.subscriptions.close():
            if self.session.settle(call):
                self._send(respond(call, closing_result(call), self))
                self._send(closing_notice(call))

    # What goes on behind its answer

    @cached_property
    def tasks(self) -> Tasks:
        """Made by the first call that needs them."""
        from memrpc.server.tasks import Tasks

        return Tasks(self, self.service.tasks)

    def spawn(self, run: Callable[..., Coroutine[None, None, None]], *arguments: object) -> None:
        """Run something for as long as it takes, unless the connection is closing."""
        if self._tasks is not None:
            self._tasks.start_soon(run, *arguments)

    # Lines

    def _receive(self, line: bytes | Overlong) -> None:
        message = decode_overlong(line) if isinstance(line, Overlong) else decode(line)
        size = len(line) if isinstance(line, bytes) else 0
        if self.ports.traces:
            from memrpc.server.tracing import trace_received

            trace_received(self.ports.log, message, size)
        if isinstance(message, Batch):
            self._receive_batch(message, size)
            return
        if self._is_bearable(message):
            self._obey(self.session.receive(message), size, None)

    def _is_bearable(self, message: object) -> bool:
        """False once too many lines in a row were unreadable: answering them feeds a loop.

        A line whose id could be read is a request, and a request is always answered.
        """
        if not isinstance(message, Malformed) or message.id is not None:
            self._bad_lines = 0
            return True
        self._bad_lines += 1
        if self._bad_lines == MAX_BAD_LINES:
            self.ports.log("warning", "too_many_bad_lines")
        return self._bad_lines <= MAX_BAD_LINES

    def _receive_batch(self, batch: Batch, size: int) -> None:
        refusal = _NO_BATCHES if not self.session.accepts_batches else _EMPTY_BATCH
        if not self.session.accepts_batches or not batch.items:
            self._send(Response(None, error=Error(ErrorCode.INVALID_REQUEST, refusal)))
            return
        collector = Collector(self._send_batch)
        for item in batch.items:
            self._obey(self.session.receive_in_batch(item), size // len(batch.items), collector)
        collector.settle(None)

    # Decisions

    def _obey(self, decision: Decision, size: int, collector: Collector | None) -> None:
        match decision:
            case Dispatch(call=call):
                call.size_bytes = size
                self._dispatch(Active(call, CALL_BYTES + size, collector))
            case Cancel(call=call):
                self._cancel(call)
            case Reply(response=response):
                (collector.add if collector else self._send)(response)
            case Resolve(id=id_, response=response):
                self._asking.resolve(id_, response)
            case Notice(method="notifications/initialized"):
                self._asking.operate()
            case _:
                pass

    def _dispatch(self, active: Active) -> None:
        call = active.call
        if active.collector:
            active.collector.expect()
        self._active[call] = active
        try:
            check_client(call)
            check_params(call)
            self._start(active)
        except Exception as error:  # noqa: BLE001 -- the request's boundary, for what runs in place
            self._finish(active, error_response(error, call, self))

    def _start(self, active: Active) -> None:
        call = active.call
        in_place = IN_PLACE.get(call.method)
        if in_place is not None:
            self._finish(active, respond(call, in_place(self.service, call), self))
            self._tend_watch()
        elif call.method == "subscriptions/listen":
            del self._active[call]
            self._listen(call)
        elif call.method in HANDLED:
            self._crew.add(active)
        else:
            raise ProtocolFault(ErrorCode.METHOD_NOT_FOUND, f"Method not found: {call.method}")

    def _listen(self, call: Call) -> None:
        listen = self.subscriptions.listen(call)
        self._tend_watch()
        if listen.task_ids:
            self.spawn(self.tasks.tell, listen.task_ids)

    def _cancel(self, call: Call) -> None:
        self.subscriptions.end(call)
        self._tend_watch()
        active = self._active.pop(call, None)
        if active is None:
            return
        if active.scope is not None:
            active.scope.cancel()
        if active.collector is not None:
            active.collector.settle(None)
        self._check_idle()

    # Handlers

    async def _serve(self, active: Active) -> None:
        """Run a call's handler, unless the call was cancelled while it waited."""
        if not self.session.is_open(active.call):
            self.wake()  # Nothing is written, but there may be room to read again.
            return
        run = HANDLED[active.call.method]
        self._finish(active, await serve_round(run, active.call, self))

    def _finish(self, active: Active, response: Response) -> None:
        """Answer a call, once, and only if it was not cancelled."""
        if not self.session.settle(active.call):
            return
        self._active.pop(active.call, None)
        if active.collector is not None:
            active.collector.settle(response)
        else:
            self._send(response)
        self._check_idle()

    def _check_idle(self) -> None:
        if self.is_idle:
            self._on_idle()

    # Output

    def _send(self, message: Outbound) -> None:
        self.outbox.put(self._line(message))
        self.wake()

    def _send_once(self, message: Notification) -> None:
        """Send what says no more the second time, unless the first still waits to be read."""
        if self.outbox.put_once(self._line(message)):
            self.wake()

    def _send_batch(self, responses: list[Response]) -> None:
        self.outbox.put(join_batch([self._line(response) for response in responses]))
        self.wake()

    def _line(self, message: Outbound) -> bytes:
        """A message as it is written; an answer that JSON cannot say becomes an error."""
        try:
            line = encode(message)
        except (TypeError, ValueError, RecursionError) as error:
            if not isinstance(message, Response):
                raise
            line = encode(Response(message.id, error=unwritable(error, self.ports)))
        if self.ports.traces:
            from memrpc.server.tracing import trace_sent

            trace_sent(self.ports.log, message, len(line))
        return line

    def notify(self, call: Call, method: str, params: JSONObject) -> None:
        """Send a notification that belongs to a call, unless it is settled or the pipe is full."""
        if self.session.is_open(call) and not self.outbox.is_crowded:
            self._send(Notification(method, params))

    async def request(self, ask: Ask, params: JSONObject) -> JSONObject:
        """Ask the client of the handshake session."""
        return await self._asking.request(ask, params)

    # Changes

    def hear_of_lists(self, call: Call) -> None:
        """A session has listed what may become out of date: it is told when that happens."""
        if call.handshake is not None:
            call.handshake.has_listed = True
            self._tend_watch()

    def publish(self, change: Change) -> None:
        """Tell whoever subscribed."""
        self.subscriptions.publish(change)

    def _tend_watch(self) -> None:
        """Look for changes made elsewhere while somebody wants to hear of them, and only then."""
        if self._tasks is None:
            return
        if self.subscriptions.is_watched and self._watch is None:
            self._tasks.start_soon(self._watch_changes)
        elif not self.subscriptions.is_watched and self._watch is not None:
            self._watch.cancel()

    async def _work(self) -> None:
        """Run whatever the application owes in the background."""
        await self.service.background(self.publish)

    async def _watch_changes(self) -> None:
        from anyio import CancelScope

        if self._watch is not None:
            return
        with CancelScope() as self._watch:
            await self._attend()
        self._watch = None
        self._tend_watch()

    async def _attend(self) -> None:
        """Let the application look; if it fails, it is asked again after a while."""
        from anyio import sleep

        try:
            await self.service.watch(self.publish)
        except Exception as error:  # noqa: BLE001 -- the notification boundary
            self.ports.log("warning", "watch_failed", reason=type(error).__name__)
            await sleep(WATCH_AGAIN_S)


def _do_nothing() -> None:
    """Stand in until the driver has said what to do."""


_NO_BATCHES: Final = "Invalid Request: JSON-RPC batches exist only in 2025-03-26 sessions"
_EMPTY_BATCH: Final = "Invalid Request: a batch needs at least one message"
