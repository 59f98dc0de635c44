"""Dates as the words by which people ask for them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
_OLDEST_US: Final = -62_135_596_800_000_000  # 0001-01-01
_NEWEST_US: Final = 253_402_300_799_999_999  # 9999-12-31


def date_words(moment: int) -> str:
    """``moment`` (microseconds since the epoch) as "2023-05-08 8 May"; nothing for 0."""
    if not moment or not _OLDEST_US <= moment <= _NEWEST_US:
        return ""
    day = _EPOCH + timedelta(microseconds=moment)
    spoken = f"{day.day} " if day.day < 10 else ""  # noqa: PLR2004 -- two digits stand in the ISO date
    return f"{day.date().isoformat()} {spoken}{_MONTHS[day.month - 1]}"
