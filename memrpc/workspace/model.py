"""The workspace's nouns: frozen values and closed sets, without behaviour.

Integer times are microseconds since the epoch, UTC.  ``key`` is a row number and stays inside;
callers see ``id`` and ``code``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

Object: TypeAlias = Mapping[str, Any]
"""A JSON object of the caller's, kept and given back as it came."""

UNKNOWN = "unknown"


class Kind(StrEnum):
    """What a subject is."""

    ENTRY = "entry"
    TASK = "task"
    STANDARD = "standard"
    HANDOFF = "handoff"
    CLAIM = "claim"
    SUMMARY = "summary"


class EntryType(StrEnum):
    """What an entry states."""

    CODE_FACT = "code_fact"
    DECISION = "decision"
    MISTAKE = "mistake"
    PATTERN = "pattern"
    TASK_ARCHIVE = "task_archive"


class EntryStatus(StrEnum):
    """Whether an entry is in use."""

    ACTIVE = "active"
    ARCHIVED = "archived"


class Acknowledgement(StrEnum):
    """What became of an entry that was read."""

    USED = "used"
    IRRELEVANT = "irrelevant"
    CONTRADICTORY = "contradictory"


class TaskStatus(StrEnum):
    """Where a task stands."""

    BACKLOG = "backlog"
    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    CANCELED = "canceled"
    BLOCKED = "blocked"


class HandoffStatus(StrEnum):
    """Where a handoff stands."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    EXPIRED = "expired"


class ClaimEnd(StrEnum):
    """What ended a claim."""

    RELEASE = "release"
    EXPIRY = "expiry"
    FORCE = "force"
    TASK = "task"


class Confidence(StrEnum):
    """How much of a question a hit holds."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Repo(NamedTuple):
    """The pair that content never leaves, with its number; 0 where nothing was ever written."""

    key: int
    owner: str
    name: str


class Act(NamedTuple):
    """One change: by which tool, on whose behalf, when.

    ``instance`` is the server process, which together with the agent's name makes a claimant.
    """

    tool: str
    agent: str
    instance: str
    now: int
    new_id: Callable[[], str]


class Entry(NamedTuple):
    """A memory of the workspace."""

    key: int
    id: str
    repo: int
    code: str
    type: EntryType
    title: str
    content: str
    importance: int
    agent: str
    role: str
    model: str
    branch: str | None
    folder: str | None
    language: str | None
    created_at: int
    updated_at: int
    completed_at: str | None
    used: int
    irrelevant: int
    contradictory: int
    last_used_at: int | None
    expires_at: int | None
    decayed_at: int | None
    supersedes: str | None
    status: EntryStatus
    is_global: bool
    tags: tuple[str, ...]
    metadata: Object

    def is_expired(self, now: int) -> bool:
        """Say whether its time is over."""
        return self.expires_at is not None and self.expires_at <= now


class Task(NamedTuple):
    """A piece of work."""

    key: int
    id: str
    repo: int
    code: str
    phase: str
    title: str
    description: str
    status: TaskStatus
    priority: int
    agent: str
    role: str
    model: str
    doc_path: str | None
    created_at: int
    updated_at: int
    in_progress_at: int | None
    finished_at: int | None
    canceled_at: int | None
    est_tokens: int
    commit_id: str | None
    changed_files: tuple[str, ...]
    tags: tuple[str, ...]
    suggested_skills: tuple[str, ...]
    metadata: Object
    parent: int | None
    depends_on: int | None


class Comment(NamedTuple):
    """A remark on a task, or the trace of a change of its status."""

    id: str
    text: str
    agent: str
    role: str
    model: str
    previous_status: TaskStatus | None
    next_status: TaskStatus | None
    created_at: int


class Claim(NamedTuple):
    """The right to work on a task until the lease ends."""

    key: int
    id: str
    repo: int
    task: int
    agent: str
    instance: str
    role: str
    token: str
    metadata: Object
    claimed_at: int
    expires_at: int
    released_at: int | None
    ended_by: ClaimEnd | None

    def is_live(self, now: int) -> bool:
        """Say whether it still keeps others away."""
        return self.released_at is None and now < self.expires_at


class Handoff(NamedTuple):
    """Unfinished work passed from one agent to another."""

    key: int
    id: str
    repo: int
    from_agent: str
    to_agent: str | None
    task: int | None
    summary: str
    context: Object
    status: HandoffStatus
    created_at: int
    updated_at: int
    expires_at: int | None

    def status_at(self, now: int) -> HandoffStatus:
        """Return the status as the clock has it: nobody need notice that a time has passed."""
        is_over = self.expires_at is not None and self.expires_at <= now
        if is_over and self.status is HandoffStatus.PENDING:
            return HandoffStatus.EXPIRED
        return self.status


class Standard(NamedTuple):
    """A rule that code has to follow."""

    key: int
    id: str
    repo: int
    code: str
    title: str
    content: str
    parent: int | None
    context: str
    version: str
    language: str | None
    stack: tuple[str, ...]
    is_global: bool
    tags: tuple[str, ...]
    metadata: Object
    agent: str
    model: str
    created_at: int
    updated_at: int


class Summary(NamedTuple):
    """What a repository is, in a few signals."""

    signals: tuple[str, ...]
    agent: str
    updated_at: int

    @property
    def text(self) -> str:
        """The summary as it is read."""
        return "\n".join(["Project summary:", *(f"- {signal}" for signal in self.signals)])


class Action(NamedTuple):
    """One change of one subject, as the log keeps it."""

    key: int
    repo: int
    tool: str
    operation: str
    kind: Kind
    subject_id: str
    code: str | None
    agent: str
    before: Object | None
    after: Object | None
    created_at: int
