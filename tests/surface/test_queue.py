"""The queue among many servers: each job once, handed over when its worker dies."""

from __future__ import annotations

import time

import pytest

from memrpc.app import Application, now_us
from memrpc.archive import recording
from memrpc.archive.model import Role
from memrpc.archive.recording import RecordInput
from memrpc.archive.statistics import count
from memrpc.settings import load
from memrpc.store import jobs

EVENTS = 60
DEADLINE_S = 40.0


def owe(database) -> None:
    """Events whose extraction is still owed, as a server leaves them that died after its answer."""
    application = Application(load({"db": str(database)}))

    def record(db) -> None:
        for number in range(EVENTS):
            text = f"Box {number} is heavy. It stands in row {number}."
            entry = RecordInput(f"e{number}", text, Role.USER, "Ann")
            recording.record(db, entry, now=now_us())

    application.database.write_blocking(record)
    application.close_quickly()


def look(database):
    application = Application(load({"db": str(database)}))
    try:
        return application.database.read_blocking(
            lambda db: (count(db), db.execute("SELECT DISTINCT attempts FROM events").fetchall())
        )
    finally:
        application.close_quickly()


def wait_until_done(database):
    deadline = time.monotonic() + DEADLINE_S
    while (found := look(database))[0].pending_extractions or found[0].waiting_jobs:
        assert time.monotonic() < deadline, found
        time.sleep(0.1)  # Other processes do the work; nothing here could signal its end.
    return found


@pytest.mark.parametrize("servers", [2, 6])
def test_each_job_is_run_once_among_many_servers(serve, database, servers):
    owe(database)
    for served in [serve() for _ in range(servers)]:
        served.recalled("box")  # The first use of the file wakes its worker.
    statistics, attempts = wait_until_done(database)
    assert (statistics.memories, attempts) == (2 * EVENTS, [(1,)])
    assert statistics.waiting_jobs == statistics.dead_jobs == 0


def test_a_killed_workers_job_is_run_by_another(serve, database):
    """The dead worker's lease is written as one that expires in a moment, not in half a minute."""
    owe(database)
    application = Application(load({"db": str(database)}))
    lease = application.database.write_blocking(
        lambda db: jobs.claim(db, ["extract"], owner="dead", now=now_us(), lease_us=1_500_000)
    )
    assert lease is not None
    application.close_quickly()
    doomed, heir = serve(), serve()
    doomed.recalled("box")
    doomed.peer.kill()
    heir.recalled("box")
    statistics, _ = wait_until_done(database)
    assert (statistics.memories, statistics.dead_jobs) == (2 * EVENTS, 0)
