"""What the workspace accepts and refuses, decided without looking at any row.

The state matrices stand here as one table each.  Sizes count Unicode code points.  A refusal names
the field, the limit and what to send instead.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from enum import Flag, auto
from types import MappingProxyType
from typing import Final, NamedTuple

from memrpc.store.errors import InvalidArguments, InvalidState, LimitExceeded
from memrpc.workspace.model import HandoffStatus, TaskStatus

ENTRY_TITLE_CHARS: Final = (3, 255)
TASK_TITLE_CHARS: Final = (3, 100)
CONTENT_CHARS: Final = (10, 50_000)
SHORT_CHARS: Final = (1, 500)
BRIEF_CHARS: Final = (0, 500)
"""Of a role, a version, a path and the like, which may stand in each line of a list."""
MAX_EST_TOKENS: Final = 1_000_000_000
MAX_ISSUE_DIGITS: Final = 9
TAG_CHARS: Final = (1, 100)
LONG_CHARS: Final = (1, 20_000)
SIGNAL_CHARS: Final = (1, 200)
MAX_CODE_CHARS: Final = 20
MAX_ITEMS: Final = 100
MAX_METADATA_CHARS: Final = 20_000
MAX_PENDING: Final = 10
"""With more tasks than this already pending, a new one goes to the backlog."""


class Gate(Flag):
    """What a change of a task's status has to pass."""

    FREE = 0
    COMMENT = auto()
    PATH = auto()
    DEPENDENCY = auto()
    CHILDREN = auto()


_GATES: Final = {
    "-": Gate.FREE,
    "x": Gate.PATH,
    "c": Gate.COMMENT,
    "s": Gate.COMMENT | Gate.DEPENDENCY,
    "f": Gate.COMMENT | Gate.DEPENDENCY | Gate.CHILDREN,
}
_GRID: Final = """
              backlog pending in_progress completed canceled blocked
backlog       -       c       s           x         c        c
pending       c       -       s           x         c        c
in_progress   c       c       -           f         c        c
completed     c       c       s           -         c        c
canceled      c       c       s           x         -        c
blocked       c       c       s           x         c        -
"""


def _moves(grid: str) -> Mapping[tuple[TaskStatus, TaskStatus], Gate]:
    head, *rows = (line.split() for line in grid.strip().splitlines())
    return MappingProxyType(
        {
            (TaskStatus(before), TaskStatus(after)): _GATES[mark]
            for before, *marks in rows
            for after, mark in zip(head, marks, strict=True)
        }
    )


TASK_MOVES: Final = _moves(_GRID)
"""From and to -> gates.  x: not on this path; c: a comment; s: to start; f: to finish."""
TASK_STARTS: Final = (TaskStatus.BACKLOG, TaskStatus.PENDING)
CLAIMABLE: Final = frozenset({TaskStatus.BACKLOG, TaskStatus.PENDING, TaskStatus.IN_PROGRESS})
CLOSED: Final = frozenset({TaskStatus.COMPLETED, TaskStatus.CANCELED})
HANDOFF_MOVES: Final = frozenset(
    (HandoffStatus.PENDING, after)
    for after in (HandoffStatus.ACCEPTED, HandoffStatus.REJECTED, HandoffStatus.EXPIRED)
)
UNFINISHED_KEYS: Final = ("next_steps", "blockers", "remaining_work")

_SIGNED_TITLE: Final = re.compile(
    r"^\s*\[[^\]]*(?:agent:|role:|model:|source_|\d{4}-\d{2}-\d{2})[^\]]*\]", re.IGNORECASE
)


class Move(NamedTuple):
    """A change of a task's status with what its gates ask about."""

    code: str
    before: TaskStatus
    after: TaskStatus
    has_comment: bool
    open_dependency: str | None = None
    dependency_status: TaskStatus | None = None
    open_children: tuple[str, ...] = ()

    @property
    def gates(self) -> Gate:
        """What it has to pass."""
        return TASK_MOVES[self.before, self.after]


def check_move(move: Move, *, force: bool) -> None:
    """Refuse a change of status that fails a gate; ``force`` opens every gate."""
    if force:
        return
    _check_path(move)
    _check_comment(move)
    _check_dependency(move)
    _check_children(move)


def _check_path(move: Move) -> None:
    if Gate.PATH in move.gates:
        raise InvalidState(
            f"{move.code} cannot go from {move.before} to {move.after}: it must go through "
            "'in_progress' first, or send force: true.",
            field="status",
            code=move.code,
            status=move.before,
        )


def _check_comment(move: Move) -> None:
    if Gate.COMMENT in move.gates and not move.has_comment:
        raise InvalidArguments(
            f"comment is required when changing task status ({move.code}: {move.before} to "
            f"{move.after}); say what happened, or send force: true.",
            field="comment",
            code=move.code,
        )


def _check_dependency(move: Move) -> None:
    if Gate.DEPENDENCY in move.gates and move.open_dependency is not None:
        raise InvalidState(
            f"{move.code} depends on {move.open_dependency}, which is {move.dependency_status}; "
            "complete that first, clear depends_on with an empty string, or send force: true.",
            code=move.code,
            depends_on=move.open_dependency,
        )


def _check_children(move: Move) -> None:
    if Gate.CHILDREN in move.gates and move.open_children:
        raise InvalidState(
            f"{move.code} has open children: {', '.join(move.open_children)}; complete or cancel "
            "them first, or send force: true.",
            code=move.code,
            children=list(move.open_children),
        )


def check_start(status: TaskStatus) -> None:
    """Refuse a status in which no task begins."""
    if status not in TASK_STARTS:
        raise InvalidArguments(
            f"a new task is backlog or pending, not {status}; create it, then change its status.",
            field="status",
        )


def check_handoff_move(before: HandoffStatus, after: HandoffStatus, handoff_id: str) -> None:
    """Refuse a second answer to a handoff."""
    if (before, after) not in HANDOFF_MOVES:
        raise InvalidState(
            f"handoff {handoff_id} is {before} and cannot become {after}; only a pending one can "
            "be accepted, rejected or expired. Create a new handoff.",
            id=handoff_id,
            status=before,
        )


def check_handoff_reason(
    to_agent: str | None, *, has_task: bool, context: Mapping[str, object]
) -> None:
    """Refuse a handoff of nothing: it is for unfinished work."""
    if to_agent or has_task or any(context.get(key) for key in UNFINISHED_KEYS):
        return
    raise InvalidArguments(
        "a handoff is for unfinished work: send to_agent, task_id or task_code, or a context with "
        f"{', '.join(UNFINISHED_KEYS)}.",
        field="context",
    )


def check_unfinished(code: str, status: TaskStatus) -> None:
    """Refuse to hand over a task that is over: nobody could take it."""
    if status in CLOSED:
        raise InvalidState(
            f"{code} is {status}, so nothing is left to hand over; reopen it with task-write.",
            field="task_code",
            code=code,
            status=status,
        )


def check_text(value: str, field: str, bounds: tuple[int, int]) -> str:
    """Return ``value``; refuse it where its visible part is too short or all of it too long."""
    low, high = bounds
    if len(value.strip()) < low:
        raise InvalidArguments(
            f"{field} must have at least {low} characters that are not only spaces.",
            field=field,
            minimum=low,
        )
    if len(value) > high:
        raise LimitExceeded(
            f"{field} has {len(value):,} characters and the limit is {high:,}; send less, or "
            "split it.",
            field=field,
            limit=high,
            actual=len(value),
        )
    return value


def check_brief(draft: object, *fields: str) -> None:
    """Refuse what is too long of a draft's small texts."""
    for field in fields:
        check_text(getattr(draft, field) or "", field, BRIEF_CHARS)


def check_title(title: str) -> str:
    """Return an entry's title; refuse one that repeats what other fields say."""
    check_text(title, "title", ENTRY_TITLE_CHARS)
    if _SIGNED_TITLE.match(title):
        raise InvalidArguments(
            "title begins with a block of metadata; send the bare title, and agent, role, model "
            "or metadata as fields.",
            field="title",
        )
    return title


def check_code(code: str) -> str:
    """Return a chosen code without surrounding spaces; refuse one that cannot be a handle."""
    bare = code.strip()
    if (
        not bare
        or len(bare) > MAX_CODE_CHARS
        or any(c.isspace() or not c.isprintable() for c in bare)
    ):
        raise InvalidArguments(
            f"code must have 1 to {MAX_CODE_CHARS} characters without spaces, such as MEM-007.",
            field="code",
        )
    return bare


def check_list(
    values: Sequence[str], field: str, bounds: tuple[int, int] = SHORT_CHARS
) -> tuple[str, ...]:
    """Return the items without surrounding spaces, each once, blank ones left out."""
    if len(values) > MAX_ITEMS:
        raise LimitExceeded(
            f"{field} has {len(values)} items and the limit is {MAX_ITEMS}.",
            field=field,
            limit=MAX_ITEMS,
            actual=len(values),
        )
    for index, value in enumerate(values):
        if len(value) > bounds[1]:
            check_text(value, f"{field}[{index}]", bounds)
    return tuple(dict.fromkeys(bare for value in values if (bare := value.strip())))


def check_object(text: str, field: str) -> None:
    """Refuse an object that is too large as JSON."""
    if len(text) > MAX_METADATA_CHARS:
        raise LimitExceeded(
            f"{field} has {len(text):,} characters as JSON and the limit is "
            f"{MAX_METADATA_CHARS:,}; keep long text in content.",
            field=field,
            limit=MAX_METADATA_CHARS,
            actual=len(text),
        )
