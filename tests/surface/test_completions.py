"""Completions, as a client that fills in a prompt or a template gets them."""

from __future__ import annotations

import pytest

from tests.peer import Peer, request
from tests.surface.conftest import command

SYMBOL = "codebase://{repo}/symbols/{name}"
SYMBOLS = "codebase://{repo}/symbols{?search,kind,limit,offset}"
FILE = "codebase://{repo}/files/{+file_path}"


@pytest.fixture
def start(database):
    peers = []

    def spawn(capabilities=None) -> Peer:
        peers.append(Peer(command(database)))
        peers[-1].handshake(capabilities=capabilities)
        return peers[-1]

    yield spawn
    for peer in peers:
        peer.__exit__()


@pytest.fixture
def indexed(start, tmp_path):
    """Two owners' repositories of one name."""
    peer = start()
    for owner in ("acme", "globex"):
        root = tmp_path / owner
        root.mkdir()
        (root / f"{owner}.py").write_text(f"def {owner}_secret():\n    pass\n")
        arguments = {"repo": f"{owner}/widgets", "repoPath": str(root)}
        peer.ask("tools/call", {"name": "codebase-index", "arguments": arguments}, timeout_s=30)
    return peer


def asked(uri: str, argument: str, **context) -> dict:
    return {
        "ref": {"type": "ref/resource", "uri": uri},
        "argument": {"name": argument, "value": ""},
        "context": {"arguments": context},
    }


def completed(peer: Peer, params: dict) -> list[str]:
    return peer.ask("completion/complete", params)["result"]["completion"]["values"]


@pytest.mark.parametrize("repo", ["acme/widgets", "acme%2Fwidgets", "ACME/Widgets"])
def test_symbols_and_paths_complete_from_the_repository_of_the_owner_that_was_filled_in(
    indexed, repo
):
    assert completed(indexed, asked(SYMBOL, "name", repo=repo)) == ["acme_secret"]
    assert completed(indexed, asked(SYMBOLS, "search", repo=repo)) == ["acme_secret"]
    assert completed(indexed, asked(FILE, "file_path", repo=repo)) == ["acme.py"]


def test_a_name_of_two_owners_completes_no_symbol_of_either(indexed):
    assert completed(indexed, asked(SYMBOL, "name", repo="widgets")) == []


@pytest.mark.parametrize("argument", ["limit", "offset"])
def test_every_argument_of_a_list_of_symbols_completes(start, argument):
    assert completed(start(), asked(SYMBOLS, argument))


def test_a_symbol_completes_however_many_stand_before_it(start, tmp_path):
    root = tmp_path / "wide"
    root.mkdir()
    names = [*(f"f{number}" for number in range(2_500)), "zealous"]
    (root / "a.py").write_text("".join(f"def {name}():\n    pass\n" for name in names))
    peer = start()
    arguments = {"repo": "acme/wide", "repoPath": str(root)}
    peer.ask("tools/call", {"name": "codebase-index", "arguments": arguments}, timeout_s=30)
    params = asked(SYMBOL, "name", repo="acme/wide")
    params["argument"]["value"] = "zeal"
    assert completed(peer, params) == ["zealous"]


def test_a_tag_completes_however_many_entries_came_after_it(start):
    peer = start()
    for first in range(0, 600, 100):
        entries = [
            {
                "type": "code_fact",
                "title": f"Fact {number}",
                "content": " ".join(f"w{number * 20 + word}" for word in range(20)),
                "importance": 3,
                "tags": [f"tag{number:03}"],
            }
            for number in range(first, first + 100)
        ]
        params = {"name": "memory-write", "arguments": {"repo": "acme/wide", "memories": entries}}
        assert not peer.ask("tools/call", params, timeout_s=30)["result"]["isError"]
    params = asked("repository://{name}/memories{?search,type,tag,limit,offset}", "tag")
    params["context"] = {"arguments": {"name": "acme/wide"}}
    params["argument"]["value"] = "tag000"
    assert completed(peer, params) == ["tag000"]


def test_a_prompt_completes_from_the_project_that_the_session_works_in(start, tmp_path):
    """It is the project that the prompt's text will name."""
    root = tmp_path / "harbor"
    (root / ".git").mkdir(parents=True)
    origin = '[remote "origin"]\n\turl = https://github.com/acme/harbor.git\n'
    (root / ".git" / "config").write_text(origin)
    peer = start({"roots": {}})
    arguments = {"repo": "acme/harbor", "phase": "p", "title": "Dig", "description": "x"}
    params = {"name": "task-write", "arguments": arguments}
    written = peer.ask("tools/call", params)["result"]["structuredContent"]
    ref = {"type": "ref/prompt", "name": "learning-retrospective"}
    peer.send(
        request(
            "complete",
            "completion/complete",
            {"ref": ref, "argument": {"name": "task_id", "value": ""}},
        )
    )
    (question,) = peer.receive()
    assert question["method"] == "roots/list"
    peer.send(
        {"jsonrpc": "2.0", "id": question["id"], "result": {"roots": [{"uri": root.as_uri()}]}}
    )
    assert peer.answer("complete")["result"]["completion"]["values"] == [written["id"]]
