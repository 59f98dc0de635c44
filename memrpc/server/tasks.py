"""Tasks: handlers that go on after their call has been answered.

Theory of operation.  A handler that will take long says ``ctx.defer()``.  If the client knows
tasks, that ends its run: the task is stored, the call is answered with a handle, and the handler
runs again from the top, in the connection's group.  A question to the client ends that run as
well; the task then waits in the store and nowhere else, and whichever process is sent the last
answer runs the handler again.

Each change puts the next version of a task in the place of the one that was read, so of two that
race (an end and a cancel, two answers) one comes second, reads again and may find that the
diagram leads nowhere any more.  While a handler runs, its task is touched every ``BEAT_S``: one
that works and is not touched has lost its process, and whoever asks for it is told so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from anyio import (
    CancelScope,
    create_task_group,
    get_cancelled_exc_class,
    move_on_after,
    sleep,
)

from memrpc.protocol import tasks
from memrpc.protocol.tasks import Status, Task
from memrpc.server.context import Context, InputRequired
from memrpc.server.faults import invalid_params
from memrpc.server.ports import TaskStore
from memrpc.server.rounds import error_response, input_requests, is_stopped, respond
from memrpc.server.service import Change
from memrpc.server.tool_calls import call_tool
from memrpc.wire.errors import ErrorCode
from memrpc.wire.messages import JSON, JSONObject, Response

if TYPE_CHECKING:
    from memrpc.server.connection import Connection

BEAT_S: Final = 2.0
ENDING_S: Final = 0.5  # for storing how a run ended while the server stops


@dataclass(slots=True, eq=False)
class Run:
    """A handler at work for a task, and what it last said of its progress."""

    scope: CancelScope = field(default_factory=CancelScope)
    message: str = ""


class State(NamedTuple):
    """Where a run has come to, and what that brings with it."""

    status: Status
    outcome: JSON
    message: str = ""


@dataclass(slots=True, eq=False)
class TaskContext(Context):
    """A call that has been answered with a task."""

    run: Run = field(kw_only=True)

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Say it in the task's message: tasks have no progress notifications."""
        count = f"{done:g}" if total is None else f"{done:g} of {total:g}"
        self.run.message = f"{count}: {message}" if message else count

    def defer(self, *, required: bool = False) -> None:
        """It has been deferred."""


class Tasks:
    """The tasks of one connection; ``store`` may be shared with other processes."""

    def __init__(self, peer: Connection, store: TaskStore | None) -> None:
        self._peer = peer
        self._store = store or MemoryTasks()
        self._runs: dict[str, Run] = {}

    async def begin(self, ctx: Context) -> JSONObject:
        """Store a task for a call and begin its work; the answer to the call.

        A cancel before the answer leaves a task that nobody works on or knows of.
        """
        task = tasks.new_task(self._peer.ports.new_id(), ctx.call, ctx.answers, self._now_ms())
        await self._store.add(task)
        self._start(task)
        return tasks.created(task)

    async def show(self, task_id: str) -> JSONObject:
        """Where a task stands."""
        return tasks.detailed(self._with_message(await self._known(task_id)))

    async def answer(self, task_id: str, responses: JSONObject) -> None:
        """Take answers to what a task asked; what it did not ask is ignored."""
        await self._known(task_id)
        task = await self._change(task_id, lambda task, now: task.answer(responses, now))
        if task is not None and task.status is Status.WORKING:
            self._start(task)

    async def cancel(self, task_id: str) -> None:
        """Stop a task's work; one that has ended stays as it is."""
        await self._known(task_id)
        await self._move(task_id, State(Status.CANCELLED, None))
        if task_id in self._runs:
            self._runs[task_id].scope.cancel()

    async def tell(self, task_ids: Sequence[str]) -> None:
        """Publish where these tasks stand, for a client that has begun to listen."""
        for task_id in task_ids:
            task = await self._store.find(task_id, self._now_ms())
            if task is not None:
                self._publish(task)

    def close(self) -> None:
        """Stop all work: nobody can ask this process for it any more."""
        for run in self._runs.values():
            run.scope.cancel()

    # The store

    async def _known(self, task_id: str) -> Task:
        """The task, unless there is none: then the request is wrong."""
        now_ms = self._now_ms()
        task = await self._store.find(task_id, now_ms)
        if task is not None and task.is_lost(now_ms) and task_id not in self._runs:
            task = await self._move(task_id, _LOST)
        if task is None:
            raise invalid_params("Unknown task: there never was one of this id, or it has expired")
        return task

    async def _move(self, task_id: str, state: State) -> Task | None:
        return await self._change(
            task_id, lambda task, now: task.move(state.status, now, state.message, state.outcome)
        )

    async def _change(
        self, task_id: str, change: Callable[[Task, int], Task | None]
    ) -> Task | None:
        """Store what ``change`` makes of a task; None if that is nothing, or there is no task."""
        while (task := await self._store.find(task_id, self._now_ms())) is not None:
            changed = change(task, self._now_ms())
            if changed is None:
                return None
            if await self._store.replace(changed):
                if (changed.status, changed.message) != (task.status, task.message):
                    self._publish(changed)
                return changed
        return None

    def _publish(self, task: Task) -> None:
        self._peer.publish(Change("task", task.id, tasks.detailed(task)))

    def _with_message(self, task: Task) -> Task:
        run = self._runs.get(task.id)
        return task._replace(message=run.message) if run and run.message else task

    def _now_ms(self) -> int:
        return int(self._peer.ports.now_s() * 1_000)

    # The work

    def _start(self, task: Task) -> None:
        run = self._runs[task.id] = Run()
        self._peer.spawn(self._run, task, run)

    async def _run(self, task: Task, run: Run) -> None:
        """Run the handler once, and store how it ended, however it ended."""
        state = _STOPPED
        try:
            with run.scope:
                async with create_task_group() as helpers:
                    helpers.start_soon(self._beat, task.id, run)
                    state = await self._handle(task, run)
                    helpers.cancel_scope.cancel()
        finally:
            del self._runs[task.id]
            with move_on_after(ENDING_S if state is _STOPPED else None, shield=True):
                await self._note(task.id, state)

    async def _handle(self, task: Task, run: Run) -> State:
        """What the call would have been answered with, or what it asks of the client.

        A handler that raises a cancellation of its own ends itself, not the server.
        """
        call, peer = tasks.call_of(task), self._peer
        ctx = TaskContext(call, peer, task.answers, run=run)
        try:
            return _state_of(respond(call, await call_tool(peer.service, ctx), peer))
        except InputRequired as question:
            return State(Status.INPUT_REQUIRED, input_requests(call, question))
        except get_cancelled_exc_class() as error:
            if is_stopped():
                raise
            return _state_of(error_response(error, call, peer))
        except (Exception, SystemExit) as error:  # noqa: BLE001 -- the request's boundary
            return _state_of(error_response(error, call, peer))

    async def _beat(self, task_id: str, run: Run) -> None:
        """Say that the task is being worked on; stop when that is in vain."""
        while True:
            await sleep(BEAT_S)
            if not await self._note(task_id, State(Status.WORKING, None, run.message)):
                run.scope.cancel()

    async def _note(self, task_id: str, state: State) -> bool:
        """Store where a run has come to; False where the task has ended otherwise.

        A store that fails must not end the work: what it does not learn of counts as lost.
        """
        try:
            return await self._move(task_id, state) is not None
        except Exception as error:  # noqa: BLE001 -- nobody waits for an answer
            self._peer.ports.log("warning", "task_not_stored", reason=type(error).__name__)
            return True


def _state_of(response: Response) -> State:
    if response.error is None:
        return State(Status.COMPLETED, response.result)
    code, message, data = response.error
    error = {"code": int(code), "message": message}
    return State(Status.FAILED, error if data is None else {**error, "data": data}, message)


def _failed(message: str) -> State:
    error = {"code": int(ErrorCode.INTERNAL_ERROR), "message": message}
    return State(Status.FAILED, error, message)


_STOPPED: Final = _failed("The server was stopped before the task had ended; call again")
_LOST: Final = _failed("The server that worked on the task is gone; call again")


class MemoryTasks:
    """Implements ``TaskStore`` for as long as the process lives."""

    def __init__(self) -> None:
        self._kept: dict[str, Task] = {}

    async def add(self, task: Task) -> None:
        """Keep a task and drop those that have expired."""
        now_ms = task.created_ms
        self._kept = {id_: kept for id_, kept in self._kept.items() if kept.expires_ms > now_ms}
        self._kept[task.id] = task

    async def find(self, task_id: str, now_ms: int) -> Task | None:
        task = self._kept.get(task_id)
        return task if task is not None and task.expires_ms > now_ms else None

    async def replace(self, task: Task) -> bool:
        kept = self._kept.get(task.id)
        if kept is None or kept.version != task.version - 1:
            return False
        self._kept[task.id] = task
        return True
