"""What the workspace holds goes out as lines and comes back in: whole, once, or refused."""

from __future__ import annotations

import json
import random
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memrpc.recall import index
from memrpc.store import transfer
from memrpc.store.errors import DomainError, InvalidArguments
from memrpc.store.transfer import Report
from memrpc.workspace import (
    actions,
    claims,
    entries,
    entry_writing,
    exporting,
    graph,
    handoffs,
    importing,
    rebuilding,
    redacting,
    standard_writing,
    standards,
    summaries,
    task_writing,
    tasks,
    working,
)
from memrpc.workspace.claims import Wish
from memrpc.workspace.composing import EntryDraft
from memrpc.workspace.handoffs import HandoffDraft
from memrpc.workspace.model import Acknowledgement, EntryType, HandoffStatus, TaskStatus
from memrpc.workspace.standard_writing import StandardDraft
from memrpc.workspace.task_drafts import TaskDraft
from tests.memory_file import open_database
from tests.workspace.conftest import MINUTE, NOW, Workspace

SUBJECTS = {"entry", "task", "standard"}


def export(workspace: Workspace, **chosen) -> list[str]:
    return [transfer.header(), *exporting.export_lines(workspace.db, **chosen)]


def load(workspace: Workspace, lines: list[str], **how) -> Report:
    readers = (importing.reader(workspace.act("command line", "")),)
    with workspace.db:
        return transfer.import_lines(workspace.db, lines, readers, **how)


def records(workspace: Workspace, kind: str, **chosen) -> list[dict]:
    found = map(json.loads, export(workspace, **chosen))
    return [record for record in found if record["type"] == kind]


def counted(report: Report) -> tuple[int, int, int, int]:
    return (report.imported, report.known, report.forgotten, len(report.bad))


def elsewhere() -> Workspace:
    """A file of its own, in which ids are counted apart."""
    made = Workspace(open_database())
    ids = (f"00000000-0000-7000-9000-{n:012}" for n in range(1, 10_000))
    made.new_id = lambda: next(ids)  # type: ignore[method-assign]
    return made


@pytest.fixture
def empty() -> Workspace:
    return elsewhere()


def note(workspace: Workspace, title: str, content: str, **more):
    draft = EntryDraft(type=EntryType.CODE_FACT, title=title, content=content, importance=3, **more)
    return workspace.do(entry_writing.create, draft, workspace.act())


def plan(workspace: Workspace, title: str, **more):
    draft = TaskDraft(phase="build", title=title, description=f"Do {title} for #7.", **more)
    return workspace.do(task_writing.create, draft, workspace.act())


def rule(workspace: Workspace, name: str, content: str, **more):
    draft = StandardDraft(name=name, content=content, tags=("py",), metadata={"by": "us"}, **more)
    return workspace.do(standard_writing.create, draft, workspace.act())


@pytest.fixture
def full(workspace: Workspace) -> Workspace:
    """One of everything, each in a state that only its history explains."""
    old = note(workspace, "Cache in memory", "Products are cached in memory.", tags=("cache",))
    new = note(workspace, "Cache in Redis", "Products are cached by Redis.", supersedes=old.id)
    note(workspace, "Shared", "Every team signs its commits.", is_global=True, ttl_days=40)
    workspace.do(
        entry_writing.acknowledge, new.id, Acknowledgement.USED, workspace.act(), context=None
    )
    first = plan(workspace, "cache layer", decision_refs=(new.code,))
    part = plan(workspace, "eviction", parent_id=first.code)
    plan(workspace, "metrics", depends_on=first.code)
    gone = plan(workspace, "never mind")
    workspace.do(task_writing.delete, gone.code, workspace.act())
    workspace.now += MINUTE
    workspace.do(working.claim, part.code, Wish(), workspace.act())
    done = TaskDraft(status=TaskStatus.COMPLETED, comment="works", commit_id="abc")
    workspace.do(task_writing.update, part.code, done, workspace.act())
    workspace.do(working.claim, first.code, Wish(), workspace.act("bob"))
    draft = HandoffDraft("bob", "take over", task=first.code, context={"next_steps": ["x"]})
    workspace.do(handoffs.create, draft, workspace.act("bob"))
    parent = rule(workspace, "No prints", "Library code never prints, it logs.")
    rule(workspace, "Quiet tests", "Tests read output with capsys.", parent_id=parent.code)
    workspace.do(summaries.write, ["a shop", "in Python"], workspace.act())
    return workspace


def index_of(workspace: Workspace) -> dict[str, list]:
    """Index and graph without row numbers of their own."""
    units = "SELECT kind, subject, chunk, scope, own, joined, head FROM units ORDER BY 1, 2, 3"
    mentions = (
        "SELECT kind, subject, name FROM mentions JOIN entities USING (entity) ORDER BY 1,2,3"
    )
    links = "SELECT * FROM links ORDER BY 1, 2, 3, 4, 5"
    return {sql: workspace.db.execute(sql).fetchall() for sql in (units, mentions, links)}


def rebuilt(workspace: Workspace) -> dict[str, list]:
    with workspace.db:
        index.clear(workspace.db)
        graph.clear(workspace.db)
        for renew in rebuilding.renewals(workspace.db):
            renew(workspace.db)
    return index_of(workspace)


def test_a_round_trip_into_an_empty_file_keeps_everything(full, empty):
    lines = export(full)
    report = load(empty, lines)
    assert counted(report) == (len(lines) - 1, 0, 0, 0)
    assert export(empty) == lines
    assert index_of(empty) == rebuilt(empty)


def test_a_second_import_changes_nothing(full, empty):
    lines = export(full)
    load(empty, lines)
    logged = len(empty.do(actions.of_repo, limit=999, offset=0))
    assert counted(load(empty, lines)) == (0, len(lines) - 1, 0, 0)
    assert export(empty) == lines
    assert len(empty.do(actions.of_repo, limit=999, offset=0)) == logged


def test_every_table_of_the_workspace_is_exported_or_made_of_what_is(full, empty):
    """A table that is added must be exported or named here."""
    load(empty, export(full))
    left_behind = {"actions"}  # the history of this file
    homes = "repos entries tasks standards entities"
    tables = """
SELECT DISTINCT name FROM sqlite_schema JOIN pragma_foreign_key_list(sqlite_schema.name) AS fk
WHERE type = 'table' AND ' ' || :homes || ' ' LIKE '% ' || fk."table" || ' %'
"""
    names = {name for (name,) in full.db.execute(tables, {"homes": homes}).fetchall()}
    assert len(names) == 13
    for name in names - left_behind:
        held, kept = (each.db.execute(f"SELECT count(*) FROM {name}").get for each in (full, empty))
        assert held, f"the fixture has no {name}"
        assert (name, kept) == (name, held)


def test_codes_that_were_given_out_are_not_given_again(full, empty):
    load(empty, export(full))
    assert plan(empty, "the next one").code == "TASK-005"


def test_subjects_may_come_in_any_order(full, empty):
    head, *lines = export(full)
    parts = [line for line in lines if json.loads(line)["type"] in SUBJECTS]
    rest = [line for line in lines if line not in parts]
    random.Random(7).shuffle(parts)
    load(empty, [head, *parts, *rest])
    assert sorted(export(empty)) == sorted([head, *lines])
    assert index_of(empty) == rebuilt(empty)


def test_a_claim_carries_no_token_and_holds_until_it_ends(full, empty):
    lines = export(full)
    token = full.db.execute("SELECT token FROM claims WHERE released_at IS NULL").get
    assert token not in "".join(lines)
    load(empty, lines)
    task = empty.do(tasks.find, "TASK-001")
    assert claims.open_claim(empty.db, task).token != token
    empty.now = full.now
    with pytest.raises(DomainError, match="claimed by bob"):
        empty.do(working.claim, "TASK-001", Wish(), empty.act("eve"))
    empty.now += 31 * MINUTE
    assert empty.do(working.claim, "TASK-001", Wish(), empty.act("eve"))[0].agent == "eve"


def test_what_was_changed_elsewhere_since_arrives_and_the_log_shows_what_it_was(full, empty):
    load(empty, export(full))
    full.now += MINUTE
    full.do(entry_writing.update, "MEM-002", EntryDraft(title="Cache by Redis 7"), full.act())
    full.do(task_writing.update, "TASK-003", TaskDraft(depends_on=""), full.act())
    (offered,) = records(full, "handoff")
    answered = full.do(handoffs.find, offered["id"])
    full.do(handoffs.answer, answered, HandoffStatus.REJECTED, full.act("cy"))
    held = claims.open_claim(full.db, full.do(tasks.find, "TASK-001"))
    full.do(
        claims.release,
        full.do(tasks.find, "TASK-001"),
        full.act("bob"),
        token=held.token,
        force=False,
    )
    full.do(summaries.write, ["a bigger shop"], full.act())
    report = load(empty, export(full))
    assert export(empty) == export(full)
    assert report.imported == 6  # Also the task that got the handoff's comment.
    changes = empty.do(actions.of_repo, limit=6, offset=0)
    assert "Cache in Redis" in {(each.before or {}).get("title") for each in changes}
    assert index_of(empty) == rebuilt(empty)


def test_what_was_changed_here_since_stays(full, empty):
    lines = export(full)
    load(empty, lines)
    empty.now = full.now + MINUTE
    empty.do(entry_writing.update, "MEM-002", EntryDraft(title="Mine"), empty.act())
    assert counted(load(empty, lines))[0] == 0
    assert empty.do(entries.find, "MEM-002").title == "Mine"


def test_what_was_redacted_here_stays_away_with_all_that_belongs_to_it(full):
    lines = export(full)
    for handle, shelf in (("MEM-002", entries), ("TASK-001", tasks)):
        subject = full.do(shelf.find, handle)
        with full.db:
            redacting.redact(full.db, subject.id, full.act())
    kept = export(full)
    report = load(full, lines)
    assert report.forgotten == 4  # entry, task, its claim, its handoff
    assert [line for line in export(full) if line not in kept] == []
    assert "take over" not in "".join(export(full))


def test_what_was_deleted_comes_back(full):
    lines = export(full)
    full.do(task_writing.delete, "TASK-003", full.act())
    assert counted(load(full, lines))[0] == 1
    assert full.do(tasks.find, "TASK-003").depends_on == full.do(tasks.find, "TASK-001").key


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda w: note(w, "Mine", "Something of my own here."), "code MEM-001 is taken in acme"),
        (lambda w: plan(w, "my own"), "code TASK-001 is taken in acme/harbor by another task, 0"),
        (lambda w: rule(w, "My own", "Always be kind."), "code STD-001 is taken in acme/harbor"),
    ],
)
def test_a_code_that_is_taken_refuses_the_import_or_is_passed_over(full, empty, make, told):
    mine = make(empty)
    before = export(empty)
    with pytest.raises(InvalidArguments, match="Nothing was imported") as refused:
        load(empty, export(full))
    assert told in refused.value.message
    assert export(empty) == before
    report = load(empty, export(full), skip_bad=True)
    assert told in report.bad[0].message
    assert mine.id in "".join(export(empty))
    assert index_of(empty) == rebuilt(empty)


def test_an_id_of_another_repository_is_a_conflict(full):
    moved = [line.replace('"repo":"harbor"', '"repo":"quay"') for line in export(full)]
    with pytest.raises(InvalidArguments, match="is taken here by another entry"):
        load(full, moved)
    report = load(full, moved, skip_bad=True)
    assert (report.imported, len(report.bad)) == (2, 12)  # the repository and its summary


def test_an_import_links_nothing_to_another_repository(full, empty):
    load(empty, export(full))
    own, kept = elsewhere(), export(empty)
    old, task, standard = (
        note(own, "Their own", "b" * 20),
        plan(own, "own"),
        rule(own, "rule", "c" * 20),
    )
    lines = [json.loads(line) for line in export(own)]
    for line in lines[1:]:
        line["repo"] = "quay"
    theirs = {line["type"]: line["id"] for line in map(json.loads, kept) if "id" in line}
    lines[2] |= {"supersedes": theirs["entry"], "entry_type": "task_archive"}
    lines[2]["metadata"] = {"task_id": theirs["task"]}
    lines[3] |= {"parent": theirs["task"], "depends_on": theirs["task"]}
    lines[4] |= {"parent": theirs["standard"]}
    ids = {line.get("id") for line in lines} - {None}
    assert ids == {old.id, task.id, standard.id}
    load(empty, [json.dumps(line) for line in lines])
    for links in (index_of(empty), rebuilt(empty)):
        (_, _, rows) = links.values()
        assert not [row for row in rows if row[1] > 4 and row[0] == "entry"]
    quay = empty.repo("acme", "quay")
    assert tasks.find(empty.db, quay, task.id).parent is None
    assert tasks.find(empty.db, quay, task.id).depends_on is None
    assert standards.find(empty.db, quay, standard.id).parent is None


def test_a_task_that_somebody_else_holds_here_is_a_conflict(full, empty):
    lines = export(full)
    load(empty, lines)
    empty.now = full.now + 31 * MINUTE
    empty.do(working.claim, "TASK-001", Wish(), empty.act("eve"))
    full.now += 40 * MINUTE
    full.do(working.claim, "TASK-001", Wish(), full.act("dan"))
    with pytest.raises(InvalidArguments, match="another open claim here, of eve"):
        load(empty, export(full))


@pytest.mark.parametrize(
    ("kind", "name", "value", "told"),
    [
        ("entry", "importance", 9, "breaks a rule of the file (CHECK constraint failed"),
        ("entry", "importance", "3", "importance must be a whole number"),
        ("entry", "importance", True, "importance must be a whole number"),
        ("entry", "entry_type", "rumour", "entry_type must be one of code_fact, decision"),
        ("entry", "content", "x" * 50_001, "content has 50,001 characters"),
        ("entry", "title", " ", "title must have at least 1 characters"),
        ("entry", "tags", "cache", "tags must be a list of texts"),
        ("entry", "metadata", [], "metadata must be an object"),
        ("entry", "is_global", 0, "is_global must be true or false"),
        ("entry", "updated_at", 5, "updated_at must be text"),
        ("entry", "updated_at", "2026-01-01T00:00:00", "updated_at has no time zone"),
        ("entry", "updated_at", "0001-01-01T00:00:00+14:00", "updated_at is not an ISO 8601 time"),
        ("entry", "code", "x" * 21, "code"),
        ("entry", "owner", "", "owner must have 1 to 200 visible characters"),
        ("entry", "repo", None, "repo must be text"),
        ("entry", "id", ..., "the field 'id' is missing"),
        ("entry", "supersedes", 7, "supersedes must be text"),
        ("task", "status", "asleep", "status must be one of backlog, pending"),
        ("task", "comments", [{"id": "c"}], "the field 'text' is missing"),
        ("task", "comments", 5, "wrong type"),
        ("task", "parent", 5, "parent must be text"),
        ("handoff", "task", "nobody", "task names no task of acme/harbor here"),
        ("claim", "task", None, "task must be text"),
        ("repository", "codes", {}, "the field 'entry' is missing"),
        ("summary", "signals", [1], "signals must be a list of texts"),
    ],
)
def test_a_bad_line_is_named_with_its_field_and_nothing_is_imported(
    full, empty, kind, name, value, told
):
    lines = [json.loads(line) for line in export(full)]
    number = next(n for n, line in enumerate(lines) if line["type"] == kind)
    lines[number] |= {name: value}
    lines[number] = {key: each for key, each in lines[number].items() if each is not ...}
    with pytest.raises(InvalidArguments, match=rf"Line {number + 1} is bad") as refused:
        load(empty, [json.dumps(line) for line in lines])
    assert told in refused.value.message
    assert export(empty) == [transfer.header()]


@pytest.mark.parametrize(("kind", "name"), [("task", "depends_on"), ("standard", "parent")])
def test_a_circle_is_refused_at_the_line_that_closes_it(full, empty, kind, name):
    lines = [json.loads(line) for line in export(full)]
    numbers = [n for n, line in enumerate(lines) if line["type"] == kind]
    first, last = numbers[0], numbers[-1]
    lines[first][name], lines[last][name] = lines[last]["id"], lines[first]["id"]
    texts = [json.dumps(line) for line in lines]
    with pytest.raises(InvalidArguments, match=rf"Line {last + 1} is bad: {name} makes a circle"):
        load(empty, texts)
    assert [bad.number for bad in load(empty, texts, skip_bad=True).bad] == [last + 1]


def test_an_export_may_be_of_one_repository_or_of_what_is_new(full):
    other = full.repo("acme", "quay")
    with full.db:
        summaries.write(full.db, other, ["another"], full.act())
    assert {r["repo"] for r in map(json.loads, export(full, repo=other)[1:])} == {"quay"}
    new = export(full, since=NOW + 1)
    kinds = {r["type"] for r in map(json.loads, new)}
    assert kinds >= {"repository", "summary", "task", "handoff", "claim"}
    assert [r["code"] for r in records(full, "task", since=NOW + 1)] == ["TASK-001", "TASK-002"]


def test_what_was_only_remarked_on_is_new_too(full):
    full.now += MINUTE
    offer = HandoffDraft("bob", "look at this", task="TASK-003")
    full.do(handoffs.create, offer, full.act("bob"))
    assert [r["code"] for r in records(full, "task", since=full.now)] == ["TASK-003"]


def test_a_part_without_its_parent_stands_alone(full, empty):
    lines = [line for line in export(full) if '"code":"TASK-001"' not in line]
    report = load(empty, lines, skip_bad=True)
    assert empty.do(tasks.find, "TASK-002").parent is None
    assert {bad.message for bad in report.bad} == {"task names no task of acme/harbor here."}


numbers = st.integers(0, 5)
words = st.lists(st.sampled_from(["redis", "eviction", "cache", "queue", "retry"]), min_size=3)


def some_steps(last: int) -> st.SearchStrategy:
    return st.lists(st.tuples(st.integers(0, last), numbers, numbers, words), max_size=25)


def step(workspace: Workspace, what: int, one: int, two: int, said: list[str]) -> None:
    """Something that a tool does; what it refuses is not done."""
    act, text = workspace.act(f"agent-{one % 2}"), " ".join(said)
    entry, task, rest = f"MEM-{one:03}", f"TASK-{one:03}", f"{one} of {two}"
    parent = f"STD-{two:03}" if two else None
    joined = TaskDraft(**{("parent_id", "depends_on")[one % 2]: f"TASK-{two:03}"})
    moved = TaskDraft(status=list(TaskStatus)[two], comment=text, force=True)
    changed = EntryDraft(title=text, supersedes=f"MEM-{two:03}" if two else None)
    offer = HandoffDraft(act.agent, text, to_agent="cy", task=task)
    ways = (
        lambda: note(workspace, text, f"{text} number {rest}", is_global=one == two),
        lambda: workspace.do(entry_writing.update, entry, changed, act),
        lambda: workspace.do(entry_writing.archive, entry, act),
        lambda: plan(workspace, text[:90]),
        lambda: workspace.do(task_writing.update, task, joined, act),
        lambda: workspace.do(task_writing.update, task, moved, act),
        lambda: workspace.do(working.claim, task, Wish(force=two > 3), act),
        lambda: workspace.do(handoffs.create, offer, act),
        lambda: rule(workspace, text, f"{text} rule {rest}", parent_id=parent),
        lambda: workspace.do(task_writing.delete, task, act),
        lambda: workspace.do(standard_writing.delete, f"STD-{one:03}", act),
    )
    with suppress(DomainError):
        ways[what]()


@settings(max_examples=50, deadline=None)
@given(some_steps(10))
def test_whatever_was_done_a_round_trip_is_whole(done):
    here, there = Workspace(open_database()), elsewhere()
    for each in done:
        here.now += 1
        step(here, *each)
    lines = export(here)
    load(there, lines)
    assert export(there) == lines
    assert index_of(there) == rebuilt(there)
    assert counted(load(there, lines))[0] == 0


@settings(max_examples=50, deadline=None)
@given(some_steps(8), some_steps(8))
def test_whatever_was_done_since_a_later_import_catches_up(done, since):
    here, there = Workspace(open_database()), elsewhere()
    for part in (done, since):
        for each in part:
            here.now += 1
            step(here, *each)
        load(there, export(here))
    assert sorted(export(there)) == sorted(export(here))
    assert index_of(there) == rebuilt(there)


ODD = (None, True, -1, 2**70, 1e30, "", "x", "\0", [], {}, [1], ["a"], {"a": 1}, "x" * 60_000)
INSTANTS = ("2026-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00")


def damaged(value, choose: random.Random):
    """The value with something in it changed, taken away or of another type."""
    if isinstance(value, dict) and value and choose.random() < 0.8:
        name = choose.choice(list(value))
        rest = {each: kept for each, kept in value.items() if each != name}
        return rest if choose.random() < 0.1 else rest | {name: damaged(value[name], choose)}
    if isinstance(value, list) and value and choose.random() < 0.7:
        place = choose.randrange(len(value))
        return [*value[:place], damaged(value[place], choose), *value[place + 1 :]]
    return choose.choice((*ODD, *INSTANTS))


@pytest.mark.parametrize("seed", range(10))
def test_whatever_the_lines_say_what_is_kept_is_sound(full, empty, seed):
    choose = random.Random(seed)
    lines = [json.loads(line) for line in export(full)]
    odd = [damaged(line, choose) if choose.random() < 0.3 else line for line in lines]
    load(empty, [json.dumps(line) for line in odd], skip_bad=True)
    assert index_of(empty) == rebuilt(empty)
    assert empty.db.pragma("integrity_check") == "ok"
    assert empty.db.execute("PRAGMA foreign_key_check").fetchall() == []
    fresh = elsewhere()
    load(fresh, export(empty))
    assert export(fresh) == export(empty)
