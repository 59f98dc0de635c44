"""Which files are indexed, and how the others are accounted for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from memrpc.codebase import discovery
from memrpc.codebase.roots import is_too_wide, root_of
from memrpc.store.errors import InvalidArguments, NotFound
from tests.codebase.conftest import git, write

RULES = {
    ".gitignore": "*.log\n!keep.log\n/only_top.py\nbuilt/\n",
    "a.py": "x = 1\n",
    "a.log": "no",
    "keep.log": "yes",
    "only_top.py": "no",
    "deep/only_top.py": "yes",
    "deep/.gitignore": "secret.*\n!secret.txt\n",
    "deep/secret.py": "no",
    "deep/secret.txt": "yes",
    "built/x.py": "no",
    "deep/built/x.py": "no",
}
KEPT = {
    ".gitignore",
    "a.py",
    "keep.log",
    "deep/only_top.py",
    "deep/.gitignore",
    "deep/secret.txt",
}


@pytest.mark.parametrize("path", ["\0", "a" * 5_000, "~nobody/there"])
def test_what_can_name_no_folder_is_not_there(path, tmp_path):
    with pytest.raises(NotFound, match="is not there"):
        root_of(path, base=tmp_path, home=None, force=False)


def test_a_line_that_is_no_pattern_is_passed_over_and_a_glob_that_is_none_refused(tmp_path):
    rules = "[z-a]\n" + "x" * 300_000 + "\nb.py\n"
    repo = write(tmp_path / "plain", {"a.py": "", "b.py": "", ".gitignore": rules})
    assert paths(repo) == {"a.py", ".gitignore"}
    for glob in ("[z-a]", "x" * 300_000):
        with pytest.raises(InvalidArguments, match="is no pattern"):
            paths(repo, excludes=[glob])


def paths(root: Path, **more) -> set[str]:
    return {each.path for each in discovery.discover(str(root), **more).candidates}


def test_nested_rules_and_negation_hold_outside_of_git(repo):
    write(repo, RULES)
    found = discovery.discover(str(repo))
    assert not found.is_git
    assert {each.path for each in found.candidates} == KEPT
    assert found.skipped == {"gitignored": 5}


def test_git_and_the_walk_agree(repo):
    write(repo, RULES)
    git(repo, "init", "-q")
    found = discovery.discover(str(repo))
    assert found.is_git
    assert {each.path for each in found.candidates} == KEPT
    assert found.skipped["gitignored"] >= 4


def test_git_knows_info_exclude_global_excludes_and_tracked_ignored_files(repo, tmp_path):
    write(repo, {"a.py": "", "b.py": "", "c.py": "", ".gitignore": "c.py\n"})
    git(repo, "init", "-q")
    (repo / ".git/info/exclude").write_text("a.py\n")
    (tmp_path / "global").write_text("b.py\n")
    git(repo, "config", "core.excludesFile", str(tmp_path / "global"))
    git(repo, "add", "-f", "c.py")
    assert paths(repo) == {".gitignore", "c.py"}


def test_submodules_and_nested_repositories_are_entered(repo, tmp_path):
    inner = write(tmp_path / "inner", {"lib.py": "", "no.py": "", ".gitignore": "no.py\n"})
    git(inner, "init", "-q")
    git(inner, "add", "lib.py", ".gitignore")
    git(inner, "commit", "-qm", "x")
    git(repo, "init", "-q")
    git(repo, "submodule", "-q", "add", str(inner), "sub")
    nested = write(repo / "nested", {"n.py": ""})
    git(nested, "init", "-q")
    write(repo / "sub", {"no.py": ""})
    found = paths(repo)
    assert {"sub/lib.py", "nested/n.py"} <= found
    assert "sub/no.py" not in found


def test_a_folder_inside_a_repository_lists_only_itself(repo):
    write(repo, {"a.py": "", "part/b.py": "", ".gitignore": "*.tmp\n", "part/c.tmp": ""})
    git(repo, "init", "-q")
    assert paths(repo / "part") == {"b.py"}


def test_a_folder_that_its_repository_ignores_is_walked_when_it_is_asked_for(repo):
    write(repo, {".gitignore": "out/\n", "a.py": "", "out/b.py": "", "out/.gitignore": "c.py\n"})
    write(repo, {"out/c.py": ""})
    git(repo, "init", "-q")
    assert paths(repo) == {".gitignore", "a.py"}
    assert paths(repo / "out") == {".gitignore", "b.py"}


def test_a_repository_cannot_start_programs_of_its_choice(repo, tmp_path):
    write(repo, {"a.py": ""})
    git(repo, "init", "-q")
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    git(repo, "config", "core.fsmonitor", str(trap))
    assert paths(repo) == {"a.py"}
    assert not (tmp_path / "sprung").exists()


def test_links_and_special_files_are_counted_and_not_followed(repo):
    write(repo, {"a.py": "", "folder/b.py": ""})
    (repo / "folder/loop").symlink_to(repo)
    (repo / "result").symlink_to("/nix")
    (repo / "copy.py").symlink_to("a.py")
    os.mkfifo(repo / "pipe")
    found = discovery.discover(str(repo))
    assert {each.path for each in found.candidates} == {"a.py", "folder/b.py"}
    assert found.skipped == {"symlink": 3, "special": 1}


def test_a_link_that_took_a_tracked_folders_place_is_not_followed(repo, tmp_path):
    write(repo, {"a.py": "", "folder/deep/b.py": "", "folder/c.py": ""})
    git(repo, "init", "-q")
    git(repo, "add", ".")
    (repo / "folder").rename(tmp_path / "elsewhere")
    (repo / "folder").symlink_to(tmp_path / "elsewhere")
    found = discovery.discover(str(repo))
    assert {each.path for each in found.candidates} == {"a.py"}
    assert found.skipped == {"symlink": 3}


def test_large_binary_and_oddly_named_files_are_counted_with_examples(repo):
    write(repo, {"a.py": "", "big.js": b"x" * (5 << 20), "pic.png": b"\x89PNG"})
    odd = os.fsdecode(bytes(repo) + b"/\xff.py")
    Path(odd).write_text("")
    found = discovery.discover(str(repo))
    assert found.skipped == {"oversized": 1, "binary": 1, "odd_name": 1}
    assert ("big.js", "oversized") in found.examples


def test_names_that_are_no_text_do_not_stop_a_walk_with_rules(repo):
    write(repo, {"a.py": "", ".gitignore": "*.log\n"})
    for name in (b"/\xff.py", b"/\xff.log", b"/\xfe/.gitignore", b"/\xfe/b.py"):
        odd = Path(os.fsdecode(bytes(repo) + name))
        odd.parent.mkdir(exist_ok=True)
        odd.write_text("")
    found = discovery.discover(str(repo))
    assert {each.path for each in found.candidates} == {".gitignore", "a.py"}
    assert found.skipped == {"odd_name": 3, "gitignored": 1}


def test_generated_folders_are_left_out_outside_of_git_only(repo):
    write(repo, {"dist/a.py": "", "node_modules/m/b.js": "", "src/c.py": ""})
    assert paths(repo) == {"src/c.py"}
    git(repo, "init", "-q")
    assert paths(repo) == {"dist/a.py", "src/c.py"}


def test_globs_narrow_what_is_found(repo):
    write(repo, {"src/a.py": "", "src/b.js": "", "test/a.py": ""})
    assert paths(repo, includes=["*.py"]) == {"src/a.py", "test/a.py"}
    assert paths(repo, includes=["src/**"], excludes=["*.js"]) == {"src/a.py"}


def test_a_home_or_a_disk_is_not_indexed_unasked(tmp_path):
    home = tmp_path / "home"
    (home / "project").mkdir(parents=True)
    for folder in (home, tmp_path, Path("/")):
        with pytest.raises(InvalidArguments) as refusal:
            root_of(str(folder), base=tmp_path, home=home, force=False)
        assert refusal.value.details["reason"] == "ROOT_TOO_WIDE"
    assert root_of(str(home), base=tmp_path, home=home, force=True) == home
    assert root_of("~/project", base=tmp_path, home=home, force=False) == home / "project"
    assert not is_too_wide(home / "project", home)


def test_a_root_that_is_no_folder_is_refused_with_its_reason(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(NotFound) as missing:
        root_of("none", base=tmp_path, home=None, force=False)
    assert missing.value.details["reason"] == "PATH_NOT_FOUND"
    with pytest.raises(InvalidArguments) as a_file:
        root_of("file", base=tmp_path, home=None, force=False)
    assert a_file.value.details["reason"] == "NOT_A_DIRECTORY"
