"""The workspace's resources, prompts, completions and news of changes, as a client gets them."""

from __future__ import annotations

import contextlib
import json
import re
import sys
from urllib.parse import quote

import pytest

from memrpc.surface import toolsets
from memrpc.surface.instructions import BY_TOOLSET
from memrpc.surface.prompts.workspace import PROMPTS
from tests.peer import Peer

PLACE = {"owner": "acme", "repo": "harbor"}
BASE = "repository://acme%2Fharbor"
NOT_FOUND = {"2025-03-26": -32002, "2025-11-25": -32002, "2026-07-28": -32602}


class Client:
    """A served memrpc and the methods that it answers."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer

    def write(self, tool: str, **arguments) -> dict:
        answer = self.peer.ask("tools/call", {"name": tool, "arguments": {**PLACE, **arguments}})
        assert not answer["result"]["isError"], answer
        return answer["result"]["structuredContent"]

    def read(self, uri: str):
        (contents,) = self.peer.ask("resources/read", {"uri": uri})["result"]["contents"]
        is_json = contents["mimeType"] == "application/json"
        return json.loads(contents["text"]) if is_json else contents["text"]

    def refused(self, uri: str) -> dict:
        return self.peer.ask("resources/read", {"uri": uri})["error"]

    def news(self, count: int) -> set[str]:
        """The next resources that are said to have changed."""
        heard: set[str] = set()
        waiting, self.peer.notices = self.peer.notices, []
        while len(heard) < count:
            messages, waiting = waiting or self.peer.receive(), []
            updated = (m for m in messages if m.get("method") == "notifications/resources/updated")
            heard |= {message["params"]["uri"] for message in updated}
        return heard

    def complete(self, kind: str, name: str, argument: str, value: str = "", /, **context) -> list:
        ref = {"type": f"ref/{kind}", "name" if kind == "prompt" else "uri": name}
        params = {"ref": ref, "argument": {"name": argument, "value": value}}
        if context:
            params["context"] = {"arguments": context}
        return self.peer.ask("completion/complete", params)["result"]["completion"]["values"]


@pytest.fixture
def start(database):
    with contextlib.ExitStack() as stack:

        def run(version: str = "2025-11-25") -> Client:
            command = (sys.executable, "-m", "memrpc", "serve", "--db", str(database))
            peer = stack.enter_context(Peer(command))
            peer.handshake(version)
            return Client(peer)

        yield run


@pytest.fixture
def client(start):
    client = start()
    for number, topic in enumerate(("pigeons", "violins", "glaciers")):
        client.write(
            "memory-write",
            type="decision" if number else "code_fact",
            title=f"About {topic}",
            content=f"What we hold on {topic}: see `{topic.title()}Store`.",
            importance=3,
            tags=["birds"] if number == 0 else ["things"],
        )
    client.write("task-write", phase="p", title="Feed pigeons", description="x", priority=4)
    client.write("task-write", phase="p", title="Tune violins", description="x", priority=2)
    client.write("repo-summarize", signals=["A zoo with an orchestra"])
    return client


def test_h05_the_summary_is_there_once_it_was_written(client):
    assert client.read(f"{BASE}/summary") == "Project summary:\n- A zoo with an orchestra"


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("", ["About glaciers", "About violins", "About pigeons"]),
        ("?type=decision", ["About glaciers", "About violins"]),
        ("?tag=birds", ["About pigeons"]),
        ("?search=violins", ["About violins"]),
        ("?search=about&type=decision&tag=things&limit=1", None),
        ("?limit=1&offset=1", ["About violins"]),
        ("?type=decision&tag=birds", []),
    ],
)
def test_h06_memories_take_any_subset_of_their_parameters(client, query, titles):
    found = client.read(f"{BASE}/memories{query}")
    shown = [memory["title"] for memory in found["memories"]]
    if titles is None:
        assert len(shown) == 1
        assert found["next_offset"] == 1
    else:
        assert shown == titles


@pytest.mark.parametrize(
    ("query", "codes"),
    [
        ("", ["TASK-001", "TASK-002"]),
        ("?status=backlog&priority=2", ["TASK-002"]),
        ("?priority=4", ["TASK-001"]),
        ("?status=completed", []),
        ("?limit=1&status=all", ["TASK-001"]),
    ],
)
def test_h06_tasks_take_any_subset_of_their_parameters(client, query, codes):
    found = client.read(f"{BASE}/tasks{query}")
    assert [task["task_code"] for task in found["tasks"]] == codes


def test_each_record_has_a_resource_of_its_own(client):
    memory = client.read(f"{BASE}/memories")["memories"][0]
    assert client.read(f"memory://{memory['id']}")["title"] == "About glaciers"
    task = client.read(f"{BASE}/tasks")["tasks"][0]
    assert client.read(f"task://{task['id']}")["comments"] == []
    action = client.read(f"{BASE}/actions?limit=1")["actions"][0]
    assert action["action"] == "summarize"
    assert client.read(f"action://{action['id']}")["after"]["signals"]
    graph = client.read(f"{BASE}/graph?entity=PigeonsStore")["entities"]
    assert graph == [{"name": "PigeonsStore", "mentioned_by": ["MEM-001"]}]
    (index,) = client.read("repository://index")
    assert (index["owner"], index["memoryCount"], index["backlogCount"]) == ("acme", 3, 2)


def test_the_index_lists_every_repository_or_the_part_that_its_uri_names(client):
    for number in range(40):
        client.write("repo-summarize", owner="acme", repo=f"r{number:02}", signals=["A summary"])
    names = [each["repo"] for each in client.read("repository://index")]
    assert sorted(names) == ["harbor", *(f"r{number:02}" for number in range(40))]
    pages = [client.read(f"repository://index?limit=15&offset={at}") for at in (0, 15, 30, 45)]
    assert [each["repo"] for page in pages for each in page] == names
    assert len(client.read("repository://index?offset=38")) == 3


def test_a_bare_name_serves_while_it_is_unique_and_then_lists_the_owners(client):
    assert client.read("repository://harbor/summary").startswith("Project summary")
    client.write("repo-summarize", owner="globex", signals=["Another harbor"])
    refused = client.refused("repository://harbor/summary")
    assert "acme%2Fharbor, globex%2Fharbor" in refused["message"]
    assert client.read("repository://globex%2Fharbor/summary").endswith("Another harbor")


@pytest.mark.parametrize("version", ["2025-03-26", "2025-11-25"])
def test_what_is_not_there_has_the_revisions_code(start, version):
    client = start(version)
    for uri in ("memory://nobody", "task://x", "action://1", "action://x", f"{BASE}/memories"):
        assert client.refused(uri)["code"] == NOT_FOUND[version]


def test_what_is_not_there_has_the_envelopes_code(start):
    client = start()
    answer = client.peer.ask_modern("resources/read", {"uri": "memory://nobody"})
    assert answer["error"]["code"] == NOT_FOUND["2026-07-28"]


@pytest.mark.parametrize("query", ["?limit=0", "?limit=101", "?offset=-1", "?type=bogus", "?x=1"])
def test_a_wrong_parameter_is_no_resource(client, query):
    assert client.refused(f"{BASE}/memories{query}")["code"] == -32002


def test_a_uri_of_no_known_form_is_told_how_a_slash_is_written(client):
    assert "%2F" in client.refused("repository://acme/harbor/memories")["message"]


def test_the_list_has_an_entry_for_each_repository(client):
    uris = [r["uri"] for r in client.peer.ask("resources/list", {})["result"]["resources"]]
    assert {"repository://index", "session://roots", f"{BASE}/memories"} <= set(uris)


def test_h02_a_subscriber_hears_of_a_task_that_another_process_creates(client, start):
    other = start()
    watched = [f"{BASE}/tasks", "repository://index"]
    for uri in watched:
        client.peer.ask("resources/subscribe", {"uri": uri})
    made = other.write("task-write", phase="p", title="From afar", description="x")
    assert client.news(len(watched)) == set(watched)
    client.peer.ask("resources/subscribe", {"uri": f"task://{made['id']}"})
    other.write("claim-manage", task_code=made["code"])
    assert f"task://{made['id']}" in client.news(3)


def test_h07_prompts_list_their_arguments_check_and_substitute_them(client):
    listed = {p["name"]: p for p in client.peer.ask("prompts/list", {})["result"]["prompts"]}
    review = listed["senior-code-review"]["arguments"]
    assert [(a["name"], a["required"]) for a in review] == [
        ("tech_stack", True),
        ("context", False),
    ]
    params = {"name": "senior-code-review", "arguments": {"tech_stack": "Python {context}"}}
    (message,) = client.peer.ask("prompts/get", params)["result"]["messages"]
    assert "Stack: Python {context}" in message["content"]["text"]
    missing = client.peer.ask("prompts/get", {"name": "senior-code-review"})["error"]
    assert missing["code"] == -32602
    assert "tech_stack" in missing["message"]


OWN = "# Release notes\n\nWrites notes for a version.\n\nWrite notes for {version} of {scope}."


def test_the_users_own_prompts_are_served_beside_the_built_in_ones(start, database):
    folder = database.parent / "prompts"
    folder.mkdir()
    (folder / "release-notes.md").write_text(OWN)
    (folder / "project-briefing.md").write_text("Hides nothing.")
    (folder / "No Name.md").write_text("x")
    (folder / "no-text.md").write_bytes(b"\xff\xfe")
    (folder / "too-long.md").write_text("x" * 70_000)
    client = start()
    listed = {p["name"]: p for p in client.peer.ask("prompts/list", {})["result"]["prompts"]}
    own = listed["release-notes"]
    assert (own["title"], own["description"]) == ("Release notes", "Writes notes for a version.")
    assert [(a["name"], a["required"]) for a in own["arguments"]] == [("version", False)]
    assert listed.keys() & {"No Name", "no-text", "too-long"} == set()
    assert listed["project-briefing"]["title"] == "Start a session in a project"
    params = {"name": "release-notes", "arguments": {"version": "2.1"}}
    (message,) = client.peer.ask("prompts/get", params)["result"]["messages"]
    assert "Write notes for 2.1 of " in message["content"]["text"]


def test_the_list_of_resources_says_when_a_repository_was_last_written(client):
    made = client.write(
        "memory-write", type="code_fact", importance=1, title="Owls", content="Owls hunt at night."
    )
    listed = client.peer.ask("resources/list", {})["result"]["resources"]
    (entry,) = [each for each in listed if each["uri"] == f"{BASE}/memories"]
    written = client.read(f"memory://{made['id']}")["updated_at"]
    assert entry["annotations"]["lastModified"] == written


def test_a_delete_tells_how_far_it_is_after_each_item(client):
    handles = [f"MEM-{number:03}" for number in (1, 2, 3, 404)]
    arguments = {**PLACE, "ids": handles}
    client.peer.notices.clear()
    params = {"name": "memory-delete", "arguments": arguments, "_meta": {"progressToken": "p"}}
    answer = client.peer.ask("tools/call", params)["result"]["structuredContent"]
    told = [m["params"] for m in client.peer.notices if m["method"] == "notifications/progress"]
    assert [(each["progress"], each["total"]) for each in told] == [(n, 4) for n in range(5)]
    assert answer["deletedCount"] == 3


def test_a_toolset_has_the_prompts_of_its_tools():
    offered = {name: {p.name for p in toolsets.prompts(name)} for name in toolsets.FOLDERS}
    assert offered["core"] == {"start_session"}
    assert offered["work"] == {p.name for p in PROMPTS}
    assert offered["all"] == offered["core"] | offered["work"]


def test_prompts_name_only_tools_that_exist(tools):
    from memrpc.surface.prompts import workspace_texts

    texts = [value for name, value in vars(workspace_texts).items() if name.isupper()]
    spoken = re.compile(r"\b(?:memory|task|claim|handoff|standard|agent|repo|codebase)-[a-z]+\b")
    known = {*tools.service.tools, "memory-agent"}
    assert {name for text in texts for name in spoken.findall(text)} <= known
    named = {p.name for p in PROMPTS}
    assert {*spoken.findall(" ".join(texts))} >= {"memory-read", "codebase-read"}
    assert named >= {
        "memory-agent-core",
        "project-briefing",
        "task-management-guidelines",
        "senior-code-review",
        "root-cause-analysis",
    }


def test_instructions_and_prompt_descriptions_fit_every_host():
    assert all(len(text) <= 2_000 for text in BY_TOOLSET.values())
    assert all(len(prompt.description) <= 2_000 for prompt in PROMPTS)


@pytest.mark.parametrize("prompt", PROMPTS, ids=lambda prompt: prompt.name)
def test_a_prompt_says_each_argument_once_filled_in_and_is_short(client, prompt):
    """The values are as long as a user's sentence; what a prompt says itself fits every host."""
    given = {argument.name: f"<<{argument.name}>>" for argument in prompt.arguments}
    params = {"name": prompt.name, "arguments": given}
    (message,) = client.peer.ask("prompts/get", params)["result"]["messages"]
    text = message["content"]["text"]
    assert len(text) <= 2_000
    assert all(value in text for value in given.values())
    assert not re.search(r"\{\w+\}", text)
    needed = [argument.name for argument in prompt.arguments if argument.required]
    bare = client.peer.ask("prompts/get", {"name": prompt.name})
    assert [name for name in needed if name not in bare.get("error", {}).get("message", "")] == []
    assert ("error" in bare) is bool(needed)


@pytest.mark.parametrize(
    ("argument", "value", "expected"),
    [
        ("name", "acme", "acme/harbor"),
        ("type", "dec", "decision"),
        ("tag", "bi", "birds"),
        ("search", "About p", "About pigeons"),
        ("limit", "2", "25"),
    ],
)
def test_h28_memories_complete_each_argument(client, argument, value, expected):
    template = "repository://{name}/memories{?search,type,tag,limit,offset}"
    assert client.complete("resource", template, argument, value, name="acme/harbor")[0] == expected


def test_h28_tasks_and_prompts_complete_from_live_data(client):
    template = "repository://{name}/tasks{?status,priority,limit,offset}"
    assert client.complete("resource", template, "status", "in_p") == ["in_progress"]
    assert client.complete("resource", template, "priority") == ["1", "2", "3", "4", "5"]
    client.write(
        "standard-write",
        name="Ruff",
        content="All Python passes ruff.",
        tags=["lint"],
        metadata={"a": 1},
        language="Python",
    )
    named = {"owner": "acme", "repo": "harbor"}
    assert client.complete("prompt", "senior-code-review", "tech_stack", "py", **named) == [
        "Python"
    ]
    assert client.complete("prompt", "tech-affinity-scout", "tags", "bi", **named) == ["birds"]
    ids = client.complete("prompt", "learning-retrospective", "task_id", **named)
    assert len(ids) == 2
    unknown = {
        "ref": {"type": "ref/prompt", "name": "nobody"},
        "argument": {"name": "x", "value": ""},
    }
    assert client.peer.ask("completion/complete", unknown)["error"]["code"] == -32602


def test_b80_a_resource_of_many_memories_is_paged_and_small(client):
    words = ("lantern", "meadow", "anchor", "saddle", "kettle", "ribbon", "compass")
    items = [
        {
            "type": "pattern",
            "title": f"Pattern {n}",
            "content": f"{words[n % 7]}{n} " * 400,
            "importance": 2,
        }
        for n in range(60)
    ]
    client.write("memory-write", memories=items)
    found = client.read(f"{BASE}/memories?limit=100")
    assert len(json.dumps(found, ensure_ascii=False, separators=(",", ":"))) <= 8_000
    assert found["next_offset"] == found["count"]
    after = client.read(f"{BASE}/memories?limit=100&offset={quote(str(found['next_offset']))}")
    assert after["memories"][0]["id"] not in {m["id"] for m in found["memories"]}
