"""How the process starts: what it imports, opens and needs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from memrpc.settings import load
from tests.peer import INITIALIZED, Peer, initialize, request, to_line
from tests.surface.conftest import Served, command

HEAVY = ("jsonschema", "numpy", "tiktoken", "tree_sitter")
WATCHED = """
import sys
seen = []
def note(event, args):
    if event.startswith("socket."):
        seen.append((event, args))
sys.addaudithook(note)
from memrpc.__main__ import main
sys.argv = ["memrpc", "serve", "--db", sys.argv[1]]
code = main()
import socket
def is_network(event, args):
    if event == "socket.__new__":
        return args[1] in (socket.AF_INET, socket.AF_INET6)
    return event in ("socket.bind", "socket.connect", "socket.getaddrinfo", "socket.sendto")
network = [event for event, args in seen if is_network(event, args)]
loaded = [name for name in sys.modules if name.startswith(%r)]
print("REPORT", network, loaded, file=sys.stderr)
raise SystemExit(code)
"""


def run_watched(database, *messages, for_modules=HEAVY) -> str:
    """Serve these messages inside a process that reports what it did."""
    script = WATCHED % (for_modules,)
    done = subprocess.run(
        [sys.executable, "-c", script, str(database)],
        input=b"".join(map(to_line, messages)),
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stderr.decode().partition("REPORT ")[2].strip()


def call(id_, tool, **arguments):
    return request(id_, "tools/call", {"name": tool, "arguments": arguments})


RECORD = {"event_id": "e", "text": "The lake froze.", "role": "user", "source": "Ann"}


def test_a_first_recall_waits_for_nothing_that_only_owed_work_needs(database):
    recall = call("recall", "memory_recall", query="lake")
    owed = ("memrpc.archive.extraction_llm", "memrpc.workspace.model")
    assert run_watched(database, initialize(), INITIALIZED, recall, for_modules=owed) == "[] []"


def test_nothing_heavy_is_imported_for_initialize_and_the_lists(database):
    lists = [request(m, m) for m in ("tools/list", "resources/templates/list", "prompts/list")]
    assert run_watched(database, initialize(), INITIALIZED, *lists) == "[] []"


def test_recording_and_recalling_open_no_socket_and_import_nothing_heavy(database):
    calls = [call(1, "memory_record", **RECORD), call(2, "memory_recall", query="lake")]
    assert run_watched(database, initialize(), INITIALIZED, *calls) == "[] []"


def test_b60_utf8_goes_both_ways_whatever_the_locale(database):
    env = {"LANG": "C", "LC_ALL": "C", "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    with Peer(command(database, "--toolset", "core"), env=env) as peer:
        peer.handshake()
        served = Served(peer)
        served.record("★🎉тест is the motto")
        assert "★🎉тест" in served.recalled("motto")


@pytest.mark.parametrize(
    "env",
    [
        {"HOME": "", "USERPROFILE": "", "XDG_DATA_HOME": ""},
        {"HOME": "/", "XDG_DATA_HOME": ""},
        {"HOME": "/nonexistent", "XDG_DATA_HOME": ""},
    ],
    ids=["unset", "root", "missing"],
)
def test_b57_without_a_home_the_handshake_works_and_tools_say_why_not(env):
    with Peer((sys.executable, "-m", "memrpc", "serve", "--toolset", "core"), env=env) as peer:
        peer.handshake()
        result = peer.ask("tools/call", {"name": "memory_recall", "arguments": {"query": "x"}})
        error = json.loads(result["result"]["content"][0]["text"])["error"]
        assert error["code"] == "unavailable"
        assert "MEMRPC_DB" in error["message"]
        peer.prove_alive()


def test_b57_a_path_that_is_a_folder_is_named(tmp_path):
    with Peer(command(tmp_path, "--toolset", "core")) as peer:
        peer.handshake()
        result = peer.ask("tools/call", {"name": "memory_recall", "arguments": {"query": "x"}})
        text = result["result"]["content"][0]["text"]
        assert str(tmp_path) in text
        assert result["result"]["isError"] is True


def test_b57_odd_characters_in_the_path_are_fine(tmp_path):
    path = tmp_path / "a b" / "ü" / "m.db"
    with Peer(command(path, "--toolset", "core")) as peer:
        peer.handshake()
        Served(peer).record("The hat is grey.")
    assert path.exists()


def test_b58_a_path_from_the_environment_may_use_variables(tmp_path):
    env = {"HOME": str(tmp_path), "MEMRPC_DB": "${HOME}/deep/er/m.db"}
    with Peer((sys.executable, "-m", "memrpc"), env=env) as peer:
        peer.handshake()
        Served(peer).record("The hat is grey.")
    assert (tmp_path / "deep" / "er" / "m.db").exists()


@pytest.mark.parametrize(
    "content", [b"hello", b"SQLite format 3\x00" + b"\x00" * 4080], ids=["text", "torn"]
)
def test_b64_a_damaged_file_is_left_alone_and_named(database, content):
    database.write_bytes(content)
    with Peer(command(database, "--toolset", "core")) as peer:
        peer.handshake()
        result = peer.ask("tools/call", {"name": "memory_recall", "arguments": {"query": "x"}})
        assert result["result"]["isError"] is True
        assert str(database) in result["result"]["content"][0]["text"]
        peer.prove_alive()
    assert database.read_bytes() == content


def test_an_unknown_flag_and_a_bad_setting_end_with_usage(database):
    for words in (("--nonsense",), ("--toolset", "everything")):
        done = subprocess.run(
            [*command(database), *words], input=b"", capture_output=True, check=False
        )
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.decode().count("\n") == 1


def test_the_server_started_without_a_word_on_pipes_serves(tmp_path):
    env = {"MEMRPC_DB": str(tmp_path / "m.db")}
    with Peer((sys.executable, "-m", "memrpc"), env=env) as peer:
        assert peer.handshake()["serverInfo"]["name"] == "memrpc"
        code, _ = peer.end()
        assert code == 0


def test_both_eras_share_one_process(served):
    """B72."""
    found = served.peer.ask_modern("tools/list")["result"]
    assert found["resultType"] == "complete"
    assert len(found["tools"]) == 7
    assert "resultType" not in served.peer.ask("tools/list")["result"]


NOISE = """
import sys

class Noisy:
    def find_spec(self, name, path=None, target=None):
        if name in ("orjson", "asyncio", "anyio", "apsw"):
            print("a banner of", name)
            sys.__stdout__.flush()

sys.meta_path.insert(0, Noisy())
"""


def test_b61_what_libraries_print_is_not_on_the_wire(database, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(NOISE)
    env = {"PYTHONPATH": str(tmp_path), "PYTHONWARNINGS": "always"}
    with Peer(command(database, "--toolset", "core"), env=env) as peer:
        peer.handshake()
        served = Served(peer)
        served.record("The oak is old.", event_id="oak")
        memory = served.call("memory_recall", query="oak")["memories"][0]["memory_id"]
        served.call("memory_read", record_id="oak")
        served.call("session_checkpoint", state={"goal": "g"}, covered_event_id="oak")
        served.call("session_resume")
        served.call("memory_correct", memory_id=memory, content="The oak is young.", reason="r")
        served.call("memory_forget", record_id="oak")
        peer.wait_for_stderr(b"a banner of apsw")


def test_b62_a_sqlite_without_full_text_is_named(monkeypatch):
    import apsw

    from memrpc.cli import doctor
    from memrpc.store.errors import Unusable

    monkeypatch.setattr(apsw, "compile_options", ("THREADSAFE=1",))
    with pytest.raises(Unusable, match="FTS5"):
        dict(doctor.CHECKS)["sqlite"](load({}))


def test_b86_no_file_is_opened_before_a_call_needs_it(database):
    with Peer(command(database, "--toolset", "core")) as peer:
        peer.handshake()
        peer.ask("tools/list")
        assert not database.exists()
        Served(peer).record("The oak is old.")
        assert database.exists()
