"""A fact of the graph stands in a text, and recall finds the text."""

from __future__ import annotations

import json


def test_b17_a_fact_of_the_graph_is_found_by_every_reader(tools):
    for topic in ("pigeons", "harbours", "violins", "glaciers"):
        tools.remember(f"About {topic}", f"Something about {topic} stands here.")
    code = tools.remember("Orion's database", "`Orion` uses `Postgres 17` for its orders.")["code"]
    graph = tools.call("memory-read", code=code)["kg"]
    names = {entity["name"] for entity in graph["entities"]}
    assert {"Orion", "Postgres 17"} & names
    for query in ("Postgres 17", *names):
        assert [row["code"] for row in tools.rows("memory-read", query=query)] == [code], query
        assert code in json.dumps(tools.call("agent-context", query=query)), query


def test_b17_a_link_is_told_with_either_of_its_ends(tools):
    first = tools.task("Move the orders")
    second = tools.task("Retire the old store", depends_on=first["code"])
    for query, found, other in (("orders", first, second), ("retire store", second, first)):
        assert found["code"] in json.dumps(tools.call("task-read", query=query))
        graph = tools.call("task-read", code=found["code"])["kg"]
        assert other["code"] in json.dumps(graph)
