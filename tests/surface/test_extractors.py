"""The extractors that ask a model, through the front door, against a real server on loopback."""

from __future__ import annotations

import contextlib
import json
import time

import pytest

from tests.endpoints import Asked, Reply, serving
from tests.peer import Peer
from tests.surface.conftest import Served, command
from tests.surface.test_forgetting import verb

DEADLINE_S = 30.0
TEXT = "We moved to Bern in May, and Tom found a job at the bakery."
MEMORY = {
    "content": "Tom works at the bakery.",
    "quote": "Tom found a job at the bakery.",
    "kind": "semantic",
    "inferred": True,
    "confidence": 0.8,
}


def chat(content: str) -> Reply:
    return Reply({"choices": [{"message": {"role": "assistant", "content": content}}]})


def well(_: Asked) -> Reply:
    return chat(json.dumps({"memories": [MEMORY]}))


@contextlib.contextmanager
def drawn_by(serve, answer, **env):
    with serving(answer) as server:
        settings = {"MEMRPC_EXTRACTOR": "llm", "MEMRPC_EXTRACTOR_URL": server.url}
        yield serve(env={**settings, "MEMRPC_EXTRACTOR_MODEL": "chat", **env}), server


def extraction_of(served, event_id="target") -> dict:
    return served.call("memory_read", record_id=event_id)["event"]["extraction"]


def until(served, holds) -> dict:
    deadline = time.monotonic() + DEADLINE_S
    while not holds(found := extraction_of(served)):
        assert time.monotonic() < deadline, found
        time.sleep(0.02)
    return found


def completed(served) -> dict:
    return until(served, lambda found: found["state"] == "complete")


def test_a_model_that_answers_well_gives_labelled_memories(serve):
    with drawn_by(serve, well) as (served, server):
        receipt = served.record(TEXT, event_id="target")
        assert receipt["extraction"] == {"state": "pending", "method": "llm", "attempts": 0}
        assert completed(served)["method"] == "llm"
        (memory,) = served.call("memory_recall", query="Where does Tom work?")["memories"]
        assert (memory["content"], memory["quote"]) == (MEMORY["content"], MEMORY["quote"])
        assert (memory["inferred"], memory["confidence"]) == (True, 0.8)
        assert server.asked[0].path == "/v1/chat/completions"
        assert server.asked[0].body["model"] == "chat"


def test_the_key_goes_to_the_endpoint_and_nowhere_else(serve, database):
    env = {"MEMRPC_EXTRACTOR_KEY_VARIABLE": "CHAT_KEY", "CHAT_KEY": "s3cr3t"}
    with drawn_by(serve, well, **env) as (served, server):
        served.record(TEXT, event_id="target")
        completed(served)
        assert server.asked[0].headers["Authorization"] == "Bearer s3cr3t"
        assert b"s3cr3t" not in served.peer.stderr
    assert b"s3cr3t" not in database.read_bytes()


def test_what_is_not_quoted_is_dropped_and_the_rest_is_kept(serve):
    invented = {**MEMORY, "content": "Tom is rich.", "quote": "Tom won the lottery."}

    def partly(_: Asked) -> Reply:
        return chat(f"Sure!\n```json\n{json.dumps({'memories': [invented, MEMORY, 7]})}\n```")

    with drawn_by(serve, partly) as (served, _):
        served.record(TEXT, event_id="target")
        completed(served)
        read = served.call("memory_read", record_id="target")
        assert len(read["event"]["memory_ids"]) == 1


@pytest.mark.parametrize(
    "reply",
    [
        Reply({}, status=503),
        Reply(raw=b"<html>"),
        Reply({"choices": []}),
        Reply({"choices": [{"message": {"content": "cut off"}}]}, cut=10),
    ],
    ids=["down", "no JSON", "no message", "cut"],
)
def test_b47_a_model_that_fails_leaves_the_event_pending_and_found(serve, reply):
    with drawn_by(serve, lambda _: reply) as (served, _):
        served.record(TEXT, event_id="target")
        found = until(served, lambda found: "error" in found)
        assert (found["state"], found["attempts"]) == ("pending", 0)
        answer = served.call("memory_recall", query="bakery")
        assert answer["raw"][0]["excerpt"] == TEXT
        assert answer["coverage"]["pending_extractions"] == 1
        assert any("1" in warning for warning in answer["warnings"])


def test_a_model_that_talks_nonsense_is_a_counted_attempt(serve):
    with drawn_by(serve, lambda _: chat("I would rather not.")) as (served, _):
        served.record(TEXT, event_id="target")
        found = until(served, lambda found: found["attempts"] > 0)
        assert (found["state"], found["error"]) == ("pending", "BadAnswer")


def test_a_model_that_takes_no_options_is_asked_without_them(serve):
    def plain_only(asked: Asked) -> Reply:
        return well(asked) if asked.body.keys() == {"model", "messages"} else Reply({}, status=400)

    with drawn_by(serve, plain_only) as (served, server):
        served.record(TEXT, event_id="target")
        assert completed(served)["attempts"] == 1
        assert len(server.asked) == 2


def test_a_question_that_is_declined_says_by_whom_and_how(serve):
    with drawn_by(serve, lambda _: Reply({}, status=422)) as (served, server):
        served.record(TEXT, event_id="target")
        found = until(served, lambda found: found["attempts"])
        assert found["error"] == f"{server.url} answered with status 422."


def test_a_slow_model_delays_nothing_and_the_session_ends_at_once(serve):
    with drawn_by(serve, well) as (served, server):
        server.answer = server.slowly
        started = time.perf_counter()
        served.record(TEXT, event_id="target")
        assert server.is_asked.wait(DEADLINE_S)
        served.record("The second one.", event_id="second")
        assert served.call("memory_recall", query="bakery")["raw"]
        assert time.perf_counter() - started < 5
        started = time.perf_counter()
        code, _ = served.peer.end()
        assert (code, time.perf_counter() - started < 2) == (0, True)


def test_a_slow_model_is_given_up_at_the_time_limit(serve):
    with drawn_by(serve, well, MEMRPC_EXTRACTOR_TIMEOUT_S="1") as (served, server):
        server.answer = server.slowly
        served.record(TEXT, event_id="target")
        found = until(served, lambda found: "error" in found)
        assert "within 1 seconds" in found["error"]
        assert found["state"] == "pending"


def test_an_event_that_is_forgotten_while_the_model_thinks_stays_forgotten(serve, database):
    with drawn_by(serve, well) as (served, server):

        def answer(asked: Asked) -> Reply:
            server.may_answer.wait(DEADLINE_S)
            return well(asked)

        server.answer = answer
        served.record(TEXT, event_id="target")
        assert server.is_asked.wait(DEADLINE_S)
        served.call("memory_forget", record_id="target")
        server.may_answer.set()
        served.record("The second one.", event_id="second")
        deadline = time.monotonic() + DEADLINE_S
        while extraction_of(served, "second")["state"] == "pending":
            assert time.monotonic() < deadline
        answer = served.call("memory_recall", query="Where does Tom work?")
        assert (answer["memories"], answer["raw"]) == ([], [])
        assert json.loads(verb(database, "stats", "--json").stdout)["dead_jobs"] == 0


def test_without_an_endpoint_the_reason_is_shown(serve):
    served = serve(env={"MEMRPC_EXTRACTOR": "llm"})
    served.record(TEXT, event_id="target")
    assert "llm" in until(served, lambda found: "error" in found)["error"]


@pytest.fixture
def lending(database):
    """A client that lends its model, served with the extractor ``client``."""
    with Peer(command(database, "--toolset", "core"), env={"MEMRPC_EXTRACTOR": "client"}) as peer:
        peer.handshake(capabilities={"sampling": {}})
        yield Served(peer)


def next_request(peer, method: str) -> dict:
    """The server's next request of that kind."""
    while True:
        for message in peer.receive(DEADLINE_S):
            if message.get("method") == method and "id" in message:
                return message


def test_the_clients_model_is_asked_in_the_background(lending):
    lending.record(TEXT, event_id="target")
    asked = next_request(lending.peer, "sampling/createMessage")
    given = json.loads(asked["params"]["messages"][0]["content"]["text"])
    assert given["event"]["text"] == TEXT
    answer = {
        "role": "assistant",
        "model": "m",
        "content": {"type": "text", "text": json.dumps({"memories": [MEMORY]})},
    }
    lending.peer.send({"jsonrpc": "2.0", "id": asked["id"], "result": answer})
    assert completed(lending)["method"] == "client"


def refuse(lending) -> None:
    asked = next_request(lending.peer, "sampling/createMessage")
    error = {"code": -1, "message": "the user said no"}
    lending.peer.send({"jsonrpc": "2.0", "id": asked["id"], "error": error})


def test_a_client_that_refuses_leaves_the_event_pending(lending):
    lending.record(TEXT, event_id="target")
    refuse(lending)
    found = until(lending, lambda found: "error" in found)
    assert found["state"] == "pending"
    assert found["error"].endswith("refused sampling/createMessage: the user said no")


def test_a_client_that_refused_is_asked_again_in_its_next_session_only(lending):
    lending.record(TEXT, event_id="target")
    refuse(lending)
    until(lending, lambda found: "error" in found)
    lending.record("Another one.", event_id="second")
    deadline = time.monotonic() + DEADLINE_S
    while "next session" not in extraction_of(lending, "second").get("error", ""):
        assert time.monotonic() < deadline
    lending.peer.handshake(capabilities={"sampling": {}})
    lending.record("A third one.", event_id="third")
    assert next_request(lending.peer, "sampling/createMessage")


def test_a_client_without_sampling_leaves_the_event_pending_and_says_why(serve):
    served = serve(env={"MEMRPC_EXTRACTOR": "client"})
    served.record(TEXT, event_id="target")
    assert "sampling" in until(served, lambda found: "error" in found)["error"]
