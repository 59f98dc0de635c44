"""A connection in memory: arbitrary traffic, broken bytes, and what it owes at the end."""

from __future__ import annotations

import random
from itertools import pairwise

import anyio
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memrpc.server.outbox import Outbox
from memrpc.server.service import Change
from tests.fixture_server import make_service
from tests.loopback import Loopback, running
from tests.peer import INITIALIZED, call, cancel, envelope, initialize, modern, request, to_line

pytestmark = pytest.mark.anyio
IDS = st.sampled_from([1, 2, "1", "a", 0, 10**30])
TOOLS = st.sampled_from(
    ["echo", "slow", "wait", "fail", "nan", "rich", "log_all", "nope", "refuse"]
)
ARGUMENTS = st.sampled_from(
    [{"delay_s": 0}, {"text": "x", "delay_s": 0}, {"text": 7, "delay_s": 0}]
)
LISTEN = {"notifications": {"toolsListChanged": True}}
META = st.sampled_from([None, {"progressToken": "t"}])
OPEN = initialize("2025-03-26", "open")
_CALM = {"text": "x", "delay_s": 0}
STEPS = st.lists(
    st.one_of(
        st.builds(call, IDS, TOOLS, ARGUMENTS, meta=META),
        st.builds(
            lambda id_, tool: modern(id_, "tools/call", {"name": tool, "arguments": _CALM}),
            IDS,
            TOOLS,
        ),
        st.builds(request, IDS, st.sampled_from(["ping", "tools/list", "prompts/list", "nope"])),
        st.builds(modern, IDS, st.sampled_from(["server/discover", "resources/list", "ping"])),
        st.builds(lambda id_: modern(id_, "subscriptions/listen", LISTEN), IDS),
        st.builds(cancel, IDS),
        st.builds(initialize, st.sampled_from(["2024-11-05", "2025-03-26", "2025-11-25"]), IDS),
        st.just(INITIALIZED),
        st.just("settle"),
        st.just("change"),
        st.just({"jsonrpc": "2.0", "id": "srv-1", "result": {}}),
        st.lists(st.builds(request, IDS, st.just("ping")) | st.builds(cancel, IDS), max_size=3),
    ),
    max_size=25,
)


class Driver:
    """Feeds steps one by one and keeps the oracle right about ids that are in use."""

    def __init__(self, loopback: Loopback) -> None:
        self.loopback = loopback

    def send(self, message: object) -> None:
        """Send a message; the oracle learns of requests that may be answered under their id."""
        oracle = self.loopback.oracle
        in_use = set(oracle.open)
        items = message if isinstance(message, list) else [message]
        if isinstance(message, list) and oracle.session != "2025-03-26":
            items = []
        for item in items:
            # In a batch there are only cancels and pings, and a ping frees its id at once.
            is_cancel = item.get("method") == "notifications/cancelled"
            id_ = item["params"]["requestId"] if is_cancel else item.get("id")
            was_in_use = (type(id_), id_) in in_use
            if is_cancel:
                in_use.discard((type(id_), id_))
            is_request = "method" in item and "id" in item
            if was_in_use == is_cancel or not (is_cancel or is_request):
                oracle.sent(item)
        self.loopback.feed(to_line(message))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=STEPS)
@example(steps=[OPEN, call(1, "wait"), [cancel(1), request(1, "ping"), request(1, "ping")]])
def test_any_traffic_is_answered_once_and_each_line_is_valid(steps):
    async def main() -> None:
        async with running() as loopback:
            driver = Driver(loopback)
            for step in steps:
                if step == "settle":
                    await loopback.settle()
                elif step == "change":
                    loopback.connection.publish(Change("tools"))
                    loopback.take()
                else:
                    driver.send(step)
            await loopback.settle()
            owed = [method for _, method in loopback.oracle.owes()]
            assert owed == ["tools/call"] * len(owed)
            assert {a.call.params["name"] for a in loopback.connection._active.values()} <= {"wait"}

    anyio.run(main)


CORPUS = [
    initialize("2025-03-26", "i"),
    INITIALIZED,
    request(1, "ping"),
    call(2, "echo", {"text": "ünï★"}),
    [request(3, "ping"), cancel(9)],
    modern(4, "tools/list"),
    call(5, "slow", meta={"progressToken": 5}),
    {"jsonrpc": "2.0", "id": "srv-1", "result": {}},
]


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 255)), max_size=6),
    st.lists(st.integers(0, 5000), max_size=10),
)
def test_bytes_corrupt_and_cut_anywhere_never_raise_and_never_yield_a_bad_line(changes, cuts):
    """The oracle cannot know the requests that corruption makes, so lines are judged alone."""
    from tests.oracle import parse

    data = bytearray(b"".join(map(to_line, CORPUS)))
    for at, byte in changes:
        data[at % len(data)] = byte
    edges = sorted({0, len(data), *(c % len(data) for c in cuts)})

    async def main() -> bytes:
        output = b""
        async with running() as loopback:
            for start, end in pairwise(edges):
                loopback.connection.feed(bytes(data[start:end]))
                await anyio.lowlevel.checkpoint()
            loopback.connection.finish()
            loopback.connection.feed(b"\n" + to_line(request("alive", "ping")))
            await anyio.wait_all_tasks_blocked()
            while block := bytes(loopback.connection.outbox.peek()):
                output += block
                loopback.connection.outbox.written(len(block))
        return output

    lines = anyio.run(main).splitlines(keepends=True)
    found = [parse(line) for line in lines]
    answers = [m for line in found for m in (line if isinstance(line, list) else [line])]
    assert any(m.get("id") == "alive" for m in answers)
    ids = [(type(m["id"]), m["id"]) for m in answers if m.get("id") is not None]
    assert len(ids) == len(set(ids)) or len(changes) > 0


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_long_fuzz_of_bytes_never_raises():
    chooser = random.Random(7)
    for _ in range(30_000):
        data = bytearray(b"".join(map(to_line, chooser.choices(CORPUS, k=5))))
        for _ in range(chooser.randrange(8)):
            data[chooser.randrange(len(data))] = chooser.randrange(256)
        loopback = Loopback()
        loopback.connection.feed(bytes(data))
        loopback.connection.finish()


async def test_a_cancelled_call_leaves_nothing_behind():
    async with running() as loopback:
        loopback.send(initialize(), INITIALIZED, call(1, "wait", meta={"progressToken": 1}))
        assert [m["method"] for m in (await loopback.settle())] == ["notifications/progress"]
        loopback.send(cancel(1))
        assert await loopback.settle() == []
        assert loopback.connection.is_idle
        assert loopback.connection.session.in_flight == {}
        assert loopback.logged == [("wait_stopped", {})]


async def test_a_call_cancelled_before_it_ran_never_runs():
    async with running() as loopback:
        loopback.send(initialize(), call(1, "fail"), cancel(1))
        assert await loopback.settle() == []
        assert loopback.logged == []


async def test_only_so_many_handlers_run_at_once_and_the_rest_wait_their_turn():
    async with running() as loopback:
        loopback.send(initialize(), *(call(n, "wait") for n in range(100)))
        await loopback.settle()
        loopback.send(call("e", "echo", {"text": "x"}))
        assert await loopback.settle() == []
        loopback.send(*(cancel(n) for n in range(100)))
        assert [m["id"] for m in await loopback.settle()] == ["e"]


async def test_notifications_are_dropped_while_the_output_is_crowded_and_answers_are_not():
    async with running() as loopback:
        loopback.send(initialize(), INITIALIZED)
        connection = loopback.connection
        connection.outbox.put(b" " * (2 << 20) + b"\n")
        connection.feed(to_line(call(1, "flood", {"count": 50}, meta={"progressToken": 1})))
        await anyio.wait_all_tasks_blocked()
        left = b""
        while block := bytes(connection.outbox.peek()):
            left += block
            connection.outbox.written(len(block))
        assert [line[:40] for line in left.splitlines()[1:]] == [
            b'{"jsonrpc":"2.0","id":1,"result":{"conte'
        ]


async def test_nothing_watches_for_changes_until_somebody_listens():
    watched: list[str] = []

    async def watch(publish) -> None:
        watched.append("begun")
        try:
            await anyio.sleep_forever()
        finally:
            watched.append("ended")

    async with running(make_service(watch=watch)) as loopback:
        loopback.send(initialize(), INITIALIZED)
        await loopback.settle()
        assert watched == []
        loopback.send(
            modern(1, "subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        )
        await loopback.settle()
        assert watched == ["begun"]
        loopback.send(cancel(1))
        await loopback.settle()
        assert watched == ["begun", "ended"]
        loopback.send(request(2, "resources/subscribe", {"uri": "test://item/1"}))
        await loopback.settle()
        assert watched == ["begun", "ended", "begun"]


async def test_an_expired_state_is_refused():
    able = envelope({"elicitation": {}})
    async with running() as loopback:
        loopback.send(modern(1, "tools/call", {"name": "ask_twice", "arguments": {}}, able))
        state = (await loopback.settle())[0]["result"]["requestState"]
        loopback.clock.now_s += 3601
        again = {"name": "ask_twice", "arguments": {}, "requestState": state, "inputResponses": {}}
        loopback.send(modern(2, "tools/call", again, able))
        error = (await loopback.settle())[0]["error"]
        assert (error["code"], "expired" in error["message"]) == (-32602, True)


def test_what_needs_no_handler_is_answered_before_any_loop_runs():
    loopback = Loopback()
    found = loopback.send(
        initialize(), request(1, "ping"), request(2, "tools/list"), modern(3, "server/discover")
    )
    assert [m["id"] for m in found] == ["init", 1, 2, 3]
    assert not loopback.connection.needs_loop
    loopback.send(call(4, "echo"))
    assert loopback.connection.needs_loop


async def test_a_declared_extension_without_a_handler_does_not_end_the_server():
    tasks = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
    async with running(make_service(extra_capabilities=tasks)) as loopback:
        loopback.send(modern(1, "tasks/get", {"taskId": "x"}), call(2, "echo"))
        found = await loopback.settle()
        assert {m["id"] for m in [*loopback.written, *found]} == {1, 2}
        assert loopback.send(request(3, "ping"))[0]["result"] == {}


async def test_reading_goes_on_when_all_that_waited_was_cancelled():
    """Nothing is written for a cancelled call, so nothing else tells the pump to look again."""
    async with running() as loopback:
        loopback.send(initialize(), INITIALIZED, *(call(n, "wait") for n in range(64)))
        await loopback.settle()
        big = "x" * 1_000_000
        loopback.send(*(call(n, "echo", {"text": big}) for n in range(100, 170)))
        assert loopback.connection.is_congested
        woken: list[bool] = []
        loopback.connection.wake = lambda: woken.append(loopback.connection.is_congested)
        loopback.send(*(cancel(n) for n in (*range(64), *range(100, 170))))
        assert await loopback.settle() == []
        assert woken[-1:] == [False]


async def test_a_watch_that_fails_is_tried_again_and_ends_nothing(monkeypatch):
    monkeypatch.setattr("memrpc.server.connection.WATCH_AGAIN_S", 0)
    tries = []
    fixed = anyio.Event()

    async def watch(_) -> None:
        tries.append(1)
        if len(tries) < 3:
            raise OSError
        fixed.set()
        await anyio.sleep_forever()

    async with running(make_service(watch=watch)) as loopback:
        loopback.send(initialize(), INITIALIZED)
        loopback.send(request(1, "resources/subscribe", {"uri": "test://item/1"}))
        with anyio.fail_after(5):
            await fixed.wait()
        failures = [("watch_failed", {"reason": "OSError"})] * 2
        assert loopback.logged == failures
        assert loopback.send(request(3, "ping"))[0]["result"] == {}


async def test_a_subscriber_is_told_of_the_uri_that_it_named():
    """Whatever lies beneath a URI that ends in a slash changes with it."""
    uris = ["test://item/1?view=x", "test://item/1", "test://item/2"]
    async with running() as loopback:
        loopback.send(initialize(), INITIALIZED)
        wish = {"notifications": {"resourceSubscriptions": uris}}
        loopback.send(modern("ear", "subscriptions/listen", wish))
        loopback.connection.publish(Change("resource", "test://item/1"))
        assert [m["params"]["uri"] for m in loopback.take()] == uris[:2]
        loopback.connection.publish(Change("resource", "test://item/"))
        assert [m["params"]["uri"] for m in loopback.take()] == uris
        loopback.connection.publish(Change("resource", "test://item"))
        assert loopback.take() == []


async def test_a_uri_that_is_wished_for_twice_is_honoured_and_told_of_once():
    wish = {"notifications": {"resourceSubscriptions": ["test://item/1", "test://item/1"]}}
    async with running() as loopback:
        loopback.send(initialize(), INITIALIZED)
        (acknowledged,) = loopback.send(modern("ear", "subscriptions/listen", wish))
        honoured = acknowledged["params"]["notifications"]["resourceSubscriptions"]
        assert honoured == ["test://item/1"]
        loopback.connection.publish(Change("resource", "test://item/1"))
        assert [m["params"]["uri"] for m in loopback.take()] == honoured


async def test_a_change_does_not_wait_twice_for_a_client_that_does_not_read():
    """What has left the outbox was told before this change, so it says nothing of it."""
    uris = ["test://item/1", "test://item/2"]
    wish = {"notifications": {"resourceSubscriptions": uris, "toolsListChanged": True}}
    changes = [Change("tools"), *(Change("resource", uri) for uri in uris)]
    async with running() as loopback:
        loopback.send(initialize(), INITIALIZED)
        loopback.send(modern("ear", "subscriptions/listen", wish))
        loopback.send(request("s", "resources/subscribe", {"uri": uris[0]}))
        await loopback.settle()
        for _ in range(3):
            for _ in range(1_000):
                for change in changes:
                    loopback.connection.publish(change)
            told = [(m["method"], m.get("params", {}).get("uri")) for m in loopback.take()]
            listen = [("notifications/tools/list_changed", None)] * 2
            updated = [("notifications/resources/updated", uris[n]) for n in (0, 0, 1)]
            assert sorted(told, key=str) == sorted(listen + updated, key=str)


async def test_a_line_that_has_left_in_part_still_waits():
    outbox = Outbox()
    assert outbox.put_once(b"changed\n")
    outbox.written(len(outbox.peek()) - 1)
    assert not outbox.put_once(b"changed\n")
    outbox.put(b"other\n")
    outbox.written(1)
    assert outbox.put_once(b"changed\n")
    assert bytes(outbox.peek()) == b"other\nchanged\n"


async def test_a_call_that_is_stopped_from_outside_is_no_defect_of_its_handler():
    loopback = Loopback()
    async with anyio.create_task_group() as tasks:
        loopback.connection.begin(tasks)
        loopback.send(initialize(), INITIALIZED, call(1, "wait"))
        await loopback.settle()
        tasks.cancel_scope.cancel()
    assert loopback.take() == []
    assert loopback.logged == [("wait_stopped", {})]


async def test_a_call_knows_how_long_its_line_was():
    """By that a handler judges whether the work is brief."""
    async with running() as loopback:
        loopback.send(OPEN)
        line = to_line(call("a", "wait"))
        loopback.connection.feed(line)
        (waiting,) = loopback.connection.session.in_flight.values()
        assert waiting.size_bytes == len(line) - 1
        loopback.send(cancel("a"))
