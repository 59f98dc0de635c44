"""What a person may get wrong at the command line, and what must not be lost by it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import apsw
import pytest

from memrpc.cli import export
from tests.cli.test_verbs import HEADER, noted, run, told

__all__ = ["noted", "told"]


def run_on_a_small_disk(database, max_bytes: int, *words: str) -> subprocess.CompletedProcess:
    """Run a verb that may write files of ``max_bytes`` and no longer ones."""
    code = (
        "import resource, signal, sys; from memrpc.cli import run\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({max_bytes}, {max_bytes}))\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "sys.exit(run(sys.argv[1:]))\n"
    )
    command = [sys.executable, "-c", code, *words, "--db", str(database)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_an_export_to_a_database_is_refused(told, tmp_path):
    other, link = tmp_path / "other.db", tmp_path / "link.jsonl"
    assert run(told, "backup", str(other)).returncode == 0
    link.symlink_to(told)
    before = run(told, "export").stdout
    for target in (told, other, link):
        refused = run(told, "export", str(target))
        assert (refused.returncode, refused.stdout) == (1, "")
        assert f"{target} belongs to a database" in refused.stderr
    assert run(told, "export").stdout == run(other, "export").stdout == before


@pytest.mark.parametrize("verb", ["export", "backup"])
def test_nothing_is_written_where_the_databases_log_is(told, verb):
    refused = run(told, verb, f"{told}-wal")
    assert (refused.returncode, "belongs to a database" in refused.stderr) == (1, True)


def test_an_export_replaces_an_older_one(told, tmp_path):
    kept = tmp_path / "kept.jsonl"
    kept.write_text(HEADER)
    assert run(told, "export", str(kept)).returncode == 0
    assert kept.read_text() == run(told, "export").stdout


def test_an_export_that_fails_leaves_what_a_link_leads_to(tmp_path):
    kept, link, new = (tmp_path / name for name in ("kept.jsonl", "link", "new"))
    kept.write_text("yesterday's")
    link.symlink_to(kept)
    new.symlink_to("made.jsonl")
    with pytest.raises(ZeroDivisionError):
        export._write(str(link), (str(1 // n) for n in (1, 0)))
    assert kept.read_text() == "yesterday's"
    for target in (link, new):
        export._write(str(target), ["first"])
        assert (target.is_symlink(), target.read_text()) == (True, "first\n")


def test_doctor_calls_a_database_bad_that_takes_no_writes(told):
    writer = apsw.Connection(str(told))
    writer.execute("BEGIN IMMEDIATE").fetchall()
    found = run(told, "doctor", "--embedder", "none")
    writer.close(True)
    assert (found.returncode, "BAD database" in found.stdout) == (3, True)


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may write it")
def test_doctor_calls_a_database_bad_that_is_read_only(told):
    told.chmod(0o444)
    found = run(told, "doctor", "--embedder", "none")
    assert (found.returncode, f"BAD database     {told} is read-only" in found.stdout) == (3, True)


def test_doctor_reports_a_path_that_cannot_be_looked_at(tmp_path):
    found = run(tmp_path / ("x" * 300), "doctor", "--embedder", "none")
    assert (found.returncode, found.stderr) == (3, "")
    assert "BAD database" in found.stdout
    assert "ok  extractor" in found.stdout


@pytest.mark.parametrize("address", ["http://127.0.0.1:99999/v1", "http://[::1/v1"])
def test_doctor_reports_an_embedder_whose_address_cannot_be_one(told, address):
    found = run(told, "doctor", "--embedder", f"openai:{address}#model")
    assert (found.returncode, found.stderr) == (1, "")
    assert "BAD embedder" in found.stdout


def test_a_path_that_cannot_be_looked_at_cannot_be_used(tmp_path):
    refused = run(tmp_path / ("x" * 300), "stats")
    assert (refused.returncode, "File name too long" in refused.stderr) == (3, True)


def test_an_import_of_a_database_says_how_to_take_it_in(told, tmp_path):
    copy = tmp_path / "copy.db"
    assert run(told, "backup", str(copy)).returncode == 0
    refused = run(told, "import", str(copy))
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert f"`memrpc export --db {copy} | memrpc import -`" in refused.stderr


@pytest.mark.parametrize("words", [("serve",), ("--toolset", "core", "serve"), ("--durable=no",)])
def test_settings_may_stand_before_the_verb_of_the_server_too(told, words):
    answered = run(told, *words, text='{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    assert (answered.returncode, answered.stderr) == (0, "")
    assert json.loads(answered.stdout)["id"] == 1


def test_an_editor_that_is_no_command_is_named(told, monkeypatch):
    monkeypatch.setenv("VISUAL", "vi '")
    refused = run(told, "persona", "edit")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "No closing quotation" in refused.stderr


def test_what_was_edited_and_is_refused_is_not_lost(told, tmp_path, monkeypatch):
    write = "import sys; open(sys.argv[1], 'w').write('long ' * 1_000)"
    monkeypatch.setenv("VISUAL", f'"{sys.executable}" -c "{write}"')
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    refused = run(told, "persona", "edit")
    assert (refused.returncode, "the limit is 4,000" in refused.stderr) == (1, True)
    kept = next(tmp_path.glob("memrpc-*.txt"))
    assert str(kept) in refused.stderr
    assert kept.read_text() == "long " * 1_000


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_an_interrupt_in_the_editor_is_not_the_end_of_it(told, tmp_path, monkeypatch):
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import os, signal, sys; os.kill(os.getppid(), signal.SIGINT)\n"
        "open(sys.argv[1], 'w').write('interrupted')\n"
    )
    monkeypatch.setenv("VISUAL", f'"{sys.executable}" "{editor}"')
    assert run(told, "persona", "edit").returncode == 0
    assert run(told, "persona", "show").stdout == "interrupted\n"


def test_an_edit_takes_nothing_back_that_somebody_wrote_meanwhile(told, tmp_path, monkeypatch):
    editor = tmp_path / "editor.py"
    other = [sys.executable, "-m", "memrpc", "persona", "import", "-", "--db", str(told)]
    editor.write_text(
        "import subprocess, sys; open(sys.argv[1], 'w').write('mine')\n"
        f"subprocess.run({other!r}, input='theirs', text=True, check=True)\n"
    )
    monkeypatch.setenv("VISUAL", f'"{sys.executable}" "{editor}"')
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    refused = run(told, "persona", "edit")
    assert (refused.returncode, "has changed the persona meanwhile" in refused.stderr) == (1, True)
    assert next(tmp_path.glob("memrpc-*.txt")).read_text() == "mine"
    assert run(told, "persona", "show").stdout == "theirs\n"


def test_a_byte_order_mark_is_no_part_of_a_persona(told, tmp_path):
    file = tmp_path / "persona.txt"
    file.write_bytes(b"\xef\xbb\xbfI am kind.\r\n")
    assert run(told, "persona", "import", str(file)).returncode == 0
    assert json.loads(run(told, "persona", "show", "--json").stdout)["items"] == ["I am kind."]


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
def test_what_is_redacted_stays_so_where_its_bytes_cannot_go_yet(told, noted):
    done = run_on_a_small_disk(told, 400_000, "redact", noted)
    assert done.stdout.startswith(f"redacted {noted}; the bytes are still to go: ")
    assert (done.returncode, done.stderr) == (0, "")
    assert noted not in run(told, "export").stdout
    assert json.loads(run(told, "stats", "--json").stdout)["pending_purges"] == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
def test_an_import_that_fails_half_way_says_what_stays(told, tmp_path):
    event = json.loads(run(told, "export").stdout.splitlines()[1]) | {"memories": []}
    lines = [json.dumps(event | {"event_id": f"n{n}"}) for n in range(3_000)]
    file, other = tmp_path / "long.jsonl", tmp_path / "other.db"
    file.write_text(HEADER + "\n".join(lines) + "\n")
    failed = run_on_a_small_disk(other, 3_000_000, "import", "--skip-bad", str(file))
    assert failed.returncode == 3
    assert "What came in before stays; import again to go on." in failed.stderr
    done = json.loads(run(other, "import", "--json", str(file)).stdout)
    assert (done["known"] > 0, done["imported"] + done["known"]) == (True, 3_000)


@pytest.mark.parametrize(
    ("shell", "files"),
    [
        ("bash", "import_pos_0_COMPGEN=_shtab_compgen_files"),
        ("zsh", ":_files"),
        ("fish", "__fish_complete_path"),
        ("tcsh", "n/--db/f/"),
    ],
)
def test_a_completion_names_verbs_and_settings_and_completes_files(told, shell, files):
    script = run(told, "completion", shell).stdout
    for word in ("memrpc", "toolset", "reindex", files):
        assert word in script
