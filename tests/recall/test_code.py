from __future__ import annotations

import dataclasses
import time

import apsw
import pytest
from hypothesis import given

from memrpc.recall import code, index
from memrpc.recall.meaning import Embedders
from memrpc.recall.model import Kind

from .meanings import TOY, embed_all, loaded
from .shelves import any_text, document, found

DEFINITIONS = {
    "python": '@cached\nasync def fetch_page(url):\n    """Read a page."""\n    return get(url)',
    "ruby": "# Read a page.\ndef fetch_page(url)\n  get(url)\nend",
    "javascript": "/** Read a page. */\nexport async function fetchPage(url) {\n  get(url)\n}",
    "go": "// Read a page.\nfunc (c *Client) FetchPage(url string) error {\n\treturn c.get(url)\n}",
    "rust": "/// Read a page.\npub async fn fetch_page(url: &str) -> Page {\n    get(url).await\n}",
    "java": "/*\n * Read a page.\n */\npublic static Page fetchPage(String url) {\n}",
    "c": "// Read a page.\nstatic int fetch_page(const char *url)\n{\n    return get(url);\n}",
    "sql": "-- Read a page.\nCREATE TABLE fetch_page (url TEXT)",
}


@pytest.mark.parametrize(("language", "text"), DEFINITIONS.items(), ids=DEFINITIONS)
def test_code_is_known_by_its_language_its_first_line_and_its_first_remark(
    language: str, text: str
) -> None:
    named, signature, remark = code.head(text).split("\n")
    assert named == f"{language} code"
    assert "page" in signature.lower()
    assert remark.startswith("Read a page.")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "def agree with that",
        "class dismissed: go home (now)",
        "public interest in art (paintings)\nfell",
        "a function of f(x) = 2",
        "function f(x) is continuous",
        "double trouble (again)",
        "We can create table plans.",
        "# Notes\n\nTo define it, write def f(x): pass",
        "Look:\n```python\ndef f(): pass\n```",
    ],
)
def test_prose_is_no_code(text: str) -> None:
    assert not code.head(text)


@given(any_text)
def test_any_text_is_code_or_not(text: str) -> None:
    assert code.head(text).count("\n") in (0, 2)


@pytest.mark.parametrize(
    "opening", ["# ", "#\n", "def a\n", "public ", "void f(", "const a = ", "function (", "impl "]
)
def test_what_only_seems_to_open_code_is_soon_told(opening: str) -> None:
    started = time.process_time()
    code.head(opening * 20_000)
    assert time.process_time() - started < 0.1


def test_code_is_found_by_its_remark_before_code_that_mentions_it(db: apsw.Connection) -> None:
    index.put(db, document(1, "def a(x):\n    log('sort by size')\n    return sort(by(size(x)))"))
    index.put(db, document(2, 'def b(x):\n    """Sort by size."""\n    return arrange(x)'))
    assert found(db, "python sort by size") == [2, 1]


def test_the_name_of_a_language_finds_the_code_among_prose(db: apsw.Connection) -> None:
    index.put(db, document(1, "Parcels are sorted by size."))
    index.put(db, document(2, "def by_size(parcels):\n    return sorted(parcels)"))
    assert found(db, "Python code that sorts parcels by size")[0] == 2


def test_the_name_of_a_language_says_nothing_where_all_is_written_in_it(
    db: apsw.Connection,
) -> None:
    for subject, name in enumerate(["getUserProfile", "python_version"]):
        index.put(db, document(subject, f"def {name}(self): pass"))
    assert found(db, "python user profile")[0] == 0


def test_an_entry_that_is_code_keeps_its_title(db: apsw.Connection) -> None:
    text = DEFINITIONS["go"]
    index.put(db, index.Document(Kind.ENTRY, 1, 1, text, head="The harbour client"))
    for question in ("harbour client", "golang fetch page", "read a page"):
        assert found(db, question, kinds=(Kind.ENTRY,)) == [1]


@pytest.mark.parametrize(("trust_in_code", "first"), [(0.0, 1), (0.9, 2)])
def test_an_embedder_is_trusted_otherwise_where_code_might_answer(
    db: apsw.Connection, trust_in_code: float, first: int
) -> None:
    index.put(db, document(1, "def harbour():\n    paint trees and rocks and birds and a hill"))
    index.put(db, document(2, "def haven(): vessel haven vessel"))
    for subject in range(10, 30):
        index.put(db, document(subject, f"def other_{subject}(): pass"))
    model = dataclasses.replace(TOY, trust_in_code=trust_in_code)
    embedders = Embedders(builtin=loaded(model))
    embed_all(db, embedders)
    question = "boat harbour"
    assert found(db, question, meaning=embedders.at_once(question))[0] == first
