"""The composer: optional filters become one statement, made of constants only.

A caller chooses among fragments that stand as constants in its module and binds every value, so
no input is ever part of a statement.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, LiteralString

if TYPE_CHECKING:
    from collections.abc import Iterable


def compose(
    head: LiteralString, conditions: Iterable[LiteralString], tail: LiteralString = ""
) -> LiteralString:
    """Join ``head``, the conditions that apply and ``tail``; without a condition no WHERE."""
    chosen = tuple(conditions)
    where: LiteralString = " WHERE " + " AND ".join(f"({each})" for each in chosen)
    return f"{head}{where if chosen else ''} {tail}".rstrip()
