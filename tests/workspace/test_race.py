"""Many processes on one file."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROCESSES = 20


@pytest.mark.slow
def test_b95_of_twenty_processes_that_claim_one_task_one_wins_and_the_rest_are_told_who(
    tools, database
):
    tools.task("Contended")
    command = [sys.executable, "-m", "tests.workspace.claimant", str(database)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    started = [subprocess.Popen([*command, f"agent-{n}"], **pipes) for n in range(PROCESSES)]
    try:
        for process in started:
            assert process.stdout.readline().strip() == "ready"
        for process in started:
            process.stdin.write("go\n")
            process.stdin.flush()
        said = [process.communicate(timeout=60)[0].split() for process in started]
    finally:
        for process in started:
            process.kill()
    winners = [words[1] for words in said if words[0] == "won"]
    losers = [words for words in said if words[0] == "lost"]
    assert len(winners) == 1
    assert len(losers) == PROCESSES - 1
    assert {words[1] for words in losers} == set(winners)
    assert all(words[2].endswith("Z") for words in losers)
    (claim,) = tools.rows("claim-manage", "claims")
    assert claim["agent"] == winners[0]


def test_two_servers_count_codes_without_a_clash(tools, other):
    topics = ("pigeons", "violins", "glaciers", "spoons", "lanterns", "meadows")
    made = [
        server.remember(f"{topic} {n}", f"All about {topic}, as seen from server {n}.")["code"]
        for n, server in enumerate((tools, other))
        for topic in topics[3 * n : 3 * n + 3]
    ]
    assert made == [f"MEM-{n:03}" for n in range(1, 7)]
