"""Resources, prompts and completions to the letter: times, agents, whose values are offered."""

from __future__ import annotations

import contextlib
import sys

import pytest

from memrpc.server.service import Change
from memrpc.surface.news import changes_of
from tests.peer import Peer
from tests.workspace.test_resources import BASE, Client

MEMORIES = "repository://{name}/memories{?search,type,tag,limit,offset}"


@pytest.fixture
def client(database, tmp_path):
    """A server in the folder of acme/harbor, whose file holds another repository as well."""
    (tmp_path / "acme" / "harbor").mkdir(parents=True)
    with contextlib.ExitStack() as stack:
        command = (sys.executable, "-m", "memrpc", "serve", "--db", str(database))
        peer = stack.enter_context(Peer(command, cwd=tmp_path / "acme" / "harbor"))
        peer.handshake("2025-11-25")
        client = Client(peer)
        for repo, topic in (
            ("acme/harbor", "pigeons"),
            ("globex/depot", "violins"),
            ("zed/harbor", "glaciers"),
        ):
            client.write(
                "memory-write",
                repo=repo,
                type="code_fact",
                title=f"About {topic}",
                content=f"What we hold on {topic} is written in `{topic}.py`.",
                importance=3,
                tags=[topic],
            )
        yield client


def test_a_change_shows_its_times_as_every_answer_does(client):
    client.write("memory-write", id="MEM-001", ttlDays=3)
    newest = client.read(f"{BASE}/actions?limit=1")["actions"][0]
    change = client.read(f"action://{newest['id']}")
    assert change["before"]["created_at"].endswith("Z")
    assert change["before"]["expires_at"] is None
    assert change["after"]["expires_at"].endswith("Z")


@pytest.mark.parametrize(
    ("context", "offered"),
    [
        ({}, ["pigeons"]),
        ({"name": "globex/depot"}, ["violins"]),
        ({"name": "globex%2Fdepot"}, ["violins"]),
        ({"name": "harbor"}, []),
        ({"name": "nope"}, []),
    ],
)
def test_values_come_from_the_repository_that_is_named_and_from_no_other(client, context, offered):
    assert client.complete("resource", MEMORIES, "tag", "", **context) == offered


def test_a_prompt_names_the_client_where_no_agent_is_given(client):
    asked = {"name": "task-memory-executor"}
    got = client.peer.ask("prompts/get", asked)["result"]["messages"][0]["content"]["text"]
    assert got.startswith("Work through the tasks of acme/harbor as agent peer.")


@pytest.mark.parametrize(
    ("part", "makes_it"),
    [("memories", True), ("tasks", True), ("standards", True), ("actions", False)],
)
def test_the_graph_changes_with_the_texts_that_make_it(part, makes_it):
    graph = Change("resource", f"{BASE}/graph")
    assert (graph in changes_of(f"{BASE}/{part}")) is makes_it


@pytest.mark.parametrize(
    "query", ["memories?limit=", "tasks?priority=&status=", "actions?offset=", "graph?entity="]
)
def test_an_empty_parameter_is_one_that_was_not_given(client, query):
    part = query.partition("?")[0]
    assert client.read(f"{BASE}/{query}") == client.read(f"{BASE}/{part}")


def test_a_client_that_asks_for_debug_hears_which_project_a_call_is_about(client):
    client.write("memory-read", query="pigeons")
    client.peer.ask("logging/setLevel", {"level": "debug"})
    client.write("memory-read", query="pigeons")
    heard = [each for each in client.peer.notices if each["method"] == "notifications/message"]
    place = {"owner": "acme", "repo": "harbor", "resolved_by": "argument"}
    data = {"tool": "memory-read", **place}
    assert [each["params"] for each in heard] == [
        {"level": "debug", "logger": "workspace", "data": data}
    ]
