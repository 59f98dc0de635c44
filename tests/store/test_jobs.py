"""The queue: at least once, one worker at a time, and nothing that is owed is ever lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest

from memrpc.store import jobs, migrate
from memrpc.store.errors import NotFound
from memrpc.store.jobs import Count, Job, Lease, LeaseLost, State

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from memrpc.store.database import Database

LEASE = 10


@pytest.fixture
def db() -> Iterator[apsw.Connection]:
    db = apsw.Connection(":memory:")
    migrate.migrate(db)
    yield db
    db.close()


def claim(db: apsw.Connection, now: int, owner: str = "me") -> Lease | None:
    return jobs.claim(db, ["embed"], owner=owner, now=now, lease_us=LEASE)


def states(db: apsw.Connection) -> list[State]:
    return [job.state for job in jobs.list_jobs(db)]


def test_claimed_job_is_what_was_enqueued(db: apsw.Connection):
    jobs.enqueue(db, "embed", "7", now=1, payload={"version": 2})
    assert claim(db, 1) == Lease(1, "embed", "7", {"version": 2}, 1, 1, 1)
    assert jobs.list_jobs(db) == [
        Job(1, "embed", "7", State.LEASED, 1, "me", enqueued_at=1, due_at=11, error=None)
    ]


def test_completed_job_leaves_no_row(db: apsw.Connection):
    jobs.enqueue(db, "embed", "7", now=1)
    jobs.complete(db, claim(db, 1), now=2)
    assert jobs.list_jobs(db) == []
    assert claim(db, 100) is None


def test_hastened_job_is_due_at_once_unless_it_is_being_run(db: apsw.Connection):
    jobs.enqueue(db, "embed", "7", now=1, due=50)
    jobs.hasten(db, "embed", "8", now=2)
    assert claim(db, 2) is None
    jobs.hasten(db, "embed", "7", now=2)
    lease = claim(db, 2)
    jobs.hasten(db, "embed", "7", now=3)
    assert claim(db, 3) is None
    jobs.complete(db, lease, now=4)


def test_job_is_not_claimed_before_it_is_due_nor_by_another_kind(db: apsw.Connection):
    jobs.enqueue(db, "embed", "7", now=1, due=5)
    jobs.enqueue(db, "purge", "file", now=1)
    assert claim(db, 4) is None
    assert jobs.next_due(db, ["embed"]) == 5
    assert jobs.next_due(db, ["index"]) is None
    assert claim(db, 5).subject == "7"


def test_job_that_has_been_due_longest_comes_first(db: apsw.Connection):
    for subject, due in (("late", 3), ("early", 1), ("middle", 2)):
        jobs.enqueue(db, "embed", subject, now=0, due=due)
    assert [claim(db, 9).subject for _ in range(3)] == ["early", "middle", "late"]


def test_enqueuing_twice_owes_one_run_at_the_earlier_time(db: apsw.Connection):
    jobs.enqueue(db, "embed", "7", now=1, due=9)
    jobs.enqueue(db, "embed", "7", now=2, due=4, payload={"newest": True})
    jobs.enqueue(db, "embed", "7", now=3, due=8, payload={"newest": True})
    (job,) = jobs.list_jobs(db)
    assert job.due_at == 4
    assert claim(db, 4).payload == {"newest": True}


def test_subject_that_changes_while_its_job_runs_is_done_again(db: apsw.Connection):
    jobs.enqueue(db, "embed", "7", now=1)
    first = claim(db, 1)
    jobs.enqueue(db, "embed", "7", now=2)
    assert claim(db, 2, "other") is None  # Still leased: never two at a time.
    jobs.complete(db, first, now=3)
    second = claim(db, 3)
    assert (second.subject, second.attempts) == ("7", 1)
    jobs.complete(db, second, now=4)
    assert jobs.list_jobs(db) == []


def test_b94_late_worker_finds_its_lease_gone(db: apsw.Connection):
    jobs.enqueue(db, "embed", "7", now=0)
    late = claim(db, 0, "late")
    assert claim(db, LEASE - 1, "other") is None
    other = claim(db, LEASE, "other")
    for transition in (
        lambda: jobs.heartbeat(db, late, now=LEASE),
        lambda: jobs.complete(db, late, now=LEASE),
        lambda: jobs.fail(db, late, "slow", now=LEASE, jitter=0),
        lambda: jobs.put_off(db, late, due=99, reason="slow"),
    ):
        with pytest.raises(LeaseLost):
            transition()
    jobs.complete(db, other, now=LEASE)


def test_stale_lease_fits_no_later_job_about_the_same_subject(db: apsw.Connection):
    jobs.enqueue(db, "embed", "7", now=0)
    stale = claim(db, 0)
    assert jobs.cancel(db, "embed", "7")
    assert not jobs.cancel(db, "embed", "7")
    jobs.enqueue(db, "embed", "7", now=1)
    claim(db, 1, "other")
    with pytest.raises(LeaseLost):
        jobs.complete(db, stale, now=2)


def test_heartbeat_keeps_a_lease_beyond_its_time(db: apsw.Connection):
    jobs.enqueue(db, "embed", "7", now=0)
    lease = claim(db, 0)
    jobs.heartbeat(db, lease, now=LEASE - 1, lease_us=LEASE)
    assert claim(db, LEASE, "other") is None
    jobs.complete(db, lease, now=LEASE)


def test_failed_job_waits_longer_each_time_and_is_dead_in_the_end(db: apsw.Connection):
    jobs.enqueue(db, "embed", "7", now=0)
    now, delays = 0, []
    for _ in range(jobs.MAX_ATTEMPTS - 1):
        assert jobs.fail(db, claim(db, now), "no endpoint", now=now, jitter=0.5) is State.READY
        (job,) = jobs.list_jobs(db)
        delays.append(job.due_at - now)
        now = job.due_at
    assert delays == [750_000 * 2**n for n in range(jobs.MAX_ATTEMPTS - 1)]
    assert jobs.fail(db, claim(db, now), "x" * 9_999, now=now, jitter=0.5) is State.DEAD
    (job,) = jobs.list_jobs(db)
    assert (job.state, job.owner, len(job.error)) == (State.DEAD, None, jobs.MAX_ERROR_CHARS)
    assert claim(db, 10**15) is None
    assert jobs.counts(db) == [Count("embed", State.DEAD, 1)]


@pytest.mark.parametrize("attempts", [1, 5, 12, 60])
def test_back_off_is_bounded_and_jitter_spreads_its_upper_half(attempts: int):
    low, high = jobs.back_off_us(attempts, 0.0), jobs.back_off_us(attempts, 0.999_999)
    assert jobs.MAX_BACK_OFF_US >= high > low >= high // 2


def test_job_that_kills_its_worker_each_time_ends_dead(db: apsw.Connection):
    jobs.enqueue(db, "embed", "7", now=0)
    claims = [claim(db, now * LEASE) for now in range(jobs.MAX_ATTEMPTS + 1)]
    assert claims[-1] is None
    assert None not in claims[:-1]
    assert states(db) == [State.DEAD]
    assert "vanished" in jobs.list_jobs(db)[0].error


def test_job_put_off_any_number_of_times_never_dies(db: apsw.Connection):
    jobs.enqueue(db, "embed", "7", now=0)
    for now in range(3 * jobs.MAX_ATTEMPTS):
        jobs.put_off(db, claim(db, now), due=now + 1, reason="a reader is open")
    assert states(db) == [State.READY]


def test_shutdown_gives_back_leases_without_counting_them(db: apsw.Connection):
    for subject in ("a", "b", "c"):
        jobs.enqueue(db, "embed", subject, now=0)
    mine, other = claim(db, 0), claim(db, 0, "other")
    claim(db, 0)
    assert jobs.release(db, "me", now=1) == 2
    assert states(db) == [State.READY, State.LEASED, State.READY]
    with pytest.raises(LeaseLost):
        jobs.complete(db, mine, now=1)
    jobs.complete(db, other, now=1)
    assert [claim(db, 1).attempts for _ in range(2)] == [1, 1]


def test_dead_job_is_revived_by_hand_or_by_a_new_cause(db: apsw.Connection):
    for subject in ("a", "b", "c", "d"):
        jobs.enqueue(db, "embed", subject, now=0)
        for now in range(jobs.MAX_ATTEMPTS):
            lease = claim(db, now * 10**12)
            jobs.fail(db, lease, "no", now=now, jitter=0)
    assert states(db) == [State.DEAD] * 4
    jobs.retry(db, 1, now=5)
    jobs.enqueue(db, "embed", "b", now=6)
    assert states(db) == [State.READY, State.READY, State.DEAD, State.DEAD]
    assert jobs.retry_all(db, now=7) == 2
    assert [claim(db, 7).attempts for _ in range(4)] == [1] * 4
    with pytest.raises(NotFound, match="jobs list"):
        jobs.retry(db, 1, now=8)


def test_counts_and_pages(db: apsw.Connection):
    for subject in range(5):
        jobs.enqueue(db, "embed", str(subject), now=0)
    jobs.enqueue(db, "purge", "file", now=0)
    claim(db, 0)
    assert jobs.counts(db) == [
        Count("embed", State.LEASED, 1),
        Count("embed", State.READY, 4),
        Count("purge", State.READY, 1),
    ]
    assert [job.subject for job in jobs.list_jobs(db, limit=2, offset=4)] == ["4", "file"]


def test_job_and_its_cause_are_committed_together_or_not_at_all(database: Database):
    def cause(db: apsw.Connection) -> None:
        jobs.enqueue(db, "embed", "7", now=0)
        raise LookupError

    with pytest.raises(LookupError):
        database.write_blocking(cause)
    assert database.read_blocking(jobs.list_jobs) == []


def test_four_processes_run_each_job_once(
    database: Database, path: Path, actor: Callable[..., subprocess.Popen[str]]
):
    def enqueue_all(db: apsw.Connection) -> None:
        for subject in range(200):
            jobs.enqueue(db, "embed", str(subject), now=0)

    database.write_blocking(enqueue_all)
    workers = [actor("claim", path, f"p{i}") for i in range(4)]
    done = [int(line) for worker in workers for line in worker.communicate(timeout=60)[0].split()]
    assert sorted(done) == list(range(200))
    assert database.read_blocking(jobs.list_jobs) == []


def test_job_of_a_killed_process_is_handed_over_when_its_lease_ends(
    database: Database, path: Path, actor: Callable[..., subprocess.Popen[str]]
):
    database.write_blocking(lambda db: jobs.enqueue(db, "embed", "7", now=0))
    worker = actor("claim_and_hang", path, "p")
    assert worker.stdout.readline() == "7\n"
    worker.kill()
    worker.wait()
    end = 100 + jobs.LEASE_US
    assert database.write_blocking(lambda db: claim(db, end - 1)) is None
    assert database.write_blocking(lambda db: claim(db, end)).subject == "7"
