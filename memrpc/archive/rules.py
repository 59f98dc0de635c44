"""What the archive accepts and what it refuses, decided without looking at any row.

Sizes count Unicode code points.  A refusal names the field, the limit and what to send instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memrpc.store.errors import InvalidArguments, LimitExceeded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memrpc.archive.model import Cue, Scope

MAX_TEXT_CHARS: Final = 200_000
MAX_CONTENT_CHARS: Final = 4_000
MAX_NAME_CHARS: Final = 500
MAX_STATEMENTS: Final = 30
MAX_PERSONA_ITEMS: Final = 100
MAX_CUES: Final = 20
MAX_RECALL: Final = 100
MAX_OFFSET: Final = 1_000_000
MAX_PAGE_CHARS: Final = 20_000
MAX_BUDGET_TOKENS: Final = 1_000_000
MAX_STATE_CHARS: Final = 20_000
MAX_EXCERPT_CHARS: Final = 2_000
MAX_CONTEXT_CHARS: Final = 300
MAX_ANSWER_CHARS: Final = 8_000
WHOLE_EPISODE_CHARS: Final = 300
OLD_AFTER_DAYS: Final = 30


def check_scope(scope: Scope) -> None:
    """Refuse a scope that cannot be named."""
    check_name(scope.persona_id, "persona_id")
    check_name(scope.project_id, "project_id")


def check_name(value: str, field: str) -> None:
    """Refuse a blank or endless identifier."""
    check_text(value, field, MAX_NAME_CHARS)


def check_not_blank(value: str, field: str, instead: str) -> None:
    """Refuse text without a visible character."""
    if not value.strip():
        raise InvalidArguments(f"{field} is blank; {instead}.", field=field)


def check_text(value: str, field: str, max_chars: int) -> None:
    """Refuse text that is blank or longer than ``max_chars``."""
    check_not_blank(value, field, f"send 1 to {max_chars:,} characters that are not only spaces")
    if len(value) > max_chars:
        raise LimitExceeded(
            f"{field} has {len(value):,} characters and the limit is {max_chars:,}; "
            "send less, or split it.",
            field=field,
            limit=max_chars,
            actual=len(value),
        )


def check_range(value: int, field: str, low: int, high: int) -> None:
    """Refuse a number outside ``low`` to ``high``, both included."""
    if not low <= value <= high:
        raise InvalidArguments(
            f"{field} is {value}; send a whole number from {low:,} to {high:,}.",
            field=field,
            minimum=low,
            maximum=high,
        )


def check_cues(cues: Sequence[Cue]) -> None:
    """Refuse too many cues, and cues without a usable key."""
    if len(cues) > MAX_CUES:
        raise LimitExceeded(
            f"cues has {len(cues)} entries and the limit is {MAX_CUES}; send the best ones.",
            field="cues",
            limit=MAX_CUES,
            actual=len(cues),
        )
    for index, cue in enumerate(cues):
        check_name(cue.key, f"cues[{index}].key")
        if cue.label is not None:
            check_name(cue.label, f"cues[{index}].label")
