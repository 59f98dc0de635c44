"""The queue against a dictionary: workers that claim, finish, fail, vanish and come back late."""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from memrpc.store import jobs, migrate
from memrpc.store.jobs import Lease, LeaseLost, State

if TYPE_CHECKING:
    from collections.abc import Callable

LEASE = 10


class Model:
    """One owed job as the tests understand it."""

    def __init__(self, due: int) -> None:
        self.due, self.attempts, self.state, self.holder = due, 0, State.READY, None
        self.again, self.owner = False, ""


class QueueMachine(RuleBasedStateMachine):
    """Workers that claim, finish, fail, vanish and come back late, against a dictionary."""

    SUBJECTS = st.sampled_from(["a", "b", "c"])
    OWNERS = st.sampled_from(["p", "q"])

    @initialize()
    def open(self) -> None:
        self.db = apsw.Connection(":memory:")
        migrate.migrate(self.db)
        self.now = 0
        self.owed: dict[str, Model] = {}
        self.leases: list[Lease] = []

    @rule(by=st.sampled_from([1, LEASE // 2, LEASE, 10**7]))
    def wait(self, by: int) -> None:
        self.now += by

    @rule(subject=SUBJECTS)
    def enqueue(self, subject: str) -> None:
        jobs.enqueue(self.db, "embed", subject, now=self.now)
        job = self.owed.get(subject)
        if job is None or job.state is State.DEAD:
            self.owed[subject] = Model(self.now)
        elif job.state is State.LEASED:
            job.again = True
        elif job.attempts == 0:
            job.due = min(job.due, self.now)

    @rule(owner=OWNERS)
    def claim(self, owner: str) -> None:
        for job in self.owed.values():
            is_gone = job.state is State.LEASED and job.due <= self.now
            if is_gone and job.attempts >= jobs.MAX_ATTEMPTS:
                job.state, job.holder = State.DEAD, None
        due = [j for j in self.owed.values() if j.state is not State.DEAD and j.due <= self.now]
        lease = jobs.claim(self.db, ["embed"], owner=owner, now=self.now, lease_us=LEASE)
        if lease is None:
            assert due == []
            return
        job = self.owed[lease.subject]
        assert job.due == min(other.due for other in due)
        job.state, job.due, job.holder = State.LEASED, self.now + LEASE, lease
        job.attempts += 1
        job.owner = owner
        assert lease.attempts == job.attempts
        job.again = False
        self.leases.append(lease)

    def finish(self, index: int, transition: Callable[[Lease], object]) -> Model | None:
        """Try a transition with any lease ever given; only its holder may get through."""
        lease = self.leases.pop(index % len(self.leases))
        job = self.owed.get(lease.subject)
        if job is not None and job.holder is lease:
            transition(lease)
            job.holder = None
            return job
        with pytest.raises(LeaseLost):
            transition(lease)
        return None

    @precondition(lambda self: self.leases)
    @rule(index=st.integers(0, 9))
    def complete(self, index: int) -> None:
        job = self.finish(index, lambda lease: jobs.complete(self.db, lease, now=self.now))
        if job is not None and job.again:
            job.state, job.due, job.attempts, job.again = State.READY, self.now, 0, False
        elif job is not None:
            self.owed = {subject: each for subject, each in self.owed.items() if each is not job}

    @precondition(lambda self: self.leases)
    @rule(index=st.integers(0, 9), jitter=st.floats(0, 1, exclude_max=True))
    def fail(self, index: int, jitter: float) -> None:
        job = self.finish(
            index, lambda lease: jobs.fail(self.db, lease, "no", now=self.now, jitter=jitter)
        )
        if job is not None:
            job.state = State.DEAD if job.attempts >= jobs.MAX_ATTEMPTS else State.READY
            job.due = self.now + jobs.back_off_us(job.attempts, jitter)

    @rule(owner=OWNERS)
    def shut_down(self, owner: str) -> None:
        jobs.release(self.db, owner, now=self.now)
        for job in self.owed.values():
            if job.state is State.LEASED and job.owner == owner:
                job.state, job.due, job.holder = State.READY, self.now, None
                job.attempts -= 1

    @invariant()
    def the_queue_is_what_is_owed(self) -> None:
        if hasattr(self, "owed"):
            seen = {j.subject: (j.state, j.attempts, j.due_at) for j in jobs.list_jobs(self.db)}
            assert seen == {s: (j.state, j.attempts, j.due) for s, j in self.owed.items()}

    def teardown(self) -> None:
        if hasattr(self, "owed"):
            self.db.close()


TestQueue = QueueMachine.TestCase
TestQueue.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
