"""The verbs of the command line, as a person runs them."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys

import pytest

from memrpc.app import Application, new_id, now_us
from memrpc.archive import recording
from memrpc.archive.model import Role
from memrpc.archive.recording import RecordInput
from memrpc.cli import export
from memrpc.settings import load
from memrpc.workspace import entry_writing, scope, task_writing
from memrpc.workspace.composing import EntryDraft
from memrpc.workspace.model import Act, EntryType
from memrpc.workspace.task_drafts import TaskDraft
from tests.endpoints import Reply, serving

HEADER = '{"format":1,"type":"archive"}\n'


def run(database, *words: str, text: str | None = None) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "memrpc", *words, "--db", str(database)]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


@pytest.fixture
def told(tmp_path):
    """A database that holds one event."""
    path = tmp_path / "memory.db"
    application = Application(load({"db": str(path)}))
    entry = RecordInput("e1", "The bridge opens at six.", Role.USER, "Ann")
    application.database.write_blocking(lambda db: recording.record(db, entry, now=1_000_000))
    application.close()
    return path


@pytest.fixture
def noted(told) -> str:
    """The id of an entry beside which the workspace holds a task."""
    application = Application(load({"db": str(told)}))

    def note(db) -> str:
        repo = scope.ensure(db, "acme", "harbor", now=1)
        act = Act("test", "ann", "p1", now_us(), new_id)
        draft = EntryDraft(EntryType.CODE_FACT, "Cache", "Lists are cached by Redis.", 3)
        task_writing.create(db, repo, TaskDraft(phase="a", title="Build", description="It."), act)
        return entry_writing.create(db, repo, draft, act).id

    entry_id = application.database.write_blocking(note)
    application.close()
    return entry_id


def test_no_tool_does_what_is_administration():
    names = run("unused", "schema").stdout.split()
    verbs = {"persona", "jobs", "reindex", "export", "import", "backup", "retry"}
    assert {name for name in names if verbs & set(name.replace("-", "_").split("_"))} == set()


def test_the_persona_is_shown_and_imported(told):
    assert run(told, "persona", "import", "-", text="I am kind.\n\nI am brief.\n").returncode == 0
    assert run(told, "persona", "show").stdout == "I am kind.\nI am brief.\n"
    shown = json.loads(run(told, "persona", "show", "--json").stdout)
    assert (shown["version"], shown["items"]) == (1, ["I am kind.", "I am brief."])


def test_the_persona_is_edited_with_the_users_editor(told, monkeypatch):
    write = "import sys; open(sys.argv[1], 'a').write('I like tea.\\n')"
    monkeypatch.setenv("VISUAL", f'"{sys.executable}" -c "{write}"')
    assert run(told, "persona", "edit").returncode == 0
    assert run(told, "persona", "show").stdout == "I like tea.\n"


def test_jobs_are_listed_and_retried(told):
    listed = json.loads(run(told, "jobs", "list", "--json").stdout)
    assert [(job["kind"], job["state"]) for job in listed] == [("extract", "ready")]
    assert run(told, "jobs", "retry").stdout == "0 jobs are ready again\n"
    missing = run(told, "jobs", "retry", "99")
    assert (missing.returncode, "99" in missing.stderr) == (1, True)


def test_a_reindex_counts_what_it_indexed(told):
    assert json.loads(run(told, "reindex", "--json").stdout) == {"documents": 1}


def test_b105_an_export_goes_back_in_twice_and_is_the_same_again(told, tmp_path):
    exported = run(told, "export").stdout
    other = tmp_path / "other.db"
    first = json.loads(run(other, "import", "-", "--json", text=exported).stdout)
    again = json.loads(run(other, "import", "-", "--json", text=exported).stdout)
    assert (first["imported"], again["imported"], again["known"]) == (1, 0, 1)
    assert run(other, "export").stdout == exported


def test_the_workspace_goes_out_and_in_with_the_archive_or_alone(told, noted, tmp_path):
    exported = run(told, "export").stdout
    alone = run(told, "export", "--repo", "acme/harbor").stdout
    assert [json.loads(line)["type"] for line in alone.splitlines()] == [
        "archive",
        "repository",
        "entry",
        "task",
    ]
    assert noted in alone
    assert set(alone.splitlines()) < set(exported.splitlines())
    assert "acme" not in run(told, "export", "--scope", "default/default").stdout
    other = tmp_path / "other.db"
    assert run(other, "import", "-", text=exported).stdout.startswith("4 imported, 0 known")
    assert run(other, "export").stdout == exported
    counted = json.loads(run(other, "stats", "--json").stdout)
    assert (counted["events"], counted["entries"], counted["open_tasks"]) == (1, 1, 1)
    assert "1 events, 1 entries, 1 tasks" in run(other, "doctor").stdout


def test_what_was_redacted_is_not_imported_again(told, noted):
    exported = run(told, "export").stdout
    assert run(told, "redact", noted).returncode == 0
    assert run(told, "import", "-", text=exported).stdout.endswith("1 forgotten here\n")
    assert noted not in run(told, "export").stdout


def test_a_refused_export_leaves_the_file_that_was_there(told, tmp_path):
    kept = tmp_path / "kept.jsonl"
    kept.write_text("yesterday's")
    for words in (("--since", "today"), ("--repo", "acme/nowhere")):
        refused = run(told, "export", str(kept), *words)
        assert refused.returncode in {1, 2}
        assert words[1] in refused.stderr or words[0].strip("-") in refused.stderr
    assert kept.read_text() == "yesterday's"


def test_an_export_that_fails_half_way_leaves_the_last_one(tmp_path):
    def lines():
        yield "first"
        raise OSError

    kept = tmp_path / "kept.jsonl"
    kept.write_text("yesterday's")
    with pytest.raises(OSError):
        export._write(str(kept), lines())
    assert kept.read_text() == "yesterday's"
    export._write(str(kept), ["first", "last"])
    assert kept.read_text() == "first\nlast\n"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    link = tmp_path / "link"
    link.symlink_to(os.devnull)
    export._write(str(link), ["first"])
    assert link.is_symlink()
    assert link.is_char_device()


def test_b60_verbs_speak_utf8_under_any_code_page(told, tmp_path):
    other = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "cp1252"}
    environment = {**os.environ, **other}

    def said(*words: str, given: str = "") -> str:
        command = [sys.executable, "-m", "memrpc", *words, "--db", str(told)]
        done = subprocess.run(
            command, input=given.encode(), capture_output=True, check=True, env=environment
        )
        return done.stdout.decode()

    said("persona", "import", "-", given="★🎉тест\r\n東京\n")
    assert said("persona", "show") == "★🎉тест\n東京\n"
    assert "★🎉тест" in said("export")


def test_b105_a_bad_line_is_named_and_stops_the_import(told, tmp_path):
    exported = run(told, "export").stdout
    other = tmp_path / "other.db"
    refused = run(other, "import", "-", text=HEADER + "not json\n" + exported)
    assert (refused.returncode, "ine 2" in refused.stderr) == (2, True)
    assert run(other, "export").stdout == HEADER
    skipped = run(other, "import", "-", "--skip-bad", text=HEADER + "not json\n" + exported)
    assert skipped.returncode == 1
    assert "line 2" in skipped.stderr
    assert run(other, "export").stdout == exported


def test_a_backup_is_a_copy_of_its_own(told, tmp_path):
    copy = tmp_path / "copy.db"
    assert run(told, "backup", str(copy)).returncode == 0
    assert run(copy, "export").stdout == run(told, "export").stdout
    assert run(told, "backup", str(copy)).returncode == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
@pytest.mark.parametrize("verb", ["export", "backup"])
def test_what_could_not_be_written_whole_is_not_there(told, tmp_path, verb):
    application = Application(load({"db": str(told)}))
    entry = RecordInput("long", "The bridge opens at six. " * 5_000, Role.USER, "Ann")
    application.database.write_blocking(lambda db: recording.record(db, entry, now=1_000_000))
    application.close()
    target = tmp_path / "copies" / "copy"
    target.parent.mkdir()
    code = (
        "import resource, signal, sys; from memrpc.cli import run\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000))\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", code, verb, str(target), "--db", str(told)]
    failed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (failed.returncode in {1, 3}, f"{target}.part" in failed.stderr) == (True, True)
    assert list(target.parent.iterdir()) == []


def test_config_says_where_each_value_comes_from(told, monkeypatch):
    monkeypatch.setenv("MEMRPC_TOOLSET", "core")
    shown = json.loads(run(told, "config", "--json").stdout)
    assert shown["toolset"] == {"value": "core", "origin": "environment"}
    assert shown["db"]["origin"] == "flag"


def test_a_project_may_not_move_the_database(told, tmp_path, monkeypatch):
    (tmp_path / "memrpc.toml").write_text('db = "/elsewhere.db"\n')
    command = [sys.executable, "-m", "memrpc", "config"]
    refused = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (refused.returncode, "cannot be set by a project" in refused.stderr) == (2, True)


def test_an_unknown_setting_is_refused_with_the_nearest_name(tmp_path):
    (tmp_path / "memrpc.toml").write_text('toolsets = "core"\n')
    command = [sys.executable, "-m", "memrpc", "config"]
    refused = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (refused.returncode, "did you mean toolset" in refused.stderr) == (2, True)


def test_doctor_is_well_on_a_good_file_and_names_a_bad_one(told, tmp_path):
    well = run(told, "doctor")
    assert (well.returncode, "made just now" in well.stdout) == (0, False)
    assert "made just now" in run(tmp_path / "new.db", "doctor").stdout
    bad = tmp_path / "bad.db"
    bad.write_bytes(b"hello")
    found = run(bad, "doctor")
    assert (found.returncode, str(bad) in found.stdout) == (3, True)


def test_doctor_asks_the_model_that_draws_memories(told):
    chosen = ("doctor", "--embedder", "none", "--extractor", "llm")
    nobody = run(told, *chosen)
    assert (nobody.returncode, "set extractor_url" in nobody.stdout) == (1, True)
    with serving(lambda _: Reply({"choices": [{"message": {"content": "Yes"}}]})) as server:
        well = run(told, *chosen, "--extractor-url", server.url, "--extractor-model", "chat")
    assert (well.returncode, "ok  extractor    chat answers" in well.stdout) == (0, True)
    gone = run(told, *chosen, "--extractor-url", server.url)
    assert (gone.returncode, "BAD extractor" in gone.stdout) == (1, True)


@pytest.mark.parametrize(
    "address",
    [
        *("localhost:11434", "htp://h", "http://", "http://:80/v1", "http://me:hidden@h/v1"),
        *("http://h:99999/v1", "http://h:port/v1", "http://[::1/v1"),
    ],
)
def test_what_is_no_endpoints_address_is_refused_at_once(told, address):
    for option in ("extractor", "embedder"):
        done = run(told, "doctor", f"--{option}-url={address}")
        assert (done.returncode, f"{option}_url (flag) must be http://" in done.stderr) == (2, True)
        assert "hidden" not in done.stderr


def test_a_contract_is_shown_for_reading(told):
    shown = run(told, "schema", "memory_recall").stdout
    assert json.loads(shown)["name"] == "memory_recall"
    assert len(shown.splitlines()) > 20


def test_a_name_under_which_a_tool_can_be_called_too_shows_its_contract(told):
    assert json.loads(run(told, "schema", "memory_read").stdout)["name"] == "memory-read"
    one = run(told, "schema", "memory_read", "--toolset", "core").stdout
    assert json.loads(one)["name"] == "memory_read"


def test_an_editor_that_is_not_there_is_named(told, monkeypatch):
    monkeypatch.setenv("VISUAL", "no-such-editor --wait")
    refused = run(told, "persona", "edit")
    assert (refused.returncode, "no editor no-such-editor;" in refused.stderr) == (1, True)


@pytest.mark.parametrize("limit", ["0", "-1", "all"])
def test_a_list_of_no_jobs_at_all_cannot_be_asked_for(told, limit):
    refused = run(told, "jobs", "list", "--limit", limit)
    assert (refused.returncode, "invalid count value" in refused.stderr) == (2, True)


def test_settings_are_shown_in_columns(told):
    lines = run(told, "config").stdout.splitlines()
    assert len({line.rindex(" default") for line in lines if line.endswith(" default")}) == 1


@pytest.mark.parametrize("words", [("retry", f"1{'0' * 30}"), ("list", "--limit", f"1{'0' * 30}")])
def test_a_number_that_no_job_can_have_is_refused_as_usage(told, words):
    done = run(told, "jobs", *words)
    assert (done.returncode, done.stderr.count("\n")) == (2, 2)
    assert "invalid" in done.stderr


def test_a_whole_number_of_thousands_of_digits_is_refused(told):
    done = run(told, "config", "--index-workers", "1" * 5_000)
    assert done.returncode == 2
    assert "must be a whole number from 1 to 16" in done.stderr


@pytest.mark.parametrize(
    ("words", "is_durable"),
    [
        (("--durable",), True),
        (("--durable", "true"), True),
        (("--durable", "Off"), False),
        (("--durable=0",), False),
    ],
)
def test_a_flag_of_a_truth_value_takes_one_or_none(told, words, is_durable):
    shown = json.loads(run(told, "config", *words, "--json").stdout)
    assert shown["durable"] == {"value": is_durable, "origin": "flag"}


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize(
    ("closed", "words"), [(">&-", "stats"), ("<&-", "import -"), ("2>&-", "jobs retry x")]
)
def test_a_verb_without_one_of_its_streams_is_no_defect(told, closed, words):
    line = f'"{sys.executable}" -m memrpc {words} --db "{told}" {closed}'
    done = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert done.returncode == (2 if words.endswith("x") else 0)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("export", "{tmp}/no/such/folder/x"), "/no/such/folder/x.part: No such file or directory"),
        (("export", "{tmp}"), "Is a directory"),
        (("import", "{tmp}/none.jsonl"), "none.jsonl: No such file or directory"),
        (("persona", "import", "{tmp}/none.txt"), "none.txt: No such file or directory"),
        (("persona", "import", "{tmp}/latin1.txt"), "latin1.txt is not text in UTF-8"),
        (("persona", "edit"), "The editor ended with 1; nothing was changed"),
        (("backup", "{tmp}/no/such/folder/x"), "/no/such/folder/x.part: No such file"),
        (("prompt", "create-task", "what=x"), "has no argument what; it takes instruction"),
        (("prompt", "create-task"), "create-task needs instruction: add instruction=…"),
        (("schema", "nothing"), "There is no tool nothing"),
        (
            ("export", "--scope", "default/typo"),
            "There is no scope 'default/typo'; there are default/",
        ),
        (("export", "--scope", ""), "There is no scope ''"),
        (("export", "--repo", ""), "There is no repository ''"),
        (("export", "--since", ""), "since is not an ISO 8601 time"),
        (("audit", "--absent", " "), "--absent needs a text that is not only spaces"),
        (("audit", "--absent", "caf\udce9"), "not text in UTF-8"),
        (("redact", "caf\udce9"), "not text in UTF-8"),
    ],
)
def test_a_refusal_is_one_line_that_names_what_is_wrong(
    told, words, sentence, tmp_path, monkeypatch
):
    (tmp_path / "latin1.txt").write_bytes(b"caf\xe9")
    monkeypatch.setenv("VISUAL", f"'{sys.executable}' -c 'raise SystemExit(1)'")
    refused = run(told, *(word.format(tmp=tmp_path) for word in words))
    assert refused.returncode in {1, 2}
    assert sentence in refused.stderr
    assert refused.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "verb", ["stats", "export", "reindex", "jobs list", "audit --absent x", "persona show"]
)
def test_a_mistyped_path_is_no_empty_memory(verb, tmp_path):
    refused = run(tmp_path / "typo.db", *verb.split())
    assert (refused.returncode, "There is no database at" in refused.stderr) == (3, True)
    assert not (tmp_path / "typo.db").exists()


def test_a_setting_without_its_value_is_refused(told):
    refused = subprocess.run(
        [sys.executable, "-m", "memrpc", "stats", "--db", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (refused.returncode, "--db needs a value" in refused.stderr) == (2, True)


def test_a_reader_that_has_left_is_not_told_of_a_defect(told):
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "memrpc", "export", "--db", str(told)]
    left = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert (left.returncode, left.stderr) == (1, b"")


def test_settings_alone_start_the_server_on_pipes(told):
    ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    answered = run(told, "--toolset", "core", text=ping)
    assert json.loads(answered.stdout) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert answered.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_an_interrupt_during_the_imports_ends_a_verb_at_once(told):
    """An exception from without inside orjson's own import would end the interpreter badly."""
    script = (
        "import os, signal, sys; from memrpc.__main__ import main\n"
        "def hear(event, given):\n"
        "    if event == 'import' and given[0] == 'orjson': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.addaudithook(hear); sys.argv[1:] = ['stats', '--db', sys.argv[1]]; main()"
    )
    command = [sys.executable, "-c", script, str(told)]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")
