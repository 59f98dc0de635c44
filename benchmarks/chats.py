"""Chats to remember and questions about them: the real ones of a data set, among distractors.

A distractor is made of two real turns of different chats, the first half of the one and the second
half of the other, and a distractor's session of two real sessions side by side.  So words are as
common, and stand together as much, as in what people really write; but no distractor says what a
real turn says.  Their speakers have names of their own.  The real chats come last, so in a store of
any size they are what was said of late.

Where there is no data set the turns are the invented ones of ``corpus``, each chat a hundred
sessions, and a question is some words of one turn.
"""

from __future__ import annotations

import itertools
import random
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import corpus
from .quality.datasets import Haystack, Item, load

DATA_SET = "locomo-dev.jsonl"
QUESTIONS = 200
SESSION_GAP_US = 7 * 3_600_000_000
TURN_GAP_US = 40_000_000
NAMES = (  # noqa: SIM905 -- as a list of literals it fills a page
    "Alma Boris Chloe Dmitri Elsa Farid Greta Hugo Ines Jonas Keiko Lars Mona Nadia Otto Petra "
    "Quentin Rosa Sven Tilda Umar Vera Wanda Xenia Yusuf Zora Anouk Bruno Carla Dario Edda Felix "
    "Gina Henrik Irma Jakob Katja Leon Milo Nora"
).split()
_MADE_UP_TURNS = 5_000
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Turn:
    """Something said.  ``of`` are the places of the real turns that it is made of."""

    id: str
    text: str
    speaker: str
    session: str
    occurred_at: int
    of: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Chats:
    """What people really wrote, session by session, and what is asked about it."""

    name: str
    sessions: list[list[Turn]]
    questions: list[str]


def real_chats(folder: Path | None) -> Chats:
    """The chats of the data set, or invented ones where it is not at hand."""
    path = folder / DATA_SET if folder else None
    if path is None or not path.exists():
        return _made_up()
    haystacks = load(path)
    asked = [question.text for each in haystacks for question in each.questions]
    chosen = random.Random(7).sample(asked, QUESTIONS)
    return Chats(path.stem, _sessions(haystacks), chosen)


def _sessions(haystacks: list[Haystack]) -> list[list[Turn]]:
    sessions: dict[str, list[Turn]] = defaultdict(list)
    items = ((haystack.scope, item) for haystack in haystacks for item in haystack.items)
    for place, (scope, item) in enumerate(items):
        sessions[f"{scope}/{item.session}"].append(_real(scope, item, place))
    return list(sessions.values())


def _real(scope: str, item: Item, place: int) -> Turn:
    session = f"{scope}/{item.session}"
    at = item.occurred_at or 0
    return Turn(f"{scope}/{item.id}", item.text, item.speaker, session, at, (place,))


def _made_up() -> Chats:
    turns = [
        Turn(e.event_id, e.text, e.source, e.session_id, corpus.START_US + n * TURN_GAP_US, (n,))
        for n, e in enumerate(itertools.islice(corpus.entries(_MADE_UP_TURNS), _MADE_UP_TURNS))
    ]
    sessions = [list(group) for _, group in itertools.groupby(turns, lambda turn: turn.session)]
    chance = random.Random(7)
    asked = [_question(chance, turn.text) for turn in chance.sample(turns, QUESTIONS)]
    return Chats("made-up", sessions, asked)


def _question(chance: random.Random, text: str) -> str:
    words = text.lower().strip(".").split()
    content = [word for word in words if word not in corpus.FUNCTION_WORDS]
    return " ".join(["what", "about", *chance.sample(content, min(5, len(content)))])


def stream(chats: Chats, count: int) -> Iterator[list[Turn]]:
    """``count`` turns, session by session: distractors first, then the real ones."""
    real = list(_first(chats.sessions, count))
    missing = count - sum(map(len, real))
    yield from _first(_distractors(chats.sessions), missing)
    yield from real


def _first(sessions: Iterator[list[Turn]] | list[list[Turn]], count: int) -> Iterator[list[Turn]]:
    for session in sessions:
        if count <= 0:
            return
        yield session[:count]
        count -= len(session)


def _distractors(sessions: list[list[Turn]]) -> Iterator[list[Turn]]:
    chance = random.Random(11)
    names = _names(sessions)
    begins = min(turn.occurred_at for session in sessions for turn in session)
    for number in itertools.count():
        one, other = chance.sample(sessions, 2)
        if one[0].speaker in {turn.speaker for turn in other}:
            continue  # Of the same chat: together they might say something true.
        shift = chance.randrange(len(other))
        at = begins - number * SESSION_GAP_US
        yield _distract(number, one, [*other[shift:], *other[:shift]], names, at)


def _distract(
    number: int, one: list[Turn], other: list[Turn], names: dict[str, str], at: int
) -> list[Turn]:
    first = number % len(NAMES)
    speakers = (NAMES[first], NAMES[(first * 7 + 3) % len(NAMES)])
    renamed = dict(zip(names, itertools.cycle(speakers), strict=False))
    return [
        Turn(
            id=f"distractor-{number}-{place}",
            text=_spliced(left.text, right.text, renamed),
            speaker=speakers[place % 2],
            session=f"distractor-{number}",
            occurred_at=at + place * TURN_GAP_US,
            of=(*left.of, *right.of),
        )
        for place, (left, right) in enumerate(zip(one, other, strict=False))
    ]


def _spliced(left: str, right: str, renamed: dict[str, str]) -> str:
    before, after = left.split(), right.split()
    text = " ".join([*before[: -(-len(before) // 2)], *after[len(after) // 2 :]])
    return _WORD.sub(lambda word: renamed.get(word[0], word[0]), text)


def _names(sessions: list[list[Turn]]) -> dict[str, str]:
    """Each real speaker's name and what it is shortened to in talk."""
    speakers = {turn.speaker for session in sessions for turn in session}
    return dict.fromkeys(sorted({form for name in speakers for form in (name, name[:3])}), "")
