"""The two tools and the resources, as a client sees them."""

from __future__ import annotations

import json
from pathlib import Path

import anyio
import pytest

from memrpc.codebase import reader
from memrpc.surface.catalogue import Catalogue
from memrpc.surface.views import codebase as views
from tests.codebase.conftest import git, write
from tests.workspace.conftest import Refused

FILES = {
    "a.py": 'def handle(x):\n    """Handle it."""\n    return helper(x)\ndef helper(y): pass\n',
    "pkg/b.py": "from a import handle\nclass Cart:\n    def go(self):\n        handle(1)\n"
    "class Bag:\n    def go(self): pass\n",
    "README.md": "# Title\n",
}


@pytest.fixture
def widgets(tools, repo):
    write(repo, FILES)
    tools.index(repo)
    return tools


def test_a_run_reports_what_it_did_in_both_forms(tools, repo):
    write(repo, FILES)
    answer = tools.index(repo)
    assert (answer["success"], answer["totalFiles"], answer["totalSymbols"]) == (True, 3, 7)
    text = tools.result("codebase-index", repoPath=str(repo))["content"][0]["text"]
    assert "Indexed widgets: 7 symbols across 3 files" in text


def test_status_before_and_after(tools, repo):
    write(repo, FILES)
    before = tools.call("codebase-index")
    assert (before["isIndexed"], before["isIndexing"], before["totalFiles"]) == (False, False, 0)
    tools.index(repo)
    after = tools.call("codebase-index")
    assert (after["isIndexed"], after["totalFiles"], after["stale"]) == (True, 3, False)
    write(repo, {"a.py": "x = 1\n"})
    assert tools.call("codebase-index")["stale"] is True


def test_an_index_of_another_version_is_stale(widgets, monkeypatch):
    monkeypatch.setattr(reader, "name", lambda: "another")
    found = widgets.result("codebase-index")
    assert (found["structuredContent"]["stale"], found["structuredContent"]["changed"]) == (True, 0)
    assert "Another version of memrpc" in found["content"][0]["text"]


def test_a_folder_names_its_own_repository(tools, repo):
    write(repo, FILES)
    git(repo, "init", "-q")
    git(repo, "remote", "add", "origin", "https://example.com/globex/gadgets.git")
    answer = tools.index(repo, owner=..., repo=...)
    assert (answer["scope"]["owner"], answer["scope"]["repo"]) == ("globex", "gadgets")
    found = tools.read(query="handle", owner=..., repo="gadgets")
    assert found["scope"]["owner"] == "globex"
    assert found["total"] == 1


def test_the_home_of_nobody_is_a_folder_that_is_not_there(tools):
    with pytest.raises(Refused, match="is not there"):
        tools.call("codebase-index", repoPath="~nobody-of-this-name/code", owner=..., repo=...)


def checkout(folder, owner, code):
    """A git checkout of the owner's widgets."""
    write(folder, {"a.py": code})
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", f"https://example.com/{owner}/widgets.git")
    return folder


def test_h22_a_folders_own_owner_counts_more_than_an_indexed_one_of_its_name(tools, repo, tmp_path):
    tools.index(checkout(repo, "acme", "def ours(): pass\n"))
    theirs = checkout(tmp_path / "theirs", "globex", "def theirs(): pass\n")
    answer = tools.index(theirs, owner=..., repo="widgets")
    assert answer["scope"]["owner"] == "globex"
    assert tools.read(query="ours")["total"] == 1


def test_the_checkout_at_hand_counts_more_than_an_indexed_one_of_its_name(tools, repo, tmp_path):
    tools.index(checkout(repo, "acme", "def ours(): pass\n"))
    tools.application.desk.places.folder = checkout(tmp_path / "widgets2", "globex", "")
    with pytest.raises(Refused) as refusal:
        tools.read(query="ours", owner=..., repo="widgets")
    assert refusal.value.details["owner"] == "globex"


@pytest.mark.parametrize("tool", ["codebase-read", "codebase-index"])
def test_a_bare_name_of_several_owners_is_refused_with_all_of_them(tools, repo, tmp_path, tool):
    write(repo, FILES)
    tools.index(repo)
    tools.index(repo, owner="globex")
    with pytest.raises(Refused) as refusal:
        tools.call(tool, owner=..., repo="widgets")
    assert refusal.value.code == "invalid_arguments"
    assert refusal.value.details["candidates"] == ["acme/widgets", "globex/widgets"]


@pytest.mark.parametrize("tool", ["codebase-read"])
@pytest.mark.parametrize(
    "arguments", [{"name": "x"}, {"query": "xx"}, {"content": "x"}, {"filePath": "x"}, {}]
)
def test_an_unindexed_repository_says_what_to_do(tools, tool, arguments):
    with pytest.raises(Refused) as refusal:
        tools.call(tool, **arguments)
    assert refusal.value.code == "not_found"
    assert refusal.value.details["reason"] == "REPO_NOT_INDEXED"
    assert "Run codebase-index on repo." in refusal.value.message


def test_each_mode_follows_from_the_fields_that_are_there(widgets):
    modes = {
        "trace": {"name": "handle"},
        "search": {"query": "handle"},
        "code": {"content": "handle"},
        "file": {"filePath": "a.py"},
        "architecture": {},
    }
    for mode, arguments in modes.items():
        assert widgets.read(**arguments)["mode"] == mode
    narrowed = widgets.read(content="def ", filePath="pkg/b.py")
    assert (narrowed["mode"], narrowed["total"]) == ("code", 2)


def test_a_trace_shows_certain_references(widgets):
    answer = widgets.read(name="handle")
    assert answer["definition"]["file"] == "a.py"
    assert [(use["filePath"], use["line"], use["certainty"]) for use in answer["references"]] == [
        ("pkg/b.py", 1, "resolved"),
        ("pkg/b.py", 4, "resolved"),
    ]
    text = widgets.result("codebase-read", name="handle")["content"][0]["text"]
    assert "pkg/b.py:4:9 call in go" in text
    assert widgets.read(name="handle", includeReferences=False)["references"] == []


def test_an_ambiguous_name_is_a_success_with_the_choices(widgets):
    answer = widgets.read(name="go")
    assert answer["ambiguous"] is True
    assert [each["owner"] for each in answer["disambiguation"]] == ["Cart", "Bag"]
    assert widgets.read(name="Cart.go")["definition"]["line"] == 3
    text = widgets.result("codebase-read", name="pkg.go")["content"][0]["text"]
    assert text.startswith(
        '"pkg.go" is declared 2 times; narrow it by kind, filePath, or as Owner.go'
    )


def test_all_choices_of_an_ambiguous_name_can_be_had(tools, repo):
    code = "".join(f"class Class{n}:\n    def go(self, there, and_back): ...\n" for n in range(90))
    write(repo, {"a.py": code})
    tools.index(repo)
    seen, offset = [], 0
    while offset is not None:
        answer = tools.read(name="go", offset=offset)
        seen += [each["owner"] for each in answer["disambiguation"]]
        offset = answer.get("nextOffset")
    assert seen == [f"Class{n}" for n in range(90)]
    text = tools.result("codebase-read", name="go")["content"][0]["text"]
    assert "declared 90 times" in text
    assert "More: offset=" in text


def test_a_class_of_many_members_says_that_there_are_more(tools, repo):
    members = "".join(f"    def m{n}(self): ...\n" for n in range(60))
    write(repo, {"a.py": f"class A:\n{members}"})
    tools.index(repo)
    assert tools.read(name="A")["childrenTotal"] == 60
    text = tools.result("codebase-read", name="A")["content"][0]["text"]
    assert "method m49:51 and 10 more" in text


@pytest.mark.parametrize(
    ("query", "line"),
    [
        ("handle", "a.py\n- function handle"),
        ("handel", "No name matches; found by likeness."),
        ("handle it", "No name matches; found by signature or comment."),
        ("b.py", "No name matches; found by path."),
        ("xyzzy", "Nothing matches"),
    ],
)
def test_a_text_tells_how_its_symbols_were_found(widgets, query, line):
    text = widgets.result("codebase-read", query=query)["content"][0]["text"]
    assert text.split("\n", 1)[1].startswith(line)


def test_an_absolute_path_below_the_indexed_folder_is_taken_from_there(widgets, repo):
    path = str(repo / "pkg" / "b.py")
    assert widgets.read(filePath=path)["file"]["path"] == "pkg/b.py"
    assert widgets.read(name="go", filePath=path)["total"] == 2
    assert widgets.read(query="go", filePath=path)["total"] == 2
    assert widgets.read(content="go", filePath=str(repo / "pkg"))["total"] == 2
    assert widgets.read(content="def", filePath=str(repo))["total"] == 4
    for mode in ({"name": "go"}, {"query": "go"}, {"content": "go"}, {}):
        with pytest.raises(Refused) as refusal:
            widgets.read(**mode, filePath=str(repo.parent / "a.py"))
        assert refusal.value.details["field"] == "filePath"


def test_a_folder_in_the_place_of_a_file_tells_its_files(widgets):
    for path, first in (("pkg", "pkg/b.py"), ("./pkg/", "pkg/b.py"), (".", "README.md")):
        with pytest.raises(Refused) as refusal:
            widgets.read(filePath=path)
        assert refusal.value.details["near"][0] == first


def test_a_look_into_no_file_at_all_says_so(widgets):
    for narrowed in ({"filePath": "none"}, {"language": "rust"}):
        result = widgets.result("codebase-read", content="def", **narrowed)
        assert "No file of the index" in result["content"][0]["text"]


def test_what_a_decorator_may_hand_on_is_not_called_unused(tools, repo):
    code = "import app\n@app.route(\n    '/'\n)\n# noqa\ndef _page(): pass\ndef _dead(): pass\n"
    rust = "#[no_mangle]\nfn kept() {}\nfn main() { go(); }\nfn go() {}\n"
    write(repo, {"a.py": code + "app.run()\n", "b.rs": rust})
    tools.index(repo)
    answer = tools.read()["deadCode"]
    assert [each["name"] for each in answer["unreferenced"]] == ["_dead"]
    assert answer["excluded"]["decorated"] == 2


def test_a_language_does_not_make_the_survey_call_more_unused(tools, repo):
    code = {"a.py": "def _one(): pass\n", "b.md": "# T\nSee `_one`.\n", "c.py": "_x = print()\n"}
    write(repo, code)
    tools.index(repo)
    assert tools.read()["deadCode"]["total"] == 0
    assert tools.read(language="python")["deadCode"]["total"] == 0


def test_json_makes_the_text_the_same_json(widgets):
    result = widgets.result("codebase-read", query="handle", json=True)
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]


@pytest.mark.parametrize("kind", ["class", ["class"], '["class"]'])
def test_b78_a_kind_is_read_as_hosts_write_it(widgets, kind):
    assert [each["name"] for each in widgets.read(query="cart", kind=kind)["symbols"]] == ["Cart"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"filePath": "../../etc/passwd"}, "invalid_arguments"),
        ({"query": "x"}, "invalid_arguments"),
        ({"content": ""}, "invalid_arguments"),
        ({"content": "(", "regex": True}, "invalid_arguments"),
        ({"name": "missing"}, "not_found"),
        ({"limit": 0}, "invalid_arguments"),
        ({"query": "go", "limit": 201}, "invalid_arguments"),
        ({"query": "go", "repos": []}, "invalid_arguments"),
        ({"query": "go", "repos": ["acme/none"]}, "not_found"),
    ],
)
def test_b101_wrong_questions_are_refused(widgets, arguments, code):
    with pytest.raises(Refused) as refusal:
        widgets.read(**arguments)
    assert refusal.value.code == code


@pytest.mark.parametrize(
    ("path", "reason"),
    [("none", "PATH_NOT_FOUND"), ("a.py", "NOT_A_DIRECTORY"), ("/", "ROOT_TOO_WIDE")],
)
def test_a_folder_that_cannot_be_indexed_is_refused(tools, repo, path, reason):
    write(repo, FILES)
    with pytest.raises(Refused) as refusal:
        tools.index(repo / path)
    assert refusal.value.details["reason"] == reason


def test_an_empty_folder_name_is_not_the_servers_folder(widgets):
    with pytest.raises(Refused) as refusal:
        widgets.index("")
    assert refusal.value.details["field"] == "repoPath"
    assert widgets.read(content="def", repoPath="")["total"] == 4


def test_several_repositories_are_searched_together(tools, repo, tmp_path):
    write(repo, {"a.py": "def handle_one(): pass\n"})
    other = write(tmp_path / "other", {"b.py": "def handle_two(): pass\n"})
    tools.index(repo)
    tools.index(other, repo="globex/gadgets", owner=...)
    answer = tools.read(query="handle", repos=["acme/widgets", "gadgets"])
    assert {(each["repo"], each["name"]) for each in answer["symbols"]} == {
        ("acme/widgets", "handle_one"),
        ("globex/gadgets", "handle_two"),
    }
    assert tools.read(query="handle")["total"] == 1
    asked = {"query": "handle", "repos": ["acme/widgets", "gadgets"]}
    text = tools.result("codebase-read", **asked)["content"][0]["text"]
    assert "globex/gadgets: b.py" in text
    (only,) = tools.read(query="handle", repos=["gadgets"])["symbols"]
    assert only["repo"] == "globex/gadgets"


def test_several_repositories_are_searched_from_a_folder_that_is_no_project(widgets):
    widgets.application.desk.places.folder = Path("/")
    found = widgets.read(query="handle", repos=["widgets"], repo=..., owner=...)
    assert (found["total"], found["scope"]["owner"]) == (1, "acme")


def test_large_answers_are_cut_with_a_way_to_the_rest(tools, repo):
    write(
        repo,
        {"a.py": "def f(): pass\n" + "".join(f"def item_{n}(argument): f()\n" for n in range(400))},
    )
    tools.index(repo)
    asked = ({"name": "f"}, {"query": "item"}, {"filePath": "a.py"}, {"content": "item"})
    for arguments in asked:
        seen, offset, pages = 0, 0, 0
        while offset is not None:
            answer = tools.read(**arguments, limit=200, offset=offset)
            kind = next(each for each in ("references", "symbols", "matches") if each in answer)
            seen += len(answer[kind])
            offset, pages = answer.get("nextOffset"), pages + 1
        assert seen == answer["total"]
        assert pages > 1


def test_a_symbols_page_lists_the_entries_and_tasks_that_name_it(widgets):
    widgets.remember("Cart rules", "Every change of `Cart` goes through `Cart.go()` first.")
    widgets.task("Refactor handle()", description="Split `handle()` of a.py in two.")
    assert widgets.read(name="Cart")["entries"][0]["title"] == "Cart rules"
    assert widgets.read(name="Cart.go")["entries"][0]["code"] == "MEM-001"
    assert widgets.read(name="handle")["tasks"][0]["title"] == "Refactor handle()"
    assert widgets.read(filePath="a.py")["tasks"][0]["code"] == "TASK-001"
    assert "entries" not in widgets.read(name="helper")


def test_an_entry_links_to_the_code_that_it_names(widgets):
    widgets.remember("Cart rules", "`Cart.go()` is called from pkg/b.py; `go()` alone says little.")
    answer = widgets.call("memory-read", id="MEM-001")
    assert answer["code_links"] == [
        {"name": "pkg/b.py", "kind": "file", "file_path": "pkg/b.py"},
        {"name": "go", "kind": "method", "file_path": "pkg/b.py", "line": 3},
        {"name": "go", "kind": "method", "file_path": "pkg/b.py", "line": 6},
    ]
    assert "Names method go: pkg/b.py:3" in widgets.text("memory-read", id="MEM-001")
    widgets.remember("Plain words", "Nothing of this names any code at all here.")
    assert "code_links" not in widgets.call("memory-read", id="MEM-002")


def test_b100_what_people_stored_is_untouched_by_runs(widgets, repo):
    widgets.remember("Cart rules", "Every change of `Cart` goes through review first.")
    named = {"name": "Names", "content": "Name things for what they are, always."}
    widgets.call("standard-write", **named, tags=["naming"], metadata={"source": "team"})
    (repo / "pkg/b.py").unlink()
    widgets.index(repo, force=True)
    assert widgets.call("memory-read", query="Cart review")["total"] == 1
    assert widgets.call("standard-read", query="Names")["total"] == 1
    with pytest.raises(Refused):
        widgets.read(name="Cart")


# Resources


def read(tools, uri: str) -> dict:
    async def go():
        context = tools.context("resources/read", {})
        context.call.params["uri"] = uri
        catalogue = Catalogue(views.VIEWS, tools.application.desk)
        return await catalogue.read(context, uri)

    (contents,) = anyio.run(go)
    return json.loads(contents["text"])


def test_resources_serve_symbols_one_symbol_and_a_file(widgets):
    listed = read(widgets, "codebase://acme%2Fwidgets/symbols?kind=class&limit=1")
    assert ([each["name"] for each in listed["records"]], listed["total"]) == (["Cart"], 2)
    searched = read(widgets, "codebase://widgets/symbols?search=hand")
    assert [each["name"] for each in searched["records"]] == ["handle"]
    assert listed["records"][0].keys() <= searched["records"][0].keys()
    assert read(widgets, "codebase://widgets/symbols/handle")["resolved"] == 2
    file = read(widgets, "codebase://widgets/files/pkg/b.py")
    assert file["content"] is None
    assert [each["name"] for each in file["symbols"]] == ["Cart", "go", "Bag", "go"]


def test_b101_an_ambiguous_symbol_is_a_list_of_choices(widgets):
    answer = read(widgets, "codebase://widgets/symbols/go")
    assert (answer["ambiguous"], len(answer["disambiguation"])) == (True, 2)


def test_b101_an_unindexed_repository_is_an_error_that_can_be_mended(widgets):
    from memrpc.server.faults import ProtocolFault

    with pytest.raises(ProtocolFault) as fault:
        read(widgets, "codebase://nowhere/symbols")
    assert fault.value.error.data == {"uri": "codebase://nowhere/symbols", "recoverable": True}
    assert "Run codebase-index on repo." in str(fault.value)


@pytest.mark.parametrize(
    "uri",
    [
        "codebase://widgets/symbols/missing",
        "codebase://widgets/files/..%2F..%2Fetc%2Fpasswd",
        "codebase://widgets/files/none.py",
        "codebase://widgets/symbols?limit=201",
        "codebase://widgets/symbols?offset=x",
    ],
)
def test_b101_what_is_not_there_is_not_found(widgets, uri):
    with pytest.raises(KeyError):
        read(widgets, uri)


def test_a_name_of_several_owners_lists_them(tools, repo, tmp_path):
    write(repo, {"a.py": "def a(): pass\n"})
    other = write(tmp_path / "other", {"b.py": "def b(): pass\n"})
    tools.index(repo)
    tools.index(other, owner="globex")
    with pytest.raises(KeyError) as missing:
        read(tools, "codebase://widgets/symbols")
    assert "acme%2Fwidgets" in missing.value.args[1]
    assert "globex%2Fwidgets" in missing.value.args[1]
    assert read(tools, "codebase://globex%2Fwidgets/symbols")["records"][0]["name"] == "b"


def test_templates_complete_from_what_is_indexed(widgets):
    desk = widgets.application.desk

    async def complete(completer, values):
        return await completer(desk, values)

    assert anyio.run(complete, views.complete_repo, {}) == ["acme/widgets"]
    assert "class" in anyio.run(complete, views.complete_kind, {})
    assert "Cart" in anyio.run(complete, views.complete_name, {"repo": "widgets"})
    assert anyio.run(complete, views.complete_path, {"repo": "acme/widgets"}) == [
        "README.md", "a.py", "pkg/b.py",
    ]  # fmt: skip
