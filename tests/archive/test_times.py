from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrpc.archive import stated_dates, times
from memrpc.store.errors import InvalidArguments


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-05-20T08:29:42+09:00", "2026-05-19T23:29:42Z"),
        ("2026-05-19T23:29:42Z", "2026-05-19T23:29:42Z"),
        ("2026-05-19t23:29:42z", "2026-05-19T23:29:42Z"),
        ("2026-05-19T23:29:42.5Z", "2026-05-19T23:29:42.500000Z"),
        ("2026-05-19T23:29:42.123456-03:30", "2026-05-20T02:59:42.123456Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
    ],
)
def test_b20_a_time_with_a_zone_is_one_instant_in_utc(text: str, shown: str) -> None:
    assert times.to_text(times.parse(text, "as_of")) == shown


@pytest.mark.parametrize("text", ["2026-05-20T08:29:42", "2026-05-20"])
def test_b20_a_time_without_a_zone_is_refused_with_a_right_one(text: str) -> None:
    with pytest.raises(InvalidArguments, match=r"occurred_at has no time zone.*\+09:00") as caught:
        times.parse(text, "occurred_at")
    assert caught.value.details == {"field": "occurred_at"}


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01T00:00:00Z", "2026-05-20T25:00:00Z"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(InvalidArguments, match="as_of is not an ISO 8601 time"):
        times.parse(text, "as_of")


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00"])
def test_a_time_outside_the_years_of_utc_is_refused(text: str) -> None:
    with pytest.raises(InvalidArguments, match="years 1 to 9999"):
        times.parse(text, "as_of")


@pytest.mark.parametrize("zone", ["Asia/Tokyo", "America/St_Johns", "UTC"])
def test_b21_the_machines_zone_changes_no_instant(
    zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        assert times.to_text(times.parse("2026-05-20T00:30:00+09:00", "as_of")) == (
            "2026-05-19T15:30:00Z"
        )
    finally:
        monkeypatch.undo()
        time.tzset()


@given(st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999))
def test_every_instant_survives_being_written(instant: int) -> None:
    assert times.parse(times.to_text(instant), "as_of") == instant


def test_what_was_said_on_the_first_day_of_all_has_no_yesterday():
    first = times.parse("0001-01-01T00:00:00Z", "")
    for since in ("yesterday", "last week", "last month", "last year"):
        assert stated_dates.holds_from(f"It is open since {since}.", first) is None
