"""Data sets as haystacks: what is remembered, in order, and what is asked of it.

A file has one JSON object a line: ``{"scope", "speakers"}`` opens a haystack, ``{"item": ...}`` is
a unit to remember, ``{"query": ...}`` is a question with the ids of its relevant items.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

TUNED_SHARE = 0.6
"""The last 40 % of a file's questions are never looked at while tuning."""

_DATE_FORMATS = ("%I:%M %p on %d %B, %Y", "%Y/%m/%d (%a) %H:%M", "%Y-%m-%d")


@dataclass(frozen=True, slots=True)
class Item:
    """Something to remember."""

    id: str
    text: str
    speaker: str
    session: str
    occurred_at: int | None
    """Microseconds since the epoch; a date without a zone is read as UTC."""


@dataclass(frozen=True, slots=True)
class Question:
    """Something to ask, with the items that answer it."""

    text: str
    relevant: frozenset[str]
    category: str
    is_held_out: bool


@dataclass(slots=True)
class Haystack:
    """One scope's items and questions."""

    scope: str
    items: list[Item] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)

    @property
    def sessions(self) -> dict[str, str]:
        """Item -> its session; empty where sessions hold one item each or everything."""
        found = {each.id: each.session for each in self.items}
        return found if 1 < len(set(found.values())) < len(found) else {}


def load(path: Path) -> list[Haystack]:
    haystacks: list[Haystack] = []
    raw_questions: list[tuple[Haystack, dict]] = []
    for line in _lines(path):
        if "scope" in line:
            haystacks.append(Haystack(str(line["scope"])))
        elif "item" in line:
            haystacks[-1].items.append(_item(line["item"]))
        elif line["query"]["relevant"]:
            raw_questions.append((haystacks[-1], line["query"]))
    _deal(haystacks, raw_questions)
    return haystacks


def _deal(haystacks: list[Haystack], questions: list[tuple[Haystack, dict]]) -> None:
    """Hold out the last questions; whole haystacks where there are enough of them."""
    tuned_haystacks = int(len(haystacks) * TUNED_SHARE)
    by_haystack = len(haystacks) >= 5
    for position, (haystack, raw) in enumerate(questions):
        held_out = (
            haystack in haystacks[tuned_haystacks:]
            if by_haystack
            else position >= len(questions) * TUNED_SHARE
        )
        haystack.questions.append(
            Question(
                text=raw["text"],
                relevant=frozenset(map(str, raw["relevant"])),
                category=str(raw.get("category", "")),
                is_held_out=held_out,
            )
        )


def _lines(path: Path) -> Iterator[dict]:
    with path.open(encoding="utf-8") as file:
        yield from (json.loads(line) for line in file if line.strip())


def _item(raw: dict) -> Item:
    return Item(
        id=str(raw["id"]),
        text=raw["text"],
        speaker=raw.get("speaker") or "",
        session=str(raw.get("session", "")),
        occurred_at=_microseconds(raw.get("date") or ""),
    )


def _microseconds(date: str) -> int | None:
    for form in _DATE_FORMATS:
        try:
            moment = datetime.strptime(date, form).replace(tzinfo=UTC)
        except ValueError:
            continue
        return int(moment.timestamp()) * 1_000_000
    if date:
        raise ValueError(f"unknown date form: {date!r}")
    return None
