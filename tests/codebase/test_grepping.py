"""Looking for lines in the files as they are now."""

from __future__ import annotations

import os

import pytest

from memrpc.codebase import files, grepping
from memrpc.store.errors import InvalidArguments
from tests.codebase.conftest import write


def grep(index, repo, content, *, path=None, language=None, **more):
    listed = index.read(files.sources, language=language, path=path)
    request = grepping.GrepRequest(content, **more)
    return grepping.grep(str(repo), listed, request, checkpoint=lambda: None)


def lines_of(grepped):
    return [(each.file.path, each.number, each.snippet) for each in grepped.lines]


def test_text_and_patterns_are_found_line_by_line(index, repo):
    write(repo, {"a.py": "x = 1\nfoo(bar)\nFOO(bar) + foo(bar)\n", "b.js": "foo.bar\n"})
    index.run(repo)
    assert lines_of(grep(index, repo, "foo(")) == [
        ("a.py", 2, "foo(bar)"),
        ("a.py", 3, "FOO(bar) + foo(bar)"),
    ]
    assert grep(index, repo, r"^foo\W", regex=True).total == 3
    assert grep(index, repo, r"(?-i)^FOO", regex=True).total == 1
    assert grep(index, repo, "foo", language="javascript").total == 1
    assert grep(index, repo, "foo", path="a.py").total == 2
    assert grep(index, repo, r"1\sfoo", regex=True).total == 0


@pytest.mark.parametrize(
    ("path", "files"), [("a.py", 2), ("in/a.py", 1), ("in", 2), ("./in/", 2), ("n", 0), ("In", 0)]
)
def test_a_path_narrows_to_a_file_the_end_of_one_or_a_folder(index, repo, path, files):
    write(repo, {"a.py": "hit\n", "in/a.py": "hit\n", "in/deep/b.py": "hit\n"})
    index.run(repo)
    assert grep(index, repo, "hit", path=path).total == files


def test_the_present_content_is_searched(index, repo):
    write(repo, {"a.py": "one = 1\n", "gone.py": "one = 1\n"})
    index.run(repo)
    write(repo, {"a.py": "two = 22\n"})
    (repo / "gone.py").unlink()
    answer = grep(index, repo, "two")
    assert lines_of(answer) == [("a.py", 1, "two = 22")]
    assert (answer.missing, answer.changed) == (1, 1)


def test_a_file_that_became_a_link_is_not_followed(index, repo, tmp_path):
    write(repo, {"a.py": "one = 1\n"})
    index.run(repo)
    secret = tmp_path / "secret"
    secret.write_text("one SECRET\n")
    (repo / "a.py").unlink()
    (repo / "a.py").symlink_to(secret)
    assert grep(index, repo, "SECRET").total == 0


def test_pages_of_lines_join_and_the_total_counts_all(index, repo):
    write(repo, {f"m{n}.py": "hit\n" * 7 for n in range(3)})
    index.run(repo)
    got = []
    for offset in (0, 10, 20):
        answer = grep(index, repo, "hit", limit=10, offset=offset)
        assert (answer.total, answer.is_exact) == (21, True)
        got += lines_of(answer)
    assert len(set(got)) == 21


def test_counting_ends_somewhere(index, repo, monkeypatch):
    monkeypatch.setattr(grepping, "MAX_LINES", 10)
    write(repo, {f"m{n}.py": "hit\n" * 7 for n in range(3)})
    index.run(repo)
    answer = grep(index, repo, "hit")
    assert (answer.total, answer.is_exact, answer.scanned) == (10, False, 2)


@pytest.mark.parametrize(
    "pattern", ["(", "a{1000}{1000}", r"(a)\1", "(?=a)", "[z-a]", "a)(b", "a" * 1_001]
)
def test_a_pattern_that_the_engine_refuses_is_named(index, repo, pattern):
    write(repo, {"a.py": "a\n"})
    index.run(repo)
    with pytest.raises(InvalidArguments) as refusal:
        grep(index, repo, pattern, regex=True)
    assert refusal.value.details["reason"] == "INVALID_REGEX"
    assert "(?m)" not in refusal.value.message


@pytest.mark.parametrize("pattern", ["(a|aa)+$", "(a+)+$", "(a*)*b"])
def test_patterns_that_ruin_other_engines_take_linear_time(index, repo, pattern):
    write(repo, {"a.py": "a" * 250 + "!\n"})
    index.run(repo)
    assert grep(index, repo, pattern, regex=True).scanned == 1


def test_long_lines_are_cut_around_the_match(index, repo):
    write(repo, {"a.txt": "x" * 5_000 + "NEEDLE" + "y" * 5_000 + "\n"})
    index.run(repo)
    ((_, number, snippet),) = lines_of(grep(index, repo, "needle"))
    assert number == 1
    assert "NEEDLE" in snippet
    assert len(snippet) <= grepping.SNIPPET_CHARS + 2


def test_an_empty_match_counts_its_line_once(index, repo):
    write(repo, {"a.txt": "ab\n\ncd"})
    index.run(repo)
    assert grep(index, repo, "x*", regex=True).total == 3


@pytest.mark.parametrize("content", ["größe", "GRÖSSE = Größe", "ЦЕНА"])
def test_text_beyond_ascii_is_found_whatever_its_case(index, repo, content):
    write(repo, {"a.py": "GRÖSSE = Größe = 1\n", "b.txt": "цена\n"})
    index.run(repo)
    assert grep(index, repo, content).total == 1


@pytest.mark.parametrize(
    ("content", "line"), [("one\ntwo", 2), ("\ntwo", 2), ("\n", 1), ("TWÖ\nthrée", 3)]
)
def test_text_of_several_lines_is_found_where_it_begins(index, repo, content, line):
    write(repo, {"a.txt": "zero\r\nOne\r\ntwo twö\r\nthrée"})
    index.run(repo)
    assert grep(index, repo, content).lines[0].number == line


@pytest.mark.parametrize("text", ["a;\r\nb;\r\n", "a;\nb;\n", "a;\nb;", "a;\rb;\r"])
def test_a_line_ends_where_its_break_begins(index, repo, text):
    (repo / "a.txt").write_bytes(text.encode())
    index.run(repo)
    assert grep(index, repo, ";$", regex=True).total == 2
    assert grep(index, repo, "$", regex=True).total == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_that_took_a_files_place_is_not_waited_for(index, repo):
    write(repo, {"a.py": "one = 1\n", "b.py": "one = 1\n"})
    index.run(repo)
    (repo / "a.py").unlink()
    os.mkfifo(repo / "a.py")
    assert grep(index, repo, "one").total == 1
