"""Lists of resources page by page, and the numbers that a URI may hold."""

from __future__ import annotations

import json

import pytest

from tests.peer import Peer
from tests.surface.conftest import command

PAGE = 100


@pytest.fixture
def peer(database):
    with Peer(command(database)) as peer:
        peer.handshake()
        yield peer


def remember(peer: Peer, owner: str) -> None:
    arguments = {
        "repo": f"{owner}/harbor",
        "phase": "p",
        "title": f"Dig for {owner}",
        "description": "x",
    }
    answer = peer.ask("tools/call", {"name": "task-write", "arguments": arguments}, timeout_s=30)
    assert not answer["result"]["isError"], answer


def test_the_pages_of_the_list_repeat_nothing_and_leave_nothing_out_while_others_write(peer):
    for number in range(PAGE):
        remember(peer, f"m{number:03}")
    first = peer.ask("resources/list")["result"]
    remember(peer, "a")
    rest = peer.ask("resources/list", {"cursor": first["nextCursor"]})["result"]
    uris = [each["uri"] for each in (*first["resources"], *rest["resources"])]
    assert len(uris) == len(set(uris))
    assert {f"repository://m{number:03}%2Fharbor/memories" for number in range(PAGE)} <= {*uris}
    assert "nextCursor" not in rest


@pytest.mark.parametrize(
    "number", [pytest.param("9" * 5_000, id="long"), "\u0663", "-1", "+3", "0x1", "1.0"]
)
@pytest.mark.parametrize("name", ["limit", "offset"])
@pytest.mark.parametrize(
    "uri", ["repository://index", "repository://harbor/memories", "codebase://harbor/symbols"]
)
def test_what_is_no_number_of_a_page_is_no_resource(peer, uri, name, number):
    refused = peer.ask("resources/read", {"uri": f"{uri}?{name}={number}"})["error"]
    assert refused["code"] == -32002
    assert f"{name} must be a whole number" in refused["message"]


def test_a_list_of_symbols_says_no_more_than_an_answer_may_and_goes_on_where_it_ends(
    peer, tmp_path
):
    root = tmp_path / "wide"
    root.mkdir()
    names = [f"{'long_' * 10}{number:03}" for number in range(150)]
    (root / "a.py").write_text("".join(f"def {name}():\n    pass\n" for name in names))
    arguments = {"repo": "acme/wide", "repoPath": str(root)}
    peer.ask("tools/call", {"name": "codebase-index", "arguments": arguments}, timeout_s=30)
    found, offset = [], 0
    while offset is not None:
        uri = f"codebase://wide/symbols?limit=200&offset={offset}"
        (contents,) = peer.ask("resources/read", {"uri": uri})["result"]["contents"]
        assert len(contents["text"]) <= 8_000
        page = json.loads(contents["text"])
        found += [record["name"] for record in page["records"]]
        offset = page.get("nextOffset")
    assert found == names
