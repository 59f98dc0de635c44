"""How a question is taken apart: times, inline tags, names."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memrpc.workspace import inline, windows
from memrpc.workspace.naming import Name, names_in, number_of
from tests.workspace.conftest import NOW


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def day(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1_000_000


@pytest.mark.parametrize(
    ("question", "rest", "since", "until"),
    [
        ("decisions yesterday", "decisions", "2026-05-27", "2026-05-28"),
        ("what did we do today", "what did we do", "2026-05-28", "2026-05-29"),
        ("redis last week", "redis", "2026-05-18", "2026-05-25"),
        ("redis this week", "redis", "2026-05-25", "2026-06-01"),
        ("redis last month", "redis", "2026-04-01", "2026-05-01"),
        ("redis last year", "redis", "2025-01-01", "2026-01-01"),
        ("bugs since monday", "bugs", "2026-05-25", None),
        ("bugs since 2026-05-01", "bugs", "2026-05-01", None),
        ("bugs before May 3", "bugs", None, "2026-05-03"),
        ("bugs after may 3", "bugs", "2026-05-04", None),
        ("bugs until 2026-05-03", "bugs", None, "2026-05-04"),
        ("bugs in april", "bugs", "2026-04-01", "2026-05-01"),
        ("bugs on 2026-05-08", "bugs", "2026-05-08", "2026-05-09"),
        ("bugs 2026-05-08", "bugs", "2026-05-08", "2026-05-09"),
        ("bugs last friday", "bugs", "2026-05-22", "2026-05-23"),
        ("3 months ago we chose", "we chose", "2026-02-01", "2026-03-01"),
        ("between 2026-05-01 and 2026-05-03 fixes", "fixes", "2026-05-01", "2026-05-04"),
        ("two weeks ago we chose", "we chose", "2026-05-11", "2026-05-18"),
        ("bugs since a week ago", "bugs", "2026-05-18", None),
        ("bugs the day before yesterday", "bugs", "2026-05-26", "2026-05-27"),
        ("bugs before yesterday", "bugs", None, "2026-05-27"),
        ("last week's bugs", "bugs", "2026-05-18", "2026-05-25"),
    ],
)
def test_a_time_phrase_is_a_window_of_whole_units(question, rest, since, until):
    text, window = windows.extract(question, NOW)
    assert text == rest
    assert window is not None
    bounds = (window.since, window.until)
    assert bounds == (since and day(since), until and day(until))


@pytest.mark.parametrize(
    ("question", "hours"),
    [("in the last hour", 1), ("last 3 days", 72), ("last three days", 72), ("past week", 168)],
)
def test_a_rolling_phrase_ends_now(question, hours):
    _, window = windows.extract(f"errors {question}", NOW)
    assert window is not None
    assert (window.since, window.until) == (NOW - hours * 3_600_000_000, None)


@pytest.mark.parametrize(
    "question",
    [
        "may the cache be empty",
        "the last week of march",
        "march through the list",
        "what since changed",
        "version 2026",
        "second attempt at a friday feature",
        "last one wins",
        "run 2026-05-08-rc1",
        "logged 2026-05-08T10:00:00Z",
        "",
    ],
)
def test_ordinary_words_are_no_time(question):
    assert windows.extract(question, NOW) == (question, None)


@pytest.mark.parametrize(
    ("question", "since", "until"),
    [
        ("bugs after 2026-05-08T10:00", "2026-05-08T10:00", None),
        ("bugs until 2026-05-08t12:00:00+02:00", None, "2026-05-08T10:00"),
        ("bugs from 2026-05-08T10:00Z to 2026-05-09", "2026-05-08T10:00", "2026-05-10"),
    ],
)
def test_an_instant_bounds_a_window_to_the_microsecond(question, since, until):
    text, window = windows.extract(question, NOW)
    assert text == "bugs"
    assert window is not None
    assert (window.since, window.until) == (since and day(since), until and day(until))


def test_b21_the_day_is_the_machines_own(monkeypatch):
    import time

    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    _, window = windows.extract("yesterday", NOW)
    assert window is not None
    assert window.since == day("2026-05-28") - 9 * 3_600_000_000


def test_inline_tags_are_taken_out_and_unknown_ones_stay_words():
    asked = inline.parse(
        'redis tag:a,b Tags:c lang:Go foo:bar branch:"my branch"', ("tag", "language", "branch")
    )
    assert asked.text == "redis foo:bar"
    assert asked.groups("tag") == (("a", "b"), ("c",))
    assert (asked.one("language"), asked.one("branch")) == ("Go", "my branch")


@pytest.mark.parametrize(
    "question", ["tag:", "tag:,", 'tag:""', "a:b:c", "http://x.y/tag:z", "::", ""]
)
def test_what_is_no_tag_stays_text(question):
    assert inline.parse(question, ("tag",)).text == question


def test_names_are_what_a_text_speaks_of():
    text = (
        "# Design\nWe moved to Redis in `CacheKey` of src/cache.py, see https://a.b/c?d=1 and #12; "
        "call get_user() for ABC-123. However nobody asked Monday."
    )
    assert names_in(text) == [
        Name("https://a.b/c?d=1", "url"),
        Name("CacheKey", "code"),
        Name("src/cache.py", "path"),
        Name("Design", "heading"),
        Name("get_user", "identifier"),
        Name("#12", "reference"),
        Name("ABC-123", "reference"),
        Name("Redis", "name"),
    ]


@pytest.mark.parametrize("text", ["", "plain words only, without any name.", "Only this one"])
def test_ordinary_words_are_no_names(text):
    assert names_in(text) == []


def test_a_name_is_compared_folded():
    assert number_of(" Redis ") == number_of("\uff52\uff45\uff44\uff49\uff53")
    assert number_of("100%") != number_of("1000")
