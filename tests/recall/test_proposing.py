from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator

import apsw
import pytest

from memrpc.recall import proposing
from memrpc.recall.model import SearchRequest
from memrpc.recall.search import search

from .shelves import SCOPE, fill

WORDS = [f"w{chr(97 + n)}x" for n in range(26)]
SHARES = [0.8 / (n + 1) for n in range(len(WORDS))]
"""The first word is in most texts, the last in few."""


@pytest.fixture
def expressions(db: apsw.Connection, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """What FTS5 is asked of 400 texts for the best eight of each question."""
    chance = random.Random(5)
    with db:
        fill(db, (" ".join(_some(chance)) + " end" for _ in range(400)))
        fill(db, (" ".join(WORDS) for _ in range(5)), scope=SCOPE + 1)
    monkeypatch.setattr(proposing, "CANDIDATES", 8)
    asked: list[str] = []

    def note(_: apsw.Cursor, sql: str, bindings: object) -> bool:
        if sql in (proposing.MATCHING, proposing.MATCHING_WITHIN):
            asked.append(bindings["expression"])
        return True

    db.exec_trace = note
    yield asked
    db.exec_trace = None


def _some(chance: random.Random) -> list[str]:
    held = [word for word, share in zip(WORDS, SHARES, strict=True) if chance.random() < share]
    return [word for word in held for _ in range(chance.choice((1, 1, 1, 3)))]


def _questions() -> list[str]:
    chance = random.Random(6)
    return [" ".join(chance.sample(WORDS, chance.randint(2, 6))) for _ in range(150)]


def _best(db: apsw.Connection, question: str) -> list[tuple[int, float]]:
    hits = search(db, SearchRequest(question, SCOPE, limit=8, floor=0.0)).hits
    return [(hit.subject, hit.score) for hit in hits]


@pytest.mark.parametrize("guess", [0.5, 0.9, 3.0])
def test_the_best_are_the_same_when_only_what_may_be_among_them_is_ranked(
    db: apsw.Connection, expressions: list[str], monkeypatch: pytest.MonkeyPatch, guess: float
) -> None:
    monkeypatch.setattr(proposing, "GUESS", 0.0)
    ranked = {question: _best(db, question) for question in _questions()}
    assert not any("NOT" in each for each in expressions)
    monkeypatch.setattr(proposing, "GUESS", guess)
    assert {question: _best(db, question) for question in ranked} == ranked
    assert sum("NOT" in each for each in expressions) > 20


def test_where_the_guess_was_too_high_everything_is_ranked_after_all(
    db: apsw.Connection, expressions: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proposing, "GUESS", 3.0)
    for question in _questions():
        _best(db, question)
    again = [
        after
        for before, after in itertools.pairwise(expressions)
        if "NOT" in before and before.startswith(f"({after})")
    ]
    assert again


def test_nothing_is_spared_within_chosen_subjects(
    db: apsw.Connection, expressions: list[str]
) -> None:
    within = {"event": set(range(300))}
    for question in _questions():
        search(db, SearchRequest(question, SCOPE, within=within))
    assert not any("NOT" in each for each in expressions)


def test_where_too_few_units_hold_the_rarer_words_the_common_ones_add_to_them(
    db: apsw.Connection, expressions: list[str]
) -> None:
    fill(db, ["yak emu gnu"] * 4 + ["car"] * 200 + ["house"] * 1_000)
    assert len(_best(db, "yak emu gnu car")) == 8
    assert "NOT" in expressions[0]


def test_a_word_that_most_units_hold_is_not_even_looked_for(
    db: apsw.Connection, expressions: list[str]
) -> None:
    fill(db, ["car yak"] * 20 + ["car emu"] * 20 + ["car"] * 1_000)
    assert {subject for subject, _ in _best(db, "yak emu car")} <= set(range(40))
    assert [each for each in expressions if "zcar" in each] == expressions[1:]


def test_a_phrase_that_may_be_rarer_than_its_parts_is_not_spared(
    db: apsw.Connection, expressions: list[str]
) -> None:
    fill(db, ["天地人"] * 3 + ["天地"] * 400 + ["地人"] * 400 + ["yak"] * 20 + ["house"] * 900)
    assert len(_best(db, "yak 天地人")) == 8
    assert not any("NOT" in each for each in expressions)


@pytest.mark.parametrize("seed", range(20))
def test_what_the_last_unit_should_be_worth_is_what_it_is_where_chance_spreads_the_phrases(
    seed: int,
) -> None:
    chance, units, limit = random.Random(seed), 4_000, 50
    counts = [chance.randint(20, 1_500) for _ in range(chance.randint(2, 8))]
    rarities = [math.log((units - count + 0.5) / (count + 0.5)) for count in counts]
    worths = [0.0] * units
    for count, rarity in zip(counts, rarities, strict=True):
        for unit in chance.sample(range(units), count):
            worths[unit] += rarity
    phrases = [
        proposing._Phrase("", count, rarity, rarity)
        for count, rarity in zip(counts, rarities, strict=True)
    ]
    found = proposing._expected(phrases, units, limit)
    assert found == pytest.approx(sorted(worths, reverse=True)[limit - 1], abs=1.0)


def test_where_too_few_units_hold_anything_nothing_is_expected_of_the_last() -> None:
    assert proposing._expected([proposing._Phrase("", 49, 5.0, 11.0)], 10_000, 50) == 0.0
    assert proposing._expected([proposing._Phrase("", 50, 5.0, 11.0)], 10_000, 50) == 5.0
    assert proposing._expected([proposing._Phrase("", 50, 99.0, 99.0)], 10_000, 50) == 15.5
