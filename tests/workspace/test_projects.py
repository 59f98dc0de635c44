"""Which project a folder and a call belong to."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from memrpc.server.faults import Refusal, RefusedError
from memrpc.surface.checkouts import Checkout, checkout_of, folder_of, parse_url
from memrpc.surface.projects import Places
from tests.workspace.conftest import Refused


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("git@github.com:acme/harbor.git", ("acme", "harbor")),
        ("ssh://git@github.com/acme/harbor", ("acme", "harbor")),
        ("https://github.com/acme/harbor.git", ("acme", "harbor")),
        ("https://user:token@github.com/acme/harbor", ("acme", "harbor")),
        ("git://host:9418/acme/har%20bor.git", ("acme", "har bor")),
        ("https://gitlab.com/group/sub/harbor.git", ("sub", "harbor")),
        ("/srv/git/harbor.git", ("git", "harbor")),
        ("harbor.git", ("local", "harbor")),
        ("", None),
        ("https://[::1", None),
    ],
)
def test_owner_and_name_are_read_from_each_form_of_a_remote(url, expected):
    assert parse_url(url) == expected


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path) -> Path:
    folder = tmp_path / "clone"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "remote", "add", "upstream", "https://github.com/other/harbor.git")
    git(folder, "remote", "add", "origin", "git@github.com:acme/harbor.git")
    (folder / "src" / "deep").mkdir(parents=True)
    return folder


def test_b87_a_checkout_its_folders_and_its_worktrees_are_one_project(checkout, tmp_path):
    git(checkout, "commit", "-q", "--allow-empty", "-m", "first")
    git(checkout, "worktree", "add", "-q", str(tmp_path / "tree"), "-b", "branch")
    expected = Checkout("acme", "harbor", is_git=True)
    for folder in (checkout, checkout / "src" / "deep", tmp_path / "tree"):
        assert checkout_of(folder, home=None) == expected


def test_b87_without_git_the_folder_speaks_and_the_root_and_the_home_do_not(tmp_path):
    folder = tmp_path / "acme" / "widgets"
    folder.mkdir(parents=True)
    assert checkout_of(folder, home=None) == Checkout("acme", "widgets", is_git=False)
    assert checkout_of(Path("/"), home=None) is None
    assert checkout_of(folder, home=folder) is None


def test_a_checkout_without_a_remote_is_named_by_its_top_folder(tmp_path):
    folder = tmp_path / "acme" / "tool"
    (folder / "src").mkdir(parents=True)
    git(folder, "init", "-q")
    assert checkout_of(folder / "src", home=None) == Checkout("acme", "tool", is_git=False)


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("file:///srv/a%20b", Path("/srv/a b")),
        ("file://localhost/srv/a", Path("/srv/a")),
        ("https://example.org/a", None),
        ("file://host/share", None),
        ("http://[::1", None),
    ],
)
def test_only_a_local_file_uri_is_a_folder(uri, expected):
    assert folder_of(uri) == expected


def stand(tools, folder: Path, *, project: Path | None = None, home: Path | None = None) -> None:
    tools.application.places = Places(folder, project, home)
    tools.place = {}


def test_b87_the_answer_says_what_named_the_project(tools, checkout, tmp_path):
    stand(tools, checkout / "src")
    assert tools.call("memory-read")["scope"]["resolved_by"] == "git"
    stand(tools, tmp_path, project=checkout)
    scope = tools.call("memory-read")["scope"]
    assert scope == {"owner": "acme", "repo": "harbor", "resolved_by": "project_dir"}
    assert "Scope: acme/harbor (from project_dir)." in tools.text("memory-read")


def test_b87_where_nothing_names_a_project_the_call_is_refused(tools):
    stand(tools, Path("/"))
    for tool, arguments in (("memory-read", {}), ("agent-context", {})):
        with pytest.raises(Refused, match="owner/name"):
            tools.call(tool, **arguments)


def test_b87_write_and_read_agree(tools, checkout):
    stand(tools, checkout / "src" / "deep")
    tools.remember("Here", "Written from a folder of the checkout.")
    stand(tools, checkout)
    assert tools.call("memory-read")["total"] == 1
    assert tools.call("memory-read", repo="harbor")["scope"]["resolved_by"] == "argument"
    assert tools.call("memory-read", repo="harbor")["total"] == 1


def test_what_agent_context_names_holds_for_the_handshake_session_only(tools, checkout):
    stand(tools, checkout)
    tools.call("agent-context", repo="globex/widgets")
    scope = tools.call("memory-read")["scope"]
    assert scope == {"owner": "globex", "repo": "widgets", "resolved_by": "session"}
    tools.handshake = None
    assert tools.call("memory-read")["scope"]["resolved_by"] == "git"


def test_a_client_that_does_not_answer_for_its_roots_is_waited_for_once(tools, checkout):
    stand(tools, checkout)
    tools.capabilities = {"roots": {}}
    tools.place = {}
    tools.answers = [RefusedError(Refusal("unavailable", "no answer", retryable=True))]
    for _ in range(2):
        assert tools.call("memory-read")["scope"]["resolved_by"] == "git"
    assert len(tools.asked) == 1


def test_a_client_that_refused_to_tell_its_roots_is_asked_again(tools, checkout):
    stand(tools, checkout)
    tools.capabilities = {"roots": {}}
    tools.place = {}
    told = {"roots": [{"uri": checkout.as_uri()}]}
    tools.answers = [RefusedError(Refusal("unavailable", "not yet")), told]
    sources = [tools.call("memory-read")["scope"]["resolved_by"] for _ in range(2)]
    assert sources == ["git", "roots"]


def test_in_2026_roots_are_not_asked_for(tools, checkout):
    stand(tools, checkout)
    tools.handshake = None
    tools.capabilities = {"roots": {}}
    assert tools.call("memory-read")["scope"]["resolved_by"] == "git"
    assert tools.asked == []


def test_inline_owner_and_repo_name_the_project_of_a_search(tools):
    tools.remember("Far away", "Known in another repository.", owner="globex", repo="widgets")
    answer = tools.call("memory-read", query="known repo:globex/widgets")
    assert answer["scope"]["owner"] == "globex"
    assert answer["total"] == 1


def test_the_scope_of_a_memory_names_its_project(tools, checkout):
    stand(tools, checkout)
    place = {"owner": "globex", "repo": "widgets", "branch": "main"}
    written = tools.remember("Far away", "Known in another repository.", scope=place)
    assert (written["scope"]["owner"], written["scope"]["repo"]) == ("globex", "widgets")
    assert tools.call("memory-read", query="known", scope=place)["total"] == 1
    assert tools.call("memory-read")["total"] == 0


@pytest.mark.parametrize("stray", [{"repo": "globex/widgets"}, {"scope": {"owner": "globex"}}])
def test_an_item_of_another_project_than_its_call_fails_alone(tools, stray):
    entry = {
        "type": "code_fact",
        "title": "Here",
        "content": "Known in this place.",
        "importance": 1,
    }
    here = {**entry, "repo": "ACME/harbor"}
    answer = tools.call("memory-write", memories=[here, {**entry, **stray}])
    assert [each["index"] for each in answer["results"]] == [0]
    (failed,) = answer["failed"]
    assert (failed["index"], "another repository than acme/harbor" in failed["message"]) == (
        1,
        True,
    )


def test_an_absolute_path_counts_from_the_project_and_stays_inside_the_roots(tools, checkout):
    for title, folder in (("Near", "src"), ("Far", "docs")):
        tools.remember(title, f"The lamp is lit at dusk, says {title}.", scope={"folder": folder})
    stand(tools, checkout)
    asked = {"owner": "acme", "repo": "harbor", "query": "lamp"}
    for title, folder in (("Near", "src"), ("Far", "docs")):
        path = str(checkout / folder / "lamp.py")
        assert tools.rows("memory-read", **asked, current_file_path=path)[0]["title"] == title
    tools.capabilities = {"roots": {}}
    tools.answers = [{"roots": [{"uri": checkout.as_uri()}]}]
    for tool, arguments in (
        ("memory-read", {"query": "lamp", "current_file_path": "/etc/passwd"}),
        ("task-write", {"phase": "p", "title": "Work", "description": "d", "doc_path": "/etc/x"}),
    ):
        with pytest.raises(Refused, match="must stay within the client's roots"):
            tools.call(tool, **arguments)


def test_a_bare_name_means_the_clients_folder_of_that_name(tools, tmp_path):
    folders = [tmp_path / owner / name for owner, name in (("acme", "a"), ("globex", "b"))]
    twin = tmp_path / "acme" / "b"
    for folder in (*folders, twin):
        folder.mkdir(parents=True)
    tools.remember("Elsewhere", "Kept by somebody else.", owner="zed", repo="b")
    stand(tools, tmp_path)
    tools.capabilities = {"roots": {}}
    tools.answers = [{"roots": [{"uri": folder.as_uri()} for folder in folders]}]
    assert tools.call("memory-read", repo="b")["scope"]["owner"] == "globex"
    tools.handshake.roots = [{"uri": folder.as_uri()} for folder in (*folders, twin)]
    with pytest.raises(Refused, match="globex/b, acme/b"):
        tools.call("memory-read", repo="b")
