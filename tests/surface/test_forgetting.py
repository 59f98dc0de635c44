"""Forget, to the last byte, through the front door."""

from __future__ import annotations

import json
import subprocess
import sys
import time

import pytest

from memrpc.cli.audit import RECORDS
from tests.memory_file import open_beside
from tests.peer import call, cancel
from tests.surface.conftest import Refused

WORD = "zwetschgenknoedel"
DEADLINE_S = 20.0


def verb(database, *words: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "memrpc", *words, "--db", str(database)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def wait_until_purged(database) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while json.loads(verb(database, "stats", "--json").stdout)["pending_purges"]:
        assert time.monotonic() < deadline


def tell(served) -> None:
    """A word that stands in one event's text and cue, beside neighbours that keep context of it."""
    for number in range(4):
        served.record(f"Before it came number {number}.", event_id=f"b{number}", session_id="s")
    served.record(
        f"My favourite dish is {WORD} with butter.",
        event_id="target",
        session_id="s",
        cues=[{"kind": "text", "key": f"cue-{WORD}", "label": WORD}],
    )
    for number in range(4):
        served.record(f"After it came number {number}.", event_id=f"a{number}", session_id="s")


def test_b33_forgotten_words_are_in_no_byte_once_the_purge_is_done(served, database):
    tell(served)
    assert verb(database, "audit", "--absent", WORD).returncode == 1
    gone = served.call("memory_forget", record_id="target")
    assert gone["deleted_event_ids"] == ["target"]
    assert WORD not in served.recalled(f"{WORD} butter")
    wait_until_purged(database)
    audit = verb(database, "audit", "--absent", WORD)
    assert (audit.returncode, audit.stdout.count("found")) == (0, 0)
    assert json.loads(served.recalled("After it came number"))["raw"] is not None


def forgotten_at_once(served, database) -> str:
    """Forget one record after the other until a purge ends while the answer waits; its word."""
    for number in range(9):
        word = f"{WORD}{number}"
        event = served.record(f"A {word} came.", session_id="s")["event_id"]
        if served.call("memory_forget", record_id=event)["erasure"] == "complete":
            return word
        wait_until_purged(database)  # The machine was busy.
    raise AssertionError


def test_what_is_forgotten_alone_is_gone_from_the_files_when_the_answer_says_so(served, database):
    tell(served)
    word = forgotten_at_once(served, database)
    audit = verb(database, "audit", "--absent", word)
    assert (audit.returncode, audit.stdout.count("found")) == (0, 0)


def test_what_is_erased_stays_erased_when_the_server_is_killed_behind_its_answer(serve, database):
    first = serve()
    tell(first)
    word = forgotten_at_once(first, database)
    first.peer.kill()
    for suffix in ("", "-wal"):
        assert word.encode() not in database.with_name(database.name + suffix).read_bytes()
    assert verb(database, "audit", "--absent", word).returncode == 0
    assert WORD in serve().recalled("my favourite dish")


def test_a_forget_that_is_cancelled_is_done_whole_or_not_at_all(served, database):
    tell(served)
    arguments = {"record_id": "target"}
    served.peer.send(call("gone", "memory_forget", arguments), cancel("gone"))
    is_kept = WORD in served.recalled("my favourite dish")
    wait_until_purged(database)
    assert (WORD in served.recalled("my favourite dish")) is is_kept
    assert verb(database, "audit", "--absent", WORD).returncode == int(is_kept)


def test_an_audit_while_a_reader_holds_the_purge_up_says_that_it_is_pending(served, database):
    tell(served)
    reader = open_beside(database)
    reader.execute("BEGIN").fetchall()
    reader.execute("SELECT count(*) FROM events").fetchall()
    assert served.call("memory_forget", record_id="target")["erasure"] == "pending"
    audit = verb(database, "audit", "--absent", "word that never was")
    reader.close()
    assert audit.returncode == 1
    assert "purge pending" in audit.stdout
    wait_until_purged(database)


def test_an_audit_finds_a_word_again_when_it_is_planted(served, database):
    tell(served)
    served.call("memory_forget", record_id="target")
    wait_until_purged(database)
    db = open_beside(database)
    db.execute("CREATE TABLE planted (text)").fetchall()
    db.execute("INSERT INTO planted VALUES (?)", (f"there is {WORD.upper()} again",)).fetchall()
    db.close()
    audit = verb(database, "audit", "--absent", WORD)
    assert audit.returncode == 1
    assert WORD in audit.stdout


def test_a_purge_that_did_not_fit_before_the_end_is_done_at_the_next_start(serve, database):
    first = serve()
    tell(first)
    first.call("memory_forget", record_id="target")
    first.peer.kill()
    second = serve()
    second.recalled("anything")
    wait_until_purged(database)
    assert verb(database, "audit", "--absent", WORD).returncode == 0


def test_b36_forgetting_in_one_project_leaves_the_other(served):
    for project in ("A", "B"):
        served.record(f"The lamp of {project} is green.", event_id=project, project_id=project)
    served.call("memory_forget", record_id="A", project_id="A")
    assert served.call("memory_recall", query="lamp", project_id="A")["reason"] == "scope_empty"
    assert "lamp of B" in served.recalled("lamp", project_id="B")


def test_b38_the_second_call_finds_nothing(served):
    tell(served)
    served.call("memory_forget", record_id="target")
    with pytest.raises(Refused) as caught:
        served.call("memory_forget", record_id="target")
    assert caught.value.code == "not_found"


def test_a_forgotten_id_is_not_used_again(served):
    tell(served)
    served.call("memory_forget", record_id="target")
    with pytest.raises(Refused) as caught:
        served.record("something else", event_id="target")
    assert caught.value.code == "invalid_state"


def test_a_sentence_of_words_that_others_hold_leaves_no_trace(served, database):
    served.record("The bridge opens at six; créé comme ça.", session_id="s")
    event = served.record("The bridge opens at six, says the table of 橋本.", session_id="s")
    sentence = "The bridge opens at six, says the table of 橋本."
    assert verb(database, "audit", "--absent", sentence).returncode == 1
    served.call("memory_forget", record_id=event["event_id"])
    wait_until_purged(database)
    audit = verb(database, "audit", "--absent", sentence)
    assert (audit.returncode, audit.stdout.splitlines()[0][:7]) == (0, "absent:")
    assert "in what is kept as well, so no trace: " in audit.stdout
    found = json.loads(verb(database, "audit", "--absent", "CRÉÉ, really", "--json").stdout)
    assert {(each["sought"], each["is_kept"]) for each in found["findings"]} == {("CRÉÉ", True)}


@pytest.mark.parametrize(
    "leftover",
    [
        "INSERT INTO unit_text (rowid, own) VALUES (999, 'e1zmirabelle')",
        "UPDATE units SET near = 'mirabelle' WHERE unit_id = 2",
    ],
)
def test_a_word_that_only_the_index_still_has_is_a_trace(served, database, leftover):
    tell(served)
    db = open_beside(database)
    db.execute(leftover).fetchall()
    db.close()
    audit = verb(database, "audit", "--absent", "the mirabelle")
    assert (audit.returncode, "found word 'mirabelle'" in audit.stdout) == (1, True)


def test_an_audit_knows_every_table_of_records(database, served):
    served.record("Anything.")
    db = open_beside(database)
    tables = {name for _, name, kind, *_ in db.execute("PRAGMA table_list") if kind == "table"}
    assert tables >= RECORDS
    db.close()
