"""The tasks that run handlers: order, fairness, and cancels that hit one call only."""

from __future__ import annotations

from itertools import pairwise

import anyio
import anyio.lowlevel
import pytest

from memrpc.protocol.calls import Call, Client
from memrpc.protocol.revisions import REVISIONS
from memrpc.server.crew import CALL_BYTES, MAX_MEMBERS, TURN, Active, Crew

pytestmark = pytest.mark.anyio


@pytest.fixture(params=["asyncio"])
def anyio_backend(request):
    return request.param


def active(number: int) -> Active:
    revision = REVISIONS["2025-11-25"]
    call = Call(number, "tools/call", {}, revision, Client({}, {}), None, None)
    return Active(call, CALL_BYTES + 10, None)


class Desk:
    """Notes what is served; a call in ``held`` waits for its event, and may ignore its cancel."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.done: list[int] = []
        self.held: dict[int, anyio.Event] = {}
        self.stubborn: set[int] = set()
        self.changed = anyio.Event()

    async def serve(self, item: Active) -> None:
        number = item.call.id
        self._note(self.begun, number)
        if number in self.held:
            with anyio.CancelScope(shield=number in self.stubborn):
                await self.held[number].wait()
        self._note(self.done, number)

    def _note(self, where: list[int], number: int) -> None:
        where.append(number)
        self.changed.set()
        self.changed = anyio.Event()

    async def until(self, condition) -> None:
        with anyio.fail_after(5):
            while not condition():
                await self.changed.wait()


async def test_calls_that_wait_for_nothing_are_served_in_their_order():
    desk = Desk()
    crew = Crew(desk.serve)
    async with anyio.create_task_group() as tasks:
        for number in range(10):
            crew.add(active(number))
        assert crew.waiting_bytes == 10 * (10 + CALL_BYTES)
        crew.begin(tasks)
        await desk.until(lambda: len(desk.done) == 10)
        assert desk.done == list(range(10))
        assert crew.waiting_bytes == 0
        assert not crew.is_wanted
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("others", [0, 5])
async def test_others_run_after_every_few_calls_that_wait_for_nothing(others: int):
    """Be it that members are at rest, from calls that waited before, or are new."""
    desk, seen, count = Desk(), [0], MAX_MEMBERS * TURN
    desk.held = {-1 - number: anyio.Event() for number in range(others)}

    async def other() -> None:
        while len(desk.done) < others + count:
            await anyio.lowlevel.checkpoint()
            seen.append(len(desk.done) - others)

    crew = Crew(desk.serve)
    async with anyio.create_task_group() as tasks:
        crew.begin(tasks)
        for number in desk.held:
            crew.add(active(number))
        await desk.until(lambda: len(desk.begun) == others)
        for event in desk.held.values():
            event.set()
        await desk.until(lambda: len(desk.done) == others)
        await anyio.wait_all_tasks_blocked()
        for number in range(count):
            crew.add(active(number))
        await other()
        tasks.cancel_scope.cancel()
    assert max(after - before for before, after in pairwise(seen)) <= 2 * TURN
    assert desk.done[others:] == list(range(count))


async def test_no_more_than_the_members_run_at_once():
    desk = Desk()
    desk.held = {number: anyio.Event() for number in range(MAX_MEMBERS + 5)}
    crew = Crew(desk.serve)
    async with anyio.create_task_group() as tasks:
        crew.begin(tasks)
        for number in desk.held:
            crew.add(active(number))
        await desk.until(lambda: len(desk.begun) == MAX_MEMBERS)
        assert crew.is_wanted
        desk.held[0].set()
        await desk.until(lambda: MAX_MEMBERS in desk.begun)
        tasks.cancel_scope.cancel()


@pytest.mark.parametrize("is_stubborn", [False, True])
async def test_a_cancel_ends_its_call_and_harms_no_later_one(is_stubborn):
    desk = Desk()
    desk.held = {1: anyio.Event(), 2: anyio.Event()}
    desk.stubborn = {1} if is_stubborn else set()
    crew = Crew(desk.serve)
    async with anyio.create_task_group() as tasks:
        crew.begin(tasks)
        first = active(1)
        crew.add(first)
        await desk.until(lambda: desk.begun == [1])
        first.scope.cancel()
        desk.held[1].set()
        crew.add(active(2))
        crew.add(active(3))
        await desk.until(lambda: 2 in desk.begun and 3 in desk.done)
        desk.held[2].set()
        await desk.until(lambda: 2 in desk.done)
        assert (1 in desk.done) is is_stubborn
        crew.add(active(4))
        await desk.until(lambda: 4 in desk.done)
        tasks.cancel_scope.cancel()


async def test_a_cancel_that_comes_as_its_call_ends_harms_no_later_one():
    desk = Desk()
    items = [active(number) for number in range(3)]

    async def serve(item: Active) -> None:
        if item.call.id == 0:
            item.scope.cancel()  # Nothing waits any more, so nothing is interrupted.
            desk.done.append(0)
            return
        await anyio.lowlevel.checkpoint()
        await desk.serve(item)

    crew = Crew(serve)
    async with anyio.create_task_group() as tasks:
        for item in items:
            crew.add(item)
        crew.begin(tasks)
        await desk.until(lambda: set(desk.done) == {0, 1, 2})
        tasks.cancel_scope.cancel()
