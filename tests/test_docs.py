"""Whatever is a list in the code stands in the docs, and the generated pages are fresh."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from memrpc.archive import importing
from memrpc.cli import VERBS
from memrpc.options import OPTIONS
from memrpc.surface import toolsets
from memrpc.wire.errors import ErrorCode
from memrpc.workspace import importing as workspace_importing
from memrpc.workspace.model import Act

ROOT = Path(__file__).parent.parent


def printed(*words: str) -> str:
    command = [sys.executable, "-m", "memrpc", *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(("page", "verb"), [("tools.md", "schema"), ("settings.md", "config")])
def test_a_generated_page_is_what_make_docs_writes(page, verb):
    assert (ROOT / "docs" / page).read_text(encoding="utf-8") == printed(verb, "--markdown")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_in_the_readme(verb):
    assert f"`memrpc {verb}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_prompt_stands_in_its_page_with_its_arguments():
    page = (ROOT / "docs" / "prompts.md").read_text(encoding="utf-8")
    rows = {
        f"| `{prompt.name}` | "
        + ", ".join(f"`{a.name}`{'*' if a.required else ''}" for a in prompt.arguments)
        for prompt in toolsets.prompts("all")
    }
    assert {row for row in rows if row.rstrip() not in page} == set()
    listed = re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE)
    assert len(listed) == len(rows)


def test_every_type_of_record_stands_in_the_page_of_the_export():
    page = (ROOT / "docs" / "export.md").read_text(encoding="utf-8")
    act = Act("", "", "", 0, str)
    types = {*importing.READER.importers, *workspace_importing.reader(act).importers}
    assert {name for name in types if f"`{name}`" not in page} == set()


@pytest.mark.parametrize("option", OPTIONS, ids=lambda o: o.name)
def test_every_setting_is_in_its_page(option):
    assert f"`{option.variable}`" in (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", ErrorCode, ids=lambda c: c.name)
def test_every_error_code_is_in_the_docs(code):
    assert f"`{int(code)}`" in (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")


def test_every_kind_of_refusal_is_in_the_docs():
    from memrpc.store import errors

    kinds = {c.code for c in vars(errors).values() if isinstance(c, type) and hasattr(c, "code")}
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    assert {kind for kind in kinds if f"`{kind}`" not in page} == set()


def test_the_tests_that_hold_the_invariants_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:tests|memrpc|conformance)/[\w/.]+)`", text))
    assert {path for path in named if not (ROOT / path).exists()} == set()


def rows_of_the_source_table() -> list[tuple[str, str]]:
    lines = (ROOT / "docs" / "archive-source.md").read_text(encoding="utf-8").splitlines()
    cells = [line.strip("|").split("|") for line in lines if re.match(r"\| \d+ ", line)]
    return [(cell[0].strip(), cell[-1].strip()) for cell in cells]


@pytest.mark.parametrize(("number", "proof"), rows_of_the_source_table())
def test_every_sentence_of_the_source_has_a_test_or_an_issue(number, proof):
    if proof.startswith("open: "):
        assert proof in {"open: Recall", "open: Protocol"}
        return
    path, _, name = proof.strip("`").partition("::")
    source = (ROOT / path).read_text(encoding="utf-8")
    assert not name or f"def {name}(" in source


def test_the_source_table_numbers_every_sentence():
    rows = rows_of_the_source_table()
    assert [int(number) for number, _ in rows] == list(range(1, len(rows) + 1))
    assert len(rows) >= 78
