"""Tasks, claims and handoffs against a model: any order of calls, with crashes and lost leases."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from memrpc.store.errors import DomainError
from memrpc.workspace import claims, handoffs, task_writing, tasks, working
from memrpc.workspace.claims import LEASE_US, Wish
from memrpc.workspace.handoffs import HandoffDraft, HandoffFilter
from memrpc.workspace.model import HandoffStatus, TaskStatus
from memrpc.workspace.task_drafts import TaskDraft
from tests.memory_file import open_database
from tests.workspace.conftest import Workspace

AGENTS = ("ann", "bob")
CLOSED = {"completed", "canceled"}
STARTABLE = {"backlog", "pending", "in_progress"}
agents = st.sampled_from(AGENTS)
picks = st.integers(min_value=0, max_value=2)
statuses = st.sampled_from(
    [*(str(status) for status in TaskStatus), "in_progress", "completed", "completed"]
)
mostly = st.sampled_from([True, True, True, False])
seldom = st.sampled_from([False, False, False, True])
MOST_TASKS = 3


@dataclass
class ModelTask:
    status: str = "backlog"
    parent: str | None = None
    depends_on: str | None = None
    holder: tuple[str, str] | None = None
    token: str | None = None
    until: int = 0


@dataclass
class Model:
    """What the rules say, without SQL."""

    tasks: dict[str, ModelTask] = field(default_factory=dict)
    handoffs: dict[str, list] = field(default_factory=dict)  # id -> [task, status, expiry]

    def waits_for(self, code: str) -> set[str]:
        """Everything that has to end before ``code``."""
        seen, todo = set(), [code]
        while todo:
            current = todo.pop()
            task = self.tasks[current]
            children = [c for c, each in self.tasks.items() if each.parent == current]
            for after in (*children, *([task.depends_on] if task.depends_on else [])):
                if after not in seen:
                    seen.add(after)
                    todo.append(after)
        return seen

    def may_move(self, code: str, after: str, *, comment: bool) -> bool:
        task = self.tasks[code]
        before = task.status
        if before == after:
            return True
        if after == "completed" and before != "in_progress":
            return False
        waits = task.depends_on is not None and self.tasks[task.depends_on].status != "completed"
        if after in ("in_progress", "completed") and waits:
            return False
        children = [each for each in self.tasks.values() if each.parent == code]
        if after == "completed" and any(child.status not in CLOSED for child in children):
            return False
        return comment

    def is_held(self, code: str, now: int) -> bool:
        task = self.tasks[code]
        return task.holder is not None and now < task.until

    def close(self, code: str) -> None:
        task = self.tasks[code]
        task.holder = task.token = None
        for handoff in self.handoffs.values():
            if handoff[0] == code and handoff[1] == "pending":
                handoff[1] = "expired"


class Board(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.db = open_database()
        self.workspace = Workspace(self.db)
        self.model = Model()
        self.lives = dict.fromkeys(AGENTS, 1)
        for agent in (*AGENTS, "ann"):
            self.create(agent)

    def teardown(self) -> None:
        self.db.close()

    def act(self, agent: str):
        return self.workspace.act(agent, f"{agent}-{self.lives[agent]}")

    def pick(self, number: int) -> str | None:
        codes = list(self.model.tasks)
        return codes[number % len(codes)] if codes else None

    def attempt(self, function, *arguments, **named):
        """The result, or None where the domain refused."""
        try:
            return self.workspace.do(function, *arguments, **named)
        except DomainError:
            return None

    @rule(agent=agents)
    def create(self, agent) -> None:
        if len(self.model.tasks) == MOST_TASKS:
            return
        draft = TaskDraft(phase="p", title="A task", description="x")
        task = self.workspace.do(task_writing.create, draft, self.act(agent))
        self.model.tasks[task.code] = ModelTask()

    @rule(agent=agents, number=picks, towards=picks, is_parent=st.booleans())
    def join(self, agent, number, towards, is_parent) -> None:
        code, other = self.pick(number), self.pick(towards)
        if code is None or other is None:
            return
        name = "parent_id" if is_parent else "depends_on"
        done = self.attempt(task_writing.update, code, TaskDraft(**{name: other}), self.act(agent))
        attribute = "parent" if is_parent else "depends_on"
        before = getattr(self.model.tasks[code], attribute)
        setattr(self.model.tasks[code], attribute, other)
        is_cycle = code == other or code in self.model.waits_for(code)
        if is_cycle or before == other:
            setattr(self.model.tasks[code], attribute, before)
            assert done is None or before == other
        else:
            assert done is not None

    @rule(
        agent=agents,
        number=picks,
        status=statuses,
        comment=mostly,
        token=st.sampled_from(["none", "none", "own", "own", "stale"]),
    )
    def move(self, agent, number, status, comment, token) -> None:
        code = self.pick(number)
        if code is None or self.model.tasks[code].status == status:
            return
        task, now = self.model.tasks[code], self.workspace.now
        sent = {"none": None, "own": task.token, "stale": "stale"}[token]
        said = "because" if comment else None
        draft = TaskDraft(status=TaskStatus(status), comment=said, claim_token=sent)
        done = self.attempt(task_writing.update, code, draft, self.act(agent))
        held = self.model.is_held(code, now)
        if sent is not None:
            may_write = held and sent == task.token
        else:
            may_write = not held or task.holder == (agent, f"{agent}-{self.lives[agent]}")
        expected = may_write and self.model.may_move(code, status, comment=comment)
        assert (done is not None) is expected
        if expected:
            task.status = status
            if status in CLOSED:
                self.model.close(code)

    @rule(agent=agents, number=picks, force=seldom, renew=seldom)
    def claim(self, agent, number, force, renew) -> None:
        code = self.pick(number)
        if code is None:
            return
        task, now = self.model.tasks[code], self.workspace.now
        token = task.token if renew else None
        done = self.attempt(working.claim, code, Wish(token=token, force=force), self.act(agent))
        me = (agent, f"{agent}-{self.lives[agent]}")
        is_renewal = token is not None or (self.model.is_held(code, now) and task.holder == me)
        is_free = not self.model.is_held(code, now) or force
        is_open = task.status in STARTABLE
        may_start = (
            task.status == "in_progress"
            or force
            or (self.model.may_move(code, "in_progress", comment=True))
        )
        expected = (is_renewal or (is_free and is_open)) and may_start
        assert (done is not None) is expected
        if expected:
            claim = done[0]
            task.holder = task.holder if is_renewal else me
            task.token, task.until = claim.token, claim.expires_at
            task.status = "in_progress"

    @rule(agent=agents, number=picks)
    def release(self, agent, number) -> None:
        code = self.pick(number)
        if code is None:
            return
        task = self.model.tasks[code]
        found = tasks.find(self.db, self.workspace.repo(), code)
        done = self.attempt(claims.release, found, self.act(agent), token=None, force=False)
        is_mine = task.holder == (agent, f"{agent}-{self.lives[agent]}")
        assert (done is not None) is is_mine
        if is_mine:
            task.holder = task.token = None

    @rule(agent=agents)
    def crash(self, agent) -> None:
        """The agent's process dies; it comes back as another one under the same name."""
        self.lives[agent] += 1

    @rule(part=st.sampled_from([1, 1, 1, 9]))
    def wait(self, part) -> None:
        self.workspace.now += part * LEASE_US // 8

    @rule(agent=agents, number=picks, expires=st.booleans())
    def offer(self, agent, number, expires) -> None:
        code = self.pick(number)
        if code is None:
            return
        draft = HandoffDraft(agent, "unfinished", task=code)
        handoff = self.attempt(handoffs.create, draft, self.act(agent))
        is_over = self.model.tasks[code].status in ("completed", "canceled")
        assert (handoff is None) is is_over
        if is_over:
            return
        expiry = None
        if expires:
            expiry = self.workspace.now + LEASE_US
            self.db.execute("UPDATE handoffs SET expires_at = ? WHERE id = ?", (expiry, handoff.id))
        self.model.handoffs[handoff.id] = [code, "pending", expiry]

    @rule(agent=agents, number=picks, answer=st.sampled_from(["accepted", "rejected", "expired"]))
    def answer(self, agent, number, answer) -> None:
        if not self.model.handoffs:
            return
        handoff_id = list(self.model.handoffs)[number % len(self.model.handoffs)]
        offered = self.model.handoffs[handoff_id]
        is_waiting = offered[1] == "pending" and not (
            offered[2] and offered[2] <= self.workspace.now
        )
        handoff = handoffs.find(self.db, self.workspace.repo(), handoff_id)
        if answer != "accepted":
            done = self.attempt(handoffs.answer, handoff, HandoffStatus(answer), self.act(agent))
            assert (done is not None) is is_waiting
            if is_waiting:
                offered[1] = answer
            return
        code, now = offered[0], self.workspace.now
        done = self.attempt(working.accept, handoff, Wish(), self.act(agent))
        if code is None:  # Its task was deleted, which expired it.
            assert done is None
            return
        task = self.model.tasks[code]
        me = (agent, f"{agent}-{self.lives[agent]}")
        gives = task.holder is not None and task.holder[0] == handoff.from_agent
        held = self.model.is_held(code, now) and not gives
        may_start = task.status == "in_progress" or self.model.may_move(
            code, "in_progress", comment=True
        )
        is_mine = held and task.holder == me
        may_take = is_mine or (not held and task.status in STARTABLE)  # A holder's is a renewal.
        expected = is_waiting and may_take and may_start
        assert (done is not None) is expected
        if expected:
            offered[1] = "accepted"
            claim = done[1]
            task.holder, task.token, task.until = me, claim.token, claim.expires_at
            task.status = "in_progress"

    @rule(agent=agents, number=picks, really=seldom)
    def delete(self, agent, number, really) -> None:
        code = self.pick(number)
        if code is None or not really:
            return
        self.workspace.do(task_writing.delete, code, self.act(agent))
        self.model.close(code)
        del self.model.tasks[code]
        for task in self.model.tasks.values():
            task.parent = None if task.parent == code else task.parent
            task.depends_on = None if task.depends_on == code else task.depends_on
        for handoff in self.model.handoffs.values():
            handoff[0] = None if handoff[0] == code else handoff[0]

    @invariant()
    def the_rows_say_what_the_model_says(self) -> None:
        if not hasattr(self, "db"):
            return
        now = self.workspace.now
        known = {task.key: task for task in tasks.by_keys(self.db, tasks.keys(self.db)).values()}
        live = claims.live_of(self.db, list(known), now=now)
        seen = {}
        for task in known.values():
            claim = live.get(task.key)
            parent, dependency = known.get(task.parent), known.get(task.depends_on)
            seen[task.code] = (
                str(task.status),
                parent.code if parent else None,
                dependency.code if dependency else None,
                (claim.agent, claim.instance) if claim else None,
            )
        assert seen == {
            code: (
                task.status,
                task.parent,
                task.depends_on,
                task.holder if self.model.is_held(code, now) else None,
            )
            for code, task in self.model.tasks.items()
        }

    @invariant()
    def handoffs_are_answered_once_and_expire_by_the_clock(self) -> None:
        if not hasattr(self, "db"):
            return
        now = self.workspace.now
        listed, _ = handoffs.listed(
            self.db, self.workspace.repo(), HandoffFilter(limit=500), now=now
        )
        shown = {handoff.id: str(handoff.status_at(now)) for handoff in listed}
        expected = {
            handoff_id: "expired" if status == "pending" and expiry and expiry <= now else status
            for handoff_id, (_, status, expiry) in self.model.handoffs.items()
        }
        assert shown == expected

    @invariant()
    def times_are_those_of_the_status(self) -> None:
        if not hasattr(self, "db"):
            return
        for task in tasks.by_keys(self.db, tasks.keys(self.db)).values():
            assert (task.finished_at is not None) is (task.status is TaskStatus.COMPLETED)
            assert (task.canceled_at is not None) is (task.status is TaskStatus.CANCELED)


TestBoard = Board.TestCase
TestBoard.settings = settings(max_examples=100, stateful_step_count=50, deadline=None)
