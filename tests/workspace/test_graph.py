"""The graph keeps what texts name as long as a text names it, and no longer."""

from __future__ import annotations

from memrpc.workspace import entry_writing, graph
from memrpc.workspace.composing import EntryDraft
from memrpc.workspace.model import EntryType, Kind

DRAFT = EntryDraft(type=EntryType.CODE_FACT, title="Tokens", importance=3)


def named(workspace) -> set[str]:
    found = workspace.do(lambda db, repo: graph.names(db, repo.key, limit=100))
    return {name for name, _, _ in found}


def test_a_name_goes_when_the_last_text_stops_naming_it(workspace):
    both = DRAFT._replace(content="`token_cache` and `token_store` are filled at the start.")
    one = DRAFT._replace(content="Only `token_store` is flushed by the nightly job.")
    first = workspace.do(entry_writing.create, both, workspace.act())
    workspace.do(entry_writing.create, one, workspace.act())
    assert named(workspace) == {"token_cache", "token_store"}
    plain = EntryDraft(content="Nothing is filled before the first request arrives.")
    workspace.do(entry_writing.update, first.code, plain, workspace.act())
    assert named(workspace) == {"token_store"}


def test_a_subject_that_is_removed_takes_its_names_and_links_along(workspace):
    draft = DRAFT._replace(content="`token_cache` is filled at the start.")
    entry = workspace.do(entry_writing.create, draft, workspace.act())
    workspace.do(lambda db, _: graph.remove(db, Kind.ENTRY, entry.key))
    assert named(workspace) == set()
    assert workspace.do(lambda db, repo: graph.count(db, repo.key)) == 0


def test_an_update_of_importance_leaves_the_graph_as_it_is(workspace):
    draft = DRAFT._replace(content="`token_cache` is filled at the start.")
    entry = workspace.do(entry_writing.create, draft, workspace.act())
    workspace.do(entry_writing.update, entry.code, EntryDraft(importance=5), workspace.act())
    assert named(workspace) == {"token_cache"}


def test_the_record_of_a_task_names_what_the_task_names_and_no_word_of_its_own(tools):
    tools.task("Mend the crane", description="Grease `winch.py` first.")
    for status in ("in_progress", "completed"):
        tools.call("task-write", code="TASK-001", status=status, comment="on it")
    (record,) = tools.call("memory-read", query="crane")["rows"]
    kg = tools.call("memory-read", id=record[0])["kg"]
    assert {each["name"] for each in kg["entities"]} == {"winch.py", "TASK-001"}
