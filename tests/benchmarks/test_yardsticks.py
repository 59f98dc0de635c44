"""The benchmark's client, its yardsticks and its arithmetic: that they work, not how fast."""

from __future__ import annotations

import json
import sys

import pytest

from benchmarks import wire
from benchmarks.client import INITIALIZED, Server, check_answers, initialize, request
from benchmarks.contenders import YARDSTICKS, Contender
from benchmarks.findings import Findings, Grid, Verdict
from benchmarks.promises import PROMISES, judge
from benchmarks.rounds import Table, interleave, percentile

LOCAL = ("blocking", "chunked", "engine")


def command(name: str) -> tuple[str, ...]:
    return (sys.executable, str(YARDSTICKS / f"{name}.py"))


@pytest.fixture(params=LOCAL)
def server(request):
    with Server(command(request.param)) as spawned:
        check_answers(spawned.ask(initialize()), ["init"])
        spawned.write(INITIALIZED)
        yield spawned


def test_a_yardstick_lists_the_one_tool_with_its_schema(server):
    (tool,) = json.loads(server.ask(request(1, "tools/list")))["result"]["tools"]
    assert tool["name"] == "echo"
    assert tool["inputSchema"]["required"] == ["text"]


def test_every_measure_gets_its_answers(server):
    for measure, _ in wire.TRAFFIC.values():
        assert measure(server) > 0


def test_a_yardstick_ends_with_its_input(server):
    seconds, cpu = server.end()
    assert server.process.returncode == 0
    assert seconds > 0
    assert cpu > 0


def test_the_engine_refuses_what_the_floor_would_not():
    with Server(command("engine")) as engine:
        engine.ask(initialize())
        params = {"name": "echo", "arguments": {"text": "", "times": 0}}
        result = json.loads(engine.ask(request(1, "tools/call", params)))["result"]
    assert result["isError"]


def test_a_start_is_measured_from_spawn_to_exit():
    sample = wire.start(Contender("E", "engine", command("engine")))
    assert sample["initialize"] <= sample["list_tools"]
    assert sample.keys() == wire.TITLES.keys() - wire.TRAFFIC.keys()


def test_a_refused_or_missing_answer_fails_the_measurement():
    with pytest.raises(AssertionError):
        check_answers(b'{"jsonrpc":"2.0","id":1,"error":{}}\n', [1])
    with pytest.raises(AssertionError):
        check_answers(b'{"jsonrpc":"2.0","id":1,"result":{}}\n', [1, 2])


def test_a_ratio_is_the_median_of_the_ratios_inside_the_rounds():
    table = Table()
    for ours, yardstick in ((1, 2), (10, 5), (3, 4)):
        table.add("E", {"ping": ours})
        table.add("B", {"ping": yardstick})
    assert table.ratio("ping", "E", "B") == 0.75
    assert table.ratio("ping", "E", "S") is None


def test_rounds_are_interleaved_and_the_first_is_not_counted():
    order, table = [], Table()
    interleave(table, "AB", lambda key: order.append(key) or {"x": len(order)}, rounds=2)
    assert "".join(order) == "ABBAAB"
    assert table.samples["A"]["x"] == [4, 5]


def test_a_percentile_is_a_value_that_was_measured():
    assert percentile([3, 1, 2], 0.5) == 2
    assert percentile([3, 1, 2], 0.95) == 3


def test_every_promise_is_judged_when_all_were_measured():
    table = Table()
    for key in "BEMS":
        table.add(key, dict.fromkeys(wire.TITLES, 1.0))
    verdicts = list(judge(table, wire.TITLES))
    assert len(verdicts) == len(PROMISES)
    assert not all(verdict.holds for verdict in verdicts)


def test_a_page_shows_the_promise_that_does_not_hold():
    verdict = Verdict("ping: E to B", 9.0, 8, 2)
    found = Findings("wire", "Wire", [Grid("Figures", ["a"], [["1"]])], [verdict])
    assert "| ping: E to B | 9        | <= 8 | <= 2 | NO    |" in found.as_text()
    assert found.as_json({})["promises"][0]["holds"] is False
