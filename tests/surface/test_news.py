"""What one process writes reaches who listens to another on the same file, in both eras."""

from __future__ import annotations

import subprocess
import sys

import pytest

from memrpc.server.service import Change
from memrpc.surface.news import changes_of
from tests.peer import Peer, modern
from tests.surface.conftest import command

PERSONA = "persona://Ada%20B/current"
TASKS = "repository://acme%2Fharbor/tasks"
TASK = {"owner": "acme", "repo": "harbor", "phase": "p", "title": "Far", "description": "x"}


@pytest.fixture
def start(database):
    peers = []

    def spawn(path=None) -> Peer:
        peers.append(Peer(command(path or database)))
        peers[-1].handshake()
        return peers[-1]

    yield spawn
    for peer in peers:
        peer.__exit__()


def listen(peer: Peer, *uris: str) -> None:
    wish = {"notifications": {"resourceSubscriptions": list(uris), "resourcesListChanged": True}}
    peer.send(modern("ear", "subscriptions/listen", wish))
    (acknowledged,) = peer.receive()
    assert acknowledged["params"]["notifications"]["resourceSubscriptions"] == list(uris)


def subscribe(peer: Peer, *uris: str) -> None:
    for uri in uris:
        assert peer.ask("resources/subscribe", {"uri": uri})["result"] == {}


def news(peer: Peer, *wanted: str) -> None:
    """Read until each of these has been said to have changed; lists by their method."""
    left = set(wanted)
    waiting, peer.notices = peer.notices, []
    while left:
        messages, waiting = waiting or peer.receive(), []
        assert messages, left
        left -= {m.get("params", {}).get("uri", m.get("method")) for m in messages}


LISTED = "notifications/resources/list_changed"
ERAS = pytest.mark.parametrize("hear", [listen, subscribe], ids=["2026-07-28", "handshake"])


@ERAS
def test_a_write_in_one_process_reaches_a_subscriber_of_another(start, hear):
    ear, mouth = start(), start()
    hear(ear, TASKS)
    mouth.ask("tools/call", {"name": "task-write", "arguments": TASK}, timeout_s=30)
    news(ear, TASKS, LISTED)


@ERAS
def test_an_edit_of_a_persona_at_the_command_line_reaches_a_subscriber(
    start, hear, database, tmp_path
):
    ear = start()
    hear(ear, PERSONA)
    (tmp_path / "core.txt").write_text("You are Ada.\n")
    program = [sys.executable, "-m", "memrpc", "persona", "import", str(tmp_path / "core.txt")]
    subprocess.run([*program, "--persona", "Ada B", "--db", str(database)], check=True)
    news(ear, PERSONA, LISTED)


@ERAS
def test_an_index_run_reaches_whoever_listens_to_a_part_of_it(start, hear, tmp_path):
    root = tmp_path / "my widgets"
    root.mkdir()
    (root / "a.py").write_text("def f():\n    pass\n")
    ear, mouth = start(), start()
    parts = (
        "codebase://acme%2Fmy%20widgets/symbols?limit=5",
        "codebase://acme%2Fmy%20widgets/files/a.py",
        "codebase://my%20widgets/symbols/f",
    )
    hear(ear, *parts)
    arguments = {"repo": "acme/my widgets", "repoPath": str(root)}
    mouth.ask("tools/call", {"name": "codebase-index", "arguments": arguments}, timeout_s=30)
    news(ear, *parts)


@ERAS
def test_a_file_that_cannot_be_opened_does_not_end_the_server_of_a_subscriber(
    start, hear, tmp_path
):
    folder = tmp_path / "folder.db"
    folder.mkdir()
    peer = start(folder)
    hear(peer, PERSONA)
    refused = peer.ask("resources/read", {"uri": PERSONA})  # It has opened the file by then.
    assert "error" in refused
    peer.prove_alive()
    assert peer.end()[0] == 0
    assert b"Traceback" not in peer.stderr


@ERAS
@pytest.mark.parametrize(
    "uri",
    [
        "repository://acme%2fharbor/tasks",
        "repository://ACME%2FHarbor/tasks?status=all",
        "repository://%61cme%2Fharbor/tasks",
        "repository://Harbor/tasks",
    ],
)
def test_a_subscriber_hears_of_a_resource_however_its_uri_is_written(start, hear, uri):
    """The news names the URI that was subscribed to."""
    peer = start()
    hear(peer, uri)
    peer.ask("tools/call", {"name": "task-write", "arguments": TASK}, timeout_s=30)
    news(peer, uri)


def test_a_session_that_has_listed_the_resources_hears_when_the_list_changes(start):
    ear, mouth = start(), start()
    ear.ask("resources/list")
    mouth.ask("tools/call", {"name": "task-write", "arguments": TASK}, timeout_s=30)
    news(ear, LISTED)


def test_most_topics_are_the_uri_of_what_changed():
    assert list(changes_of("task://x")) == [Change("resource", "task://x")]
    assert list(changes_of("resources/list")) == [Change("resources")]
    assert list(changes_of("persona:Ada B")) == [Change("resource", PERSONA), Change("resources")]
    assert list(changes_of("persona://x")) == [
        Change("resource", "persona://%2F%2Fx/current"),
        Change("resources"),
    ]
    assert list(changes_of("codebase://acme%2Fw/symbols")) == [
        Change("resource", "codebase://acme%2Fw/"),
        Change("resource", "codebase://w/"),
    ]
