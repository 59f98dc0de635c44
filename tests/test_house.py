"""The house rules that no linter knows."""

from __future__ import annotations

import ast
import re
import statistics
import tokenize
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "memrpc"
MODULES = sorted(PACKAGE.rglob("*.py"))
MAX_LINES = 400
MAX_FUNCTION_LINES = 60
MEDIAN_FUNCTION_LINES = 8
FORBIDDEN_NAMES = {"utils", "helpers", "common", "misc", "manager"}
VERSION = re.compile(r"20\d\d-\d\d-\d\d")
REVISIONS = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}
SQL_CALLS = {"execute", "executemany"}


def tree_of(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"))


def functions_of(tree: ast.Module) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The lines of the statements, without signature and docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def docstring_nodes(tree: ast.Module) -> set[int]:
    owners = [
        n
        for n in ast.walk(tree)
        if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return {id(n.body[0].value) for n in owners if n.body and isinstance(n.body[0], ast.Expr)}


def test_the_median_function_has_at_most_eight_lines():
    sizes = [body_lines(f) for module in MODULES for f in functions_of(tree_of(module))]
    assert statistics.median(sizes) <= MEDIAN_FUNCTION_LINES


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(PACKAGE)))
def test_no_function_is_too_long(module):
    too_long = [f.name for f in functions_of(tree_of(module)) if body_lines(f) > MAX_FUNCTION_LINES]
    assert too_long == []


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(PACKAGE)))
def test_no_file_is_too_long(module):
    assert len(module.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


def test_no_module_has_a_name_that_says_nothing():
    assert [m for m in MODULES if m.stem in FORBIDDEN_NAMES] == []


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(PACKAGE)))
def test_only_the_table_of_revisions_knows_a_version(module):
    """Our choice: everything else asks a Revision what holds there."""
    if module == PACKAGE / "protocol" / "revisions.py":
        return
    tree = tree_of(module)
    docs = docstring_nodes(tree)
    literals = [
        n.value
        for n in ast.walk(tree)
        if isinstance(n, ast.Constant) and isinstance(n.value, str) and id(n) not in docs
    ]
    named = {found for text in literals for found in VERSION.findall(text)} & REVISIONS
    assert named == set() or _only_tells(literals)


def _only_tells(literals: list[str]) -> bool:
    """A sentence for a person may name a revision; a bare version is a condition."""
    return all(text not in REVISIONS for text in literals)


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(PACKAGE)))
def test_every_suppressed_warning_says_why(module):
    with tokenize.open(module) as source:
        comments = [
            t.string
            for t in tokenize.generate_tokens(source.readline)
            if t.type == tokenize.COMMENT and ("noqa" in t.string or "type: ignore" in t.string)
        ]
    bare = [c for c in comments if not re.search(r"(--|  #) \S", c)]
    assert bare == []


@pytest.mark.parametrize("module", MODULES, ids=lambda m: str(m.relative_to(PACKAGE)))
def test_sql_is_made_of_constants(module):
    """Our choice: a statement is a name or a literal, never put together where it runs."""
    made = [
        ast.unparse(call)
        for call in ast.walk(tree_of(module))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr in SQL_CALLS
        and call.args
        and isinstance(call.args[0], ast.JoinedStr | ast.BinOp)
    ]
    assert made == []
