"""Index runs: what is parsed, what is not, and that nothing is ever half there."""

from __future__ import annotations

import os
import threading
from importlib import metadata
from pathlib import Path

import pytest

from memrpc.app import now_us
from memrpc.codebase import reader, repositories, run, staging, status
from memrpc.codebase.model import Repository
from memrpc.store.errors import Conflict, DomainError, NotFound, Unavailable
from tests.codebase.conftest import write

OLD_NS = 1_600_000_000_000_000_000


def age(root: Path) -> None:
    """Make every file look old, as after a checkout long ago."""
    for file in root.rglob("*"):
        if file.is_file():
            os.utime(file, ns=(OLD_NS, OLD_NS))


def settle(monkeypatch) -> None:
    """Let stamps be relied on although the files are seconds old."""
    monkeypatch.setattr(run, "RACY_NS", -(10**18))


def test_b98_everything_odd_is_indexed_or_skipped_with_its_reason(index, repo):
    write(
        repo,
        {
            "a.py": "def a(): pass\n",
            ".gitignore": "ignored/\n",
            "ignored/b.py": "def ignored(): pass\n",
            "sub/.gitignore": "c.py\n",
            "sub/c.py": "def also_ignored(): pass\n",
            "huge.js": b"a=1;" * 8_000_000,
            "small.min.js": "function mini(){}",
            "long.js": "function long(){}" + ";" * 20_000,
            "data.bin.txt": b"text\0binary",
            "utf16.py": "def sixteen(): pass\n".encode("utf-16"),
            "bom.py": b"\xef\xbb\xbfdef bom(): pass\n",
            "crlf.py": b"def crlf():\r\n    pass\r\n",
            "latin.py": b"# caf\xe9\ndef latin(): pass\n",
            "mac.py": b"def mac():\r    pass\rdef last(): pass\r",
            "a\nb.py": "def newline(): pass\n",
        },
    )
    (repo / "loop").symlink_to(repo)
    (repo / "result").symlink_to("/nix")
    report = index.run(repo)
    named = {"a", "sixteen", "bom", "crlf", "latin", "mac", "last", "newline"}
    assert named <= index.names()
    assert not {"ignored", "also_ignored", "mini", "long"} & index.names()
    assert "a\nb.py" in index.paths()
    assert report["skipped"] == {
        "binary": 1,
        "gitignored": 2,
        "minified": 2,
        "oversized": 1,
        "symlink": 2,
    }
    rows = index.ask("SELECT name, start_line FROM code_symbols WHERE name IN ('last', 'crlf')")
    assert set(rows) == {("last", 3), ("crlf", 1)}


def test_b100_deleted_renamed_and_edited_files_leave_no_stale_symbol(index, repo):
    write(repo, {"gone.py": "def gone(): pass\n", "old.py": "def same(): pass\n"})
    write(repo, {"edit.py": "def before(): pass\n", "still.py": "def still(): pass\n"})
    index.run(repo)
    (repo / "gone.py").unlink()
    (repo / "old.py").rename(repo / "new.py")
    write(repo, {"edit.py": "def after(): pass\n"})
    report = index.run(repo)
    assert index.paths() == ["edit.py", "new.py", "still.py"]
    assert index.names() == {"same", "after", "still"}
    done = ("parsedFiles", "renamedFiles", "removedFiles")
    assert [report[name] for name in done] == [1, 1, 1]
    for table in ("code_words", "code_grams"):
        assert len(index.ask(f"SELECT rowid FROM {table}")) == 3


def test_a_run_without_changes_reads_nothing(index, repo, monkeypatch):
    settle(monkeypatch)
    write(repo, {f"m{n}.py": f"def f{n}(): pass\n" for n in range(20)})
    index.run(repo)
    report = index.run(repo)
    assert (report["parsedFiles"], report["skippedByStamp"]) == (0, 20)


def test_a_file_that_was_young_when_it_was_read_is_read_again(index, repo):
    write(repo, {"a.py": "def a(): pass\n"})
    index.run(repo)
    report = index.run(repo)
    assert (report["skippedByStamp"], report["skippedByChecksum"]) == (0, 1)


def test_h21_a_change_with_an_older_mtime_is_picked_up(index, repo, monkeypatch):
    settle(monkeypatch)
    write(repo, {"a.py": "def one(): pass\n"})
    index.run(repo)
    about = (repo / "a.py").stat()
    write(repo, {"a.py": "def two(): pass\n"})
    os.utime(repo / "a.py", ns=(about.st_atime_ns, about.st_mtime_ns))
    assert (repo / "a.py").stat().st_mtime_ns == about.st_mtime_ns
    index.run(repo)
    assert index.names() == {"two"}


def test_touched_files_are_not_parsed_again(index, repo, monkeypatch):
    settle(monkeypatch)
    write(repo, {"a.py": "def a(): pass\n"})
    index.run(repo)
    age(repo)
    report = index.run(repo)
    assert (report["parsedFiles"], report["skippedByChecksum"]) == (0, 1)
    assert index.run(repo)["skippedByStamp"] == 1


def test_a_forced_run_parses_everything(index, repo):
    write(repo, {"a.py": "def a(): pass\n", "b.py": "def b(): pass\n"})
    index.run(repo)
    assert index.run(repo, force=True)["parsedFiles"] == 2
    assert len(index.ask("SELECT id FROM code_files")) == 2
    assert index.names() == {"a", "b"}


def test_what_another_version_has_read_is_read_anew_once(index, repo, monkeypatch):
    settle(monkeypatch)
    write(repo, {"a.py": "def a(): pass\n", "b.py": "def b(): pass\n"})
    index.run(repo)
    with monkeypatch.context() as other:
        other.setattr(reader, "name", lambda: "another")
        (repo / "b.py").rename(repo / "c.py")
        assert index.run(repo, includes=("a.py",))["parsedFiles"] == 1  # The others are as old.
        assert index.run(repo)["parsedFiles"] == 2
        assert index.run(repo)["skippedByStamp"] == 2
    assert index.run(repo)["parsedFiles"] == 2
    assert index.names() == {"a", "b"}


def test_a_name_of_what_reads_is_of_version_queries_and_grammars(monkeypatch):
    known = reader.name()
    reader.name.cache_clear()
    assert reader.name() == known
    for owner, attribute in ((reader, "__version__"), (metadata, "version")):
        with monkeypatch.context() as other:
            other.setattr(owner, attribute, "9" if owner is reader else lambda _: "9")
            reader.name.cache_clear()
            assert reader.name() != known
    reader.name.cache_clear()


def test_a_second_copy_of_a_vanished_file_is_parsed(index, repo):
    write(repo, {"a.py": "def a(): pass\n"})
    index.run(repo)
    (repo / "a.py").rename(repo / "b.py")
    write(repo, {"c.py": "def a(): pass\n"})
    index.run(repo)
    assert index.paths() == ["b.py", "c.py"]
    rows = index.ask("SELECT id >> 18 FROM code_symbols WHERE name = 'a'")
    assert len(set(rows)) == 2


def test_a_file_that_was_renamed_to_another_language_is_parsed_anew(index, repo):
    write(repo, {"a.py": "def a(): pass\n", "b.txt": "def b(): pass\n"})
    index.run(repo)
    (repo / "a.py").rename(repo / "a.txt")
    (repo / "b.txt").rename(repo / "b.py")
    assert index.run(repo)["renamedFiles"] == 0
    assert index.paths() == ["a.txt", "b.py"]
    assert index.names() == {"b"}


def test_files_of_one_content_are_renamed_each_to_one_place(index, repo):
    write(repo, {f"old/{n}/__init__.py": "" for n in range(5)})
    index.run(repo)
    (repo / "old").rename(repo / "new")
    write(repo, {"new/more/__init__.py": ""})
    report = index.run(repo)
    assert (report["renamedFiles"], report["parsedFiles"]) == (5, 1)
    assert len(index.paths()) == 6
    assert len(index.ask("SELECT id FROM code_files")) == 6


def test_h22_repositories_named_alike_stay_apart(index, repo, tmp_path):
    other = write(tmp_path / "other", {"b.py": "def b(): pass\n"})
    write(repo, {"a.py": "def a(): pass\n"})
    index.run(repo)
    index.run(other, owner="globex")
    rows = index.ask(
        "SELECT r.owner, f.path FROM code_files AS f "
        "JOIN code_repositories AS r ON r.id = f.repository ORDER BY 1"
    )
    assert rows == [("acme", "a.py"), ("globex", "b.py")]


def test_h27_a_run_with_globs_touches_only_what_they_match(index, repo):
    write(repo, {"a.py": "def a(): pass\n", "b.js": "function b() {}\n", "c.py": "def c(): pass\n"})
    index.run(repo)
    write(repo, {"b.js": "function changed() {}\n", "a.py": "def new(): pass\n"})
    (repo / "c.py").unlink()
    index.run(repo, includes=("*.py",))
    assert index.paths() == ["a.py", "b.js"]
    assert index.names() == {"new", "b"}


def staleness(index, repo):
    known = index.read(staging.known_files)
    seen_at = index.read(repositories.running, now=0).seen_at
    return status.staleness(str(repo), known, seen_at=seen_at)


def test_h26_a_run_with_globs_does_not_make_fresh_what_it_did_not_look_at(index, repo):
    write(repo, {"a.py": "x = 1\n", "b.js": "y\n"})
    index.run(repo)
    write(repo, {"a.py": "x = 2\n", "new.py": "z = 3\n"})
    index.run(repo, includes=("*.js",))
    index.run(repo, excludes=("*.py",))
    found = staleness(index, repo)
    assert (found.changed, found.missing, found.added) == (1, 0, 1)
    index.run(repo)
    assert staleness(index, repo).stale_ratio == 0.0


def test_h26_what_comes_while_a_run_is_under_way_is_new_afterwards(index, repo, monkeypatch):
    write(repo, {"a.py": "x = 1\n"})
    held = run.Run._finish

    def late(self, lease, todo):
        write(repo, {"new.py": "z = 3\n"})
        held(self, lease, todo)

    monkeypatch.setattr(run.Run, "_finish", late)
    index.run(repo)
    assert staleness(index, repo).added == 1


def test_h26_staleness_is_measured_on_the_files(index, repo, monkeypatch):
    settle(monkeypatch)
    write(repo, {f"m{n}.py": "x = 1\n" for n in range(40)})
    index.run(repo)

    def moved():
        return staleness(index, repo)

    assert moved().stale_ratio == 0.0
    write(repo, {"m0.py": "y = 22\n", "new.py": "z = 3\n"})
    (repo / "m1.py").unlink()
    found = moved()
    assert (found.changed, found.missing, found.added) == (1, 1, 1)
    assert found.stale


def test_progress_rises_and_ends_at_its_total(index, repo):
    write(repo, {f"m{n}.py": "x = 1\n" for n in range(30)})
    index.run(repo)
    done = [each for each, _ in index.progress]
    assert done == sorted(done)
    assert index.progress[-1] == (30, 30)
    assert all(each < 30 for each in done[:-1])
    assert {total for _, total in index.progress} == {30}


def test_only_signatures_and_comments_are_stored_of_a_file(index, repo):
    code = 'def f(a):\n    """Doc."""\n    # inner\n    return "SECRET_IN_BODY"\n'
    write(repo, {"a.py": code, "b.txt": "SECRET_IN_TEXT\n", "c.md": "# T\nSECRET_IN_PROSE\n"})
    index.run(repo)
    index.database.close()
    stored = index.database.path.read_bytes()
    assert b"def f(a)" in stored
    assert b"SECRET" not in stored.upper()


def test_one_repository_is_never_indexed_twice_at_once(index, repo):
    write(repo, {"a.py": "def a(): pass\n"})
    named = Repository(0, "acme", "widgets", str(repo), None)
    lease = index.database.write_blocking(
        lambda db: repositories.take(db, named, holder="other", now=now_us())
    )
    with pytest.raises(Unavailable) as refusal:
        index.run(repo)
    assert refusal.value.details["reason"] == "INDEX_IN_PROGRESS"
    assert refusal.value.retryable
    index.database.write_blocking(lambda db: repositories.release(db, lease))
    index.run(repo)
    assert index.names() == {"a"}


def test_a_run_that_has_lost_its_lease_changes_nothing(index, repo, monkeypatch):
    write(repo, {"a.py": "def a(): pass\n"})
    index.run(repo)
    write(repo, {"a.py": "def b(): pass\n"})
    held = run.Run._finish

    def robbed(self, lease, todo):
        named = Repository(0, "acme", "widgets", str(repo), None)
        late = now_us() + repositories.LEASE_US + 1
        self._database.write_blocking(
            lambda db: repositories.take(db, named, holder="other", now=late)
        )
        held(self, lease, todo)

    monkeypatch.setattr(run.Run, "_finish", robbed)
    with pytest.raises(Conflict) as refusal:
        index.run(repo)
    assert refusal.value.details["reason"] == "INDEX_LEASE_LOST"
    assert index.names() == {"a"}


@pytest.mark.parametrize("step", ["_parse", "_finish", "_note"])
def test_a_run_that_breaks_off_leaves_the_previous_index_readable(index, repo, monkeypatch, step):
    write(repo, {"a.py": "def a(): pass\n", "b.py": "from a import a\na()\n"})
    index.run(repo)
    write(repo, {"a.py": "def changed(): pass\n"})
    whole = getattr(run.Run, step)

    def broken(self, *arguments):
        if step != "_note":
            whole(self, *arguments[: 1 if step == "_none" else len(arguments)])
        raise DomainError("broken off")

    with monkeypatch.context() as patched:
        patched.setattr(run.Run, step, broken)
        with pytest.raises(DomainError):
            index.run(repo)
    expected = {"a"} if step == "_parse" else {"changed"}
    assert index.names() == expected
    index.run(repo)
    assert index.names() == {"changed"}
    assert len(index.ask("SELECT id FROM code_files")) == 2


def test_a_folder_that_is_gone_leaves_its_index_as_it_was(index, repo):
    write(repo, {"a.py": "def a(): pass\n"})
    index.run(repo)
    repo.rename(repo.with_name("away"))
    with pytest.raises(NotFound):
        index.run(repo)
    assert index.names() == {"a"}


def test_readers_see_one_index_while_another_is_written(index, repo, monkeypatch):
    write(repo, {"a.py": "def a(): pass\n"})
    index.run(repo)
    write(repo, {"a.py": "def b(): pass\n"})
    seen = []
    finish = run.Run._finish

    def watched(self, lease, todo):
        seen.append(index.names())
        finish(self, lease, todo)

    monkeypatch.setattr(run.Run, "_finish", watched)
    index.run(repo)
    assert seen == [{"a"}]
    assert index.names() == {"b"}


def test_many_files_are_written_in_several_batches(index, repo, monkeypatch):
    monkeypatch.setattr(run, "BATCH_FILES", 7)
    write(repo, {f"m{n}.py": f"def f{n}(): pass\n" for n in range(40)})
    index.run(repo, workers=2)
    assert index.names() == {f"f{n}" for n in range(40)}


def test_no_thread_or_process_is_left_behind(index, repo):
    write(repo, {"a.py": "def a(): pass\n"})
    before = threading.active_count()
    index.run(repo)
    assert threading.active_count() <= before + 2  # the two lanes
