"""Tasks on a connection in memory: the run behind the answer, its end, and what races with it."""

from __future__ import annotations

from contextlib import asynccontextmanager

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memrpc.protocol import asks
from memrpc.protocol.tasks import KEPT_MS, LOST_AFTER_MS, MOVES, Status
from memrpc.server import tasks
from memrpc.server.contracts import Contract
from memrpc.server.service import Tool, ToolResult
from memrpc.server.tasks import MemoryTasks
from memrpc.server.validation import Schema
from tests.fixture_server import make_service
from tests.loopback import Loopback, running
from tests.peer import INITIALIZED, call, cancel, envelope, initialize, modern, request

pytestmark = pytest.mark.anyio
KNOWS = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
ABLE = {**KNOWS, "elicitation": {}}
ARGUMENTS = {
    "type": "object",
    "properties": {"how": {"type": "string"}, "required": {"type": "boolean"}},
}
YES = {"action": "accept", "content": {"ok": True}}
FORM = asks.elicit_form("Sure?", {"type": "object", "properties": {"ok": {"type": "boolean"}}})


class YieldingTasks(MemoryTasks):
    """A store that lets others run between any two steps, as one on a disk does."""

    async def find(self, task_id, now_ms):
        found = await super().find(task_id, now_ms)
        await anyio.lowlevel.checkpoint()
        return found

    async def replace(self, task):
        await anyio.lowlevel.checkpoint()
        return await super().replace(task)


class Workshop:
    """One tool that defers, then does as told, and remembers what happened to it."""

    def __init__(self) -> None:
        self.runs = 0
        self.cancelled = 0
        self.go = anyio.Event()
        self.store = YieldingTasks()

    async def work(self, ctx, arguments) -> ToolResult:
        ctx.defer(required=arguments.get("required", False))
        self.runs += 1
        ctx.progress(1, 4, "steps")
        ctx.log("error", "not for the client")
        try:
            return await self._do(ctx, arguments.get("how"))
        except anyio.get_cancelled_exc_class():
            self.cancelled += 1
            raise

    async def _do(self, ctx, how) -> ToolResult:
        match how:
            case "wait":
                await self.go.wait()
            case "raise":
                raise ValueError
            case "exit":
                raise SystemExit(3)
            case "cancel itself":
                raise anyio.get_cancelled_exc_class()
            case "ask":
                answers = await ctx.ask_all({"a": FORM, "b": FORM})
                return ToolResult(structured=dict(answers))
            case "nan":
                return ToolResult(structured={"x": float("nan")})
        return ToolResult(structured={"how": how})


@asynccontextmanager
async def workshop(store=None):
    shop = Workshop()
    shop.store = store or shop.store
    contract = Contract("work", "Work", "Works.", Schema(ARGUMENTS))
    service = make_service(tools={"work": Tool(contract, shop.work)}, tasks=shop.store)
    async with running(service) as loopback:
        loopback.shop = shop
        yield loopback


async def result(loopback: Loopback, id_, method, params, capabilities=None) -> dict:
    written = loopback.send(modern(id_, method, params, envelope(capabilities or ABLE)))
    found = [m for m in written + await loopback.settle() if m.get("id") == id_]
    assert len(found) == 1
    return found[0].get("result") or found[0]["error"]


async def begin(loopback: Loopback, how="wait", capabilities=None, id_="begin") -> str:
    params = {"name": "work", "arguments": {"how": how}}
    found = await result(loopback, id_, "tools/call", params, capabilities)
    assert found["resultType"] == "task"
    return found["taskId"]


async def task(loopback: Loopback, task_id: str) -> dict:
    found = await result(loopback, "get", "tasks/get", {"taskId": task_id})
    return {k: v for k, v in found.items() if k not in {"_meta", "resultType"}}


async def status(loopback: Loopback, task_id: str) -> str:
    return (await task(loopback, task_id))["status"]


async def test_the_call_is_answered_while_the_work_goes_on():
    async with workshop() as loopback:
        task_id = await begin(loopback)
        assert await status(loopback, task_id) == "working"
        loopback.shop.go.set()
        await loopback.settle()
        done = await task(loopback, task_id)
        assert done["status"] == "completed"
        assert done["result"]["structuredContent"] == {"how": "wait"}
        assert loopback.shop.runs == 1


async def test_progress_is_the_task_s_message_and_nothing_is_sent_for_it():
    async with workshop() as loopback:
        meta = envelope(KNOWS, **{"progressToken": 1, "io.modelcontextprotocol/logLevel": "debug"})
        params = {"name": "work", "arguments": {"how": "wait"}}
        loopback.send(modern(1, "tools/call", params, meta))
        (answer,) = await loopback.settle()
        shown = await task(loopback, answer["result"]["taskId"])
        assert shown["statusMessage"] == "1 of 4: steps"


@pytest.mark.parametrize("capabilities", [{}, {"extensions": {"com.example/x": {}}}])
async def test_who_does_not_know_tasks_is_answered_when_the_work_is_done(capabilities):
    async with workshop() as loopback:
        params = {"name": "work", "arguments": {"how": None}}
        found = await result(loopback, 1, "tools/call", params, capabilities or {"roots": {}})
        assert found["structuredContent"] == {"how": None}
        assert "taskId" not in found


async def test_a_session_never_sees_a_task_though_its_client_declares_the_extension():
    async with workshop() as loopback:
        loopback.send(initialize(capabilities=KNOWS), INITIALIZED)
        assert "extensions" not in loopback.written[0]["result"]["capabilities"]
        loopback.send(
            call(1, "work"),
            call(2, "work", {"required": True}),
            request(3, "tasks/get", {"taskId": "x"}),
        )
        await loopback.settle()
        answers = {m["id"]: m for m in loopback.written if "id" in m}
        assert answers[1]["result"]["structuredContent"] == {"how": None}
        assert "not_supported" in answers[2]["result"]["content"][0]["text"]
        assert answers[3]["error"]["code"] == -32601


async def test_a_tool_s_failures_complete_a_task_and_only_protocol_errors_fail_it():
    async with workshop() as loopback:
        for how in ("raise", "exit", "cancel itself", "nan"):
            task_id = await begin(loopback, how, id_=how)
            done = await task(loopback, task_id)
            assert done["status"] == "completed", how
            assert done["result"]["isError"] == (how != "nan")
        unable = await task(loopback, await begin(loopback, "ask", KNOWS))
        assert (unable["status"], unable["error"]["code"]) == ("failed", -32021)
        assert unable["statusMessage"] == unable["error"]["message"]
        assert loopback.send(modern("alive", "server/discover"))[0]["result"]


async def test_a_cancel_stops_the_work_and_stays():
    async with workshop() as loopback:
        task_id = await begin(loopback)
        await result(loopback, 1, "tasks/cancel", {"taskId": task_id})
        assert loopback.shop.cancelled == 1
        loopback.shop.go.set()
        await loopback.settle()
        assert await status(loopback, task_id) == "cancelled"
        await result(loopback, 2, "tasks/cancel", {"taskId": task_id})
        assert await status(loopback, task_id) == "cancelled"


async def test_a_cancel_after_the_end_changes_nothing():
    async with workshop() as loopback:
        task_id = await begin(loopback, None)
        await result(loopback, 1, "tasks/cancel", {"taskId": task_id})
        assert await status(loopback, task_id) == "completed"


async def test_the_call_s_own_cancel_does_not_reach_a_task():
    """Source: the extension, Task Cancellation: the notification is not for tasks."""
    async with workshop() as loopback:
        task_id = await begin(loopback)
        loopback.send(cancel("begin"))
        assert await status(loopback, task_id) == "working"
        assert loopback.shop.cancelled == 0


async def test_a_call_cancelled_before_its_task_is_stored_starts_no_work():
    class SlowStore(MemoryTasks):
        async def add(self, task):
            await super().add(task)
            await anyio.sleep_forever()

    async with workshop(SlowStore()) as loopback:
        params = {"name": "work", "arguments": {}}
        loopback.send(modern(1, "tools/call", params, envelope(KNOWS)), cancel(1))
        await loopback.settle()
        loopback.send(modern(2, "tools/call", params, envelope(KNOWS)))
        await loopback.settle()
        loopback.send(cancel(2))
        assert await loopback.settle() == []
        assert loopback.shop.runs == 0


async def test_answers_in_parts_run_the_handler_once_more_when_the_last_is_there():
    async with workshop() as loopback:
        task_id = await begin(loopback, "ask")
        asked = await task(loopback, task_id)
        assert (asked["status"], set(asked["inputRequests"])) == ("input_required", {"a", "b"})
        for number, given in enumerate([{"x": YES}, {"a": YES}, {"a": {"action": "decline"}}]):
            params = {"taskId": task_id, "inputResponses": given}
            await result(loopback, number, "tasks/update", params)
        assert set((await task(loopback, task_id))["inputRequests"]) == {"b"}
        assert loopback.shop.runs == 1
        params = {"taskId": task_id, "inputResponses": {"b": YES}}
        await result(loopback, 9, "tasks/update", params)
        done = await task(loopback, task_id)
        assert done["result"]["structuredContent"] == {"a": YES, "b": YES}
        assert loopback.shop.runs == 2


async def test_two_answers_at_once_are_both_kept_and_the_handler_runs_once():
    async with workshop() as loopback:
        task_id = await begin(loopback, "ask")
        loopback.send(
            *(
                modern(
                    key,
                    "tasks/update",
                    {"taskId": task_id, "inputResponses": {key: YES}},
                    envelope(ABLE),
                )
                for key in "ab"
            )
        )
        await loopback.settle()
        assert (await task(loopback, task_id))["status"] == "completed"
        assert loopback.shop.runs == 2


async def test_a_cancelled_task_takes_no_answers():
    async with workshop() as loopback:
        task_id = await begin(loopback, "ask")
        await result(loopback, 1, "tasks/cancel", {"taskId": task_id})
        params = {"taskId": task_id, "inputResponses": {"a": YES, "b": YES}}
        assert (await result(loopback, 2, "tasks/update", params))["resultType"] == "complete"
        assert await status(loopback, task_id) == "cancelled"
        assert loopback.shop.runs == 1


async def test_another_connection_goes_on_with_a_task_that_waited_for_input():
    """A parked task is in the store and nowhere else."""
    async with workshop() as first:
        task_id = await begin(first, "ask")
        store = first.shop.store
    async with workshop(store) as second:
        params = {"taskId": task_id, "inputResponses": {"a": YES, "b": YES}}
        await result(second, 1, "tasks/update", params)
        assert await status(second, task_id) == "completed"


async def test_work_that_the_server_s_end_stopped_has_failed():
    async with workshop() as first:
        task_id = await begin(first)
        store = first.shop.store
    assert first.shop.cancelled == 1
    kept = await store.find(task_id, 0)
    assert (kept.status, kept.outcome["code"]) == (Status.FAILED, -32603)


async def test_the_end_of_the_connection_stops_the_work_at_once():
    async with workshop() as loopback:
        task_id = await begin(loopback)
        loopback.connection.close()
        with anyio.fail_after(5):
            while (kept := await loopback.shop.store.find(task_id, 0)).status is Status.WORKING:
                pass
        assert (kept.status, loopback.shop.cancelled) == (Status.FAILED, 1)


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
async def test_a_method_of_tasks_is_refused_to_who_does_not_know_them(method):
    async with workshop() as loopback:
        params = {"taskId": await begin(loopback), "inputResponses": {}}
        error = await result(loopback, 1, method, params, {"elicitation": {}})
        assert (error["code"], error["data"]) == (-32021, {"requiredCapabilities": KNOWS})
        assert await status(loopback, params["taskId"]) == "working"


async def test_a_task_whose_process_is_gone_is_told_to_be_lost_in_time():
    async with workshop() as first:
        task_id = await begin(first)
        kept = await first.shop.store.find(task_id, 0)
    store = MemoryTasks()
    await store.add(kept)
    async with workshop(store) as second:
        second.clock.now_s += LOST_AFTER_MS / 1_000
        assert await status(second, task_id) == "working"
        second.clock.now_s += 1
        lost = await task(second, task_id)
        assert (lost["status"], lost["error"]["code"]) == ("failed", -32603)


async def test_a_task_that_is_worked_on_is_never_lost():
    async with workshop() as loopback:
        task_id = await begin(loopback)
        loopback.clock.now_s += 10 * LOST_AFTER_MS / 1_000
        assert await status(loopback, task_id) == "working"


async def test_work_is_touched_while_it_lasts_and_ends_when_the_task_was_ended_elsewhere(
    monkeypatch,
):
    monkeypatch.setattr(tasks, "BEAT_S", 0)
    async with workshop() as loopback:
        task_id = await begin_busy(loopback)
        store = loopback.shop.store
        loopback.clock.now_s += 5
        while (await store.find(task_id, 0)).updated_ms < loopback.clock.now_s * 1_000:
            await anyio.lowlevel.checkpoint()
        assert (await store.find(task_id, 0)).message == "1 of 4: steps"
        await store.replace((await store.find(task_id, 0)).move(Status.CANCELLED, 0))
        while not loopback.shop.cancelled:
            await anyio.lowlevel.checkpoint()
        assert (await store.find(task_id, 0)).status is Status.CANCELLED


async def begin_busy(loopback: Loopback) -> str:
    """Begin where the beat never rests, so that nothing ever settles."""
    params = {"name": "work", "arguments": {"how": "wait"}}
    loopback.send(modern("begin", "tools/call", params, envelope(KNOWS)))
    while not loopback.take():
        await anyio.lowlevel.checkpoint()
    return loopback.written[-1]["result"]["taskId"]


async def test_a_store_that_fails_neither_ends_the_work_nor_the_server():
    class Failing(MemoryTasks):
        fails = False

        async def replace(self, task):
            if self.fails:
                raise OSError
            return await super().replace(task)

    async with workshop(Failing()) as loopback:
        task_id = await begin(loopback)
        loopback.shop.store.fails = True
        loopback.shop.go.set()
        await loopback.settle()
        assert loopback.logged == [("task_not_stored", {"reason": "OSError"})]
        assert await status(loopback, task_id) == "working"


async def test_a_task_expires_an_hour_after_its_last_change():
    async with workshop() as loopback:
        task_id = await begin(loopback, None)
        loopback.clock.now_s += KEPT_MS / 1_000 - 1
        assert await status(loopback, task_id) == "completed"
        loopback.clock.now_s += 1
        for number, method in enumerate(["tasks/get", "tasks/cancel"]):
            error = await result(loopback, number, method, {"taskId": task_id})
            assert error["code"] == -32602
        await begin(loopback, None, id_="next")
        assert await loopback.shop.store.find(task_id, 0) is None


async def test_a_listener_is_told_where_a_task_stands_and_whatever_it_becomes():
    async with workshop() as loopback:
        task_id = await begin(loopback)
        wish = {"notifications": {"taskIds": [task_id, "no-such"]}}
        loopback.send(modern(7, "subscriptions/listen", wish, envelope(ABLE)))
        told = await loopback.settle()
        assert told[0]["params"]["status"] == "working"
        loopback.shop.go.set()
        (told,) = await loopback.settle()
        assert (told["method"], told["params"]["status"]) == ("notifications/tasks", "completed")
        assert told["params"]["result"]["structuredContent"] == {"how": "wait"}


async def test_nobody_is_told_of_a_task_who_did_not_ask():
    async with workshop() as loopback:
        loopback.send(initialize(), INITIALIZED)
        wish = {"notifications": {"toolsListChanged": True, "taskIds": []}}
        loopback.send(modern(7, "subscriptions/listen", wish))
        await loopback.settle()
        await begin(loopback, None)
        assert await loopback.settle() == []


async def test_a_stream_for_tasks_is_refused_to_who_does_not_know_them():
    async with workshop() as loopback:
        wish = {"notifications": {"taskIds": ["x"]}}
        (refused,) = loopback.send(modern(7, "subscriptions/listen", wish))
        assert refused["error"]["code"] == -32021
        assert refused["error"]["data"] == {"requiredCapabilities": KNOWS}
        assert not loopback.connection.subscriptions.is_watched


async def test_without_a_store_nothing_is_declared_and_every_call_is_answered_whole():
    shop = Workshop()
    contract = Contract("work", "Work", "Works.", Schema(ARGUMENTS))
    async with running(make_service(tools={"work": Tool(contract, shop.work)})) as loopback:
        found = await result(loopback, 1, "tools/call", {"name": "work", "arguments": {}})
        assert found["structuredContent"] == {"how": None}
        declared = await result(loopback, 2, "server/discover", {})
        assert "extensions" not in declared["capabilities"]
        assert (await result(loopback, 3, "tasks/get", {"taskId": "x"}))["code"] == -32601


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("begin"), st.sampled_from(["wait", "ask", None])),
        st.tuples(st.just("go"), st.none()),
        st.tuples(st.just("tasks/cancel"), st.integers(0, 2)),
        st.tuples(st.just("tasks/get"), st.integers(0, 2)),
        st.tuples(st.just("a"), st.integers(0, 2)),
        st.tuples(st.just("b"), st.integers(0, 2)),
        st.tuples(st.just("settle"), st.none()),
    ),
    max_size=25,
)


def as_request(number: int, what: str, on, ids: list[str]) -> dict:
    if what == "begin":
        params = {"name": "work", "arguments": {} if on is None else {"how": on}}
        return modern(number, "tools/call", params, envelope(ABLE))
    params = {"taskId": ids[on] if on < len(ids) else "none"}
    if what in "ab":
        what, params = "tasks/update", {**params, "inputResponses": {what: YES}}
    return modern(number, what, params, envelope(ABLE))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_whatever_comes_in_between_a_task_moves_only_where_the_diagram_leads(steps):
    async def main() -> None:
        async with workshop() as loopback:
            ids: list[str] = []
            seen: dict[str, Status] = {}
            for number, (what, on) in enumerate(steps):
                if what == "go":
                    loopback.shop.go.set()
                elif what != "settle":
                    loopback.send(as_request(number, what, on, ids))
                if what == "settle":
                    await loopback.settle()
                    answered = [m["result"] for m in loopback.written if "result" in m]
                    ids = [r["taskId"] for r in answered if r["resultType"] == "task"]
                    for task_id in ids:
                        kept = await loopback.shop.store.find(task_id, 0)
                        before = seen.get(task_id, kept.status)
                        assert kept.status == before or is_reachable(before, kept.status)
                        seen[task_id] = kept.status
            loopback.shop.go.set()
            await loopback.settle()
            assert loopback.oracle.owes() == []

    anyio.run(main)


def is_reachable(before: Status, after: Status) -> bool:
    """True if some moves lead from one to the other; whoever looks does not see each."""
    return bool(MOVES[before]) and (after is not Status.WORKING or Status.WORKING in MOVES[before])
