"""What is asked in plain words of the code index."""

from __future__ import annotations

import pytest

from memrpc.codebase import questions, searching
from tests.codebase.conftest import write
from tests.codebase.test_reading import found, names_of

LINES = '''\
def unlink_stale(folder):
    """Delete old files from a directory."""

def parse_when(text):
    """Read a date from a string in any of several formats."""

def paint(canvas):
    """Draw the picture."""

class Retrier:
    """Repeat a request that failed, waiting longer each time."""

def is_readable(path):
    """Check if a file can be read."""
'''


@pytest.fixture
def asked(index, repo):
    other = "export function wipe() {}  // nothing said\n"
    write(repo, {"src/tools.py": LINES, "web/a.js": other, "web/b.js": "function paintAll() {}\n"})
    index.run(repo)
    return index


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("how do I remove old files in a folder", "unlink_stale"),
        ("converting strings to dates in python", "parse_when"),
        ("retry failed requests with backoff", "Retrier"),
        ("python check file is readonly", "is_readable"),
        ("which class repeats requests?", "Retrier"),
    ],
)
def test_a_question_finds_the_symbol_whose_comment_answers_it(asked, question, name):
    assert found(asked, question)[0] == ("words", name)


def test_a_name_that_matches_is_not_joined_by_what_only_shares_words(asked):
    assert found(asked, "parse when") == [("parts", "parse_when")]


def test_a_comment_that_holds_every_word_comes_before_those_that_hold_some(asked):
    assert found(asked, "delete files") == [("doc", "unlink_stale"), ("words", "is_readable")]
    ways = [way for way, _ in found(asked, "file read")]
    assert ways == ["doc", "words", "words"]


def test_comments_that_hold_every_word_are_in_the_order_of_how_well_they_answer(index, repo):
    long = "It says nothing of use. " * 15
    code = 'def one():\n    """{long}Open the gate."""\n\ndef two():\n    """Open the gate."""\n'
    write(repo, {"a.py": code.format(long=long)})
    index.run(repo)
    assert found(index, "open gate") == [("doc", "two"), ("doc", "one")]


@pytest.mark.parametrize(
    "question",
    ["who invented the steam engine", "who invented the steam engine and held a vote on that file"],
)
def test_a_question_that_nothing_answers_finds_nothing(asked, question):
    assert found(asked, question) == []


def test_a_word_in_another_form_is_a_question_too(asked):
    assert found(asked, "deleting") == [("words", "unlink_stale")]
    assert found(asked, "how to delete") == [("words", "unlink_stale")]
    assert found(asked, "unlink_stael") == [("misspelt", "unlink_stale")]


def test_a_rare_word_proposes_before_several_common_ones(index, repo):
    lines = [f'def f{n}():\n    """Opens some file."""\n' for n in range(100)]
    lines.append('def rare():\n    """Read a zip."""\n')
    write(repo, {"a.py": "\n".join(lines)})
    index.run(repo)
    assert "rare" in names_of(index, "opening zip file archives")


def test_who_names_a_language_is_answered_in_it(index, repo):
    write(repo, {"a.py": "def read_json(path): pass\n", "b.go": "package a\nfunc ReadJSON() {}\n"})
    index.run(repo)
    assert names_of(index, "reading json in go")[0] == "ReadJSON"
    assert names_of(index, "reading json in python")[0] == "read_json"


def test_filters_hold_for_answers_too(asked):
    question = "repeating requests which failed"
    assert names_of(asked, question, kinds=("class",)) == ["Retrier"]
    assert names_of(asked, question, kinds=("function",)) == []
    assert names_of(asked, f"{question} lang:javascript") == []
    assert names_of(asked, question, path="web/") == []
    assert names_of(asked, question, path="src/") == ["Retrier"]


def test_another_repository_neither_answers_nor_crowds_out(index, repo, tmp_path):
    write(repo, {"a.py": LINES})
    lines = (f'def f{n}():\n    """Remove stale old files."""\n' for n in range(200))
    other = write(tmp_path / "other", {"b.py": "\n".join(lines)})
    index.run(other, repo="other")
    index.run(repo)
    assert names_of(index, "remove stale old files quickly")[0] == "unlink_stale"


def test_pages_of_answers_join_without_gap_or_repeat(index, repo):
    lines = (f'def f{n:02}():\n    """Open door {n}."""\n' for n in range(40))
    write(repo, {"a.py": "\n".join(lines)})
    index.run(repo)
    whole = names_of(index, "open some door please")
    assert len(set(whole)) == 40
    pages = [names_of(index, "open some door please", limit=15, offset=at) for at in (0, 15, 30)]
    assert [name for page in pages for name in page] == whole


@pytest.mark.parametrize("query", ["paint", "open gate", "retry failed requests"])
def test_a_page_beyond_the_last_match_still_tells_how_many_there_are(asked, query):
    def search(offset):
        request = searching.SearchRequest(query, (1,), offset=offset)
        return asked.read(lambda db, _: searching.search(db, request))

    first, beyond = search(0), search(50)
    assert (beyond.symbols, beyond.total, beyond.reason) == ((), first.total, first.reason)


def test_a_later_page_knows_what_the_first_one_found(index, repo):
    lines = [f"def handle{n:02}(): pass\n" for n in range(30)]
    lines += [f'def other{n:02}():\n    """To handle."""\n' for n in range(30)]
    write(repo, {"a.py": "".join(lines), "b.py": "def hanldle(): pass\n"})
    index.run(repo)
    pages = [names_of(index, "handle", limit=30, offset=at) for at in (0, 30, 60)]
    assert [len(page) for page in pages] == [30, 30, 0]
    assert "hanldle" not in pages[1]


def test_words_that_only_other_repositories_hold_do_not_hide_an_answer(index, repo, monkeypatch):
    monkeypatch.setattr(questions, "MATCHING", 4)
    others = "".join(f'def f{n}():\n    """Unlink it."""\n' for n in range(2))
    write(repo.parent / "other", {"a.py": others})
    index.run(repo.parent / "other", repo="other")
    users = "".join(f'def load_{n}():\n    """Load a user\'s record."""\n' for n in range(4))
    write(repo, {"a.py": users})
    index.run(repo)
    assert len(found(index, "unlink the record of a user")) == 4
