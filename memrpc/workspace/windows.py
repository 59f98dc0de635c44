"""Time phrases in a question: "what did we decide last week" asks for a window and a text.

A phrase is found by its form, then read by dateparser, which is imported only when there is one.
Words mean calendar units of the machine's zone: "last week" is Monday to Sunday, "yesterday" a
whole day.  "Last 3 days" and "the last hour" roll back from now.  An instant of ISO 8601 bounds a
window to the microsecond.  A weekday or a month counts only
where a word such as *since* or *last* makes it one: "may" alone is a verb.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

from memrpc.workspace import times

if TYPE_CHECKING:
    from collections.abc import Callable

_UNIT: Final = r"(?:minute|hour|day|week|month|year)"
_DAY: Final = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH: Final = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_COUNT: Final = r"(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_EXACT: Final = (
    rf"\d{{4}}-\d{{2}}(?:-\d{{2}})?(?![-\dT])|{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}(?: \d{{4}})?|{_MONTH} \d{{4}}"
)
_SPOKEN: Final = (
    rf"(?:the )?day before yesterday|yesterday|today|(?:{_COUNT}|an?) {_UNIT}s? ago"
    rf"|(?:last|this) (?:week|month|year)(?! of)|last {_DAY}"
)
_INSTANT: Final = r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?"
_NAMED: Final = rf"{_INSTANT}|{_EXACT}|{_SPOKEN}|{_DAY}|{_MONTH}(?!\w)|\d{{4}}(?!-)"
_ROLLING: Final = re.compile(
    rf"\b(?:(?:in|over|within|during) )?(?:the )?(?:last|past)[ _](?P<count>{_COUNT} )?"
    rf"(?P<unit>{_UNIT})s?\b(?! of)",
    re.IGNORECASE,
)
_RANGE: Final = re.compile(
    rf"\b(?:between|from) (?P<first>{_NAMED}) (?:and|to|until) (?P<last>{_NAMED})\b", re.IGNORECASE
)
_BOUND: Final = re.compile(
    rf"\b(?<!\bday )(?P<side>since|after|before|until) (?P<when>{_NAMED})\b", re.IGNORECASE
)
_WITHIN: Final = re.compile(
    rf"\b(?:in|on|during) (?P<when>{_EXACT}|{_DAY}|{_MONTH}(?!\w))\b", re.IGNORECASE
)
_PLAIN: Final = re.compile(rf"\b(?P<when>{_EXACT}|{_SPOKEN})(?:['\u2019]s)?(?!\w)", re.IGNORECASE)
_WRITTEN_OUT: Final = re.compile(_INSTANT, re.IGNORECASE)
_CALENDAR: Final = frozenset({"week", "month", "year"})


class Window(NamedTuple):
    """A half-open span of time; None is without an end."""

    phrase: str
    since: int | None
    until: int | None

    def holds(self, instant: int) -> bool:
        """Say whether ``instant`` lies in it."""
        return (self.since is None or self.since <= instant) and (
            self.until is None or instant < self.until
        )


def extract(text: str, now: int) -> tuple[str, Window | None]:
    """Return the text without its first time phrase, and the window that the phrase means."""
    for pattern, read in _READERS:
        match = pattern.search(text)
        span = None if match is None else _read(read, match, now)
        if match is not None and span is not None:
            rest = " ".join((text[: match.start()] + " " + text[match.end() :]).split())
            return rest, Window(match[0].strip(), *span)
    return text, None


Span = tuple[int | None, int | None]


def _read(
    read: Callable[[re.Match[str], int], Span | None], match: re.Match[str], now: int
) -> Span | None:
    """Return what ``read`` does; None where the phrase leads out of the years that there are."""
    try:
        return read(match, now)
    except (OverflowError, ValueError):
        return None


def _rolling(match: re.Match[str], now: int) -> Span | None:
    """Read "last 3 days"; leave "last week", which is a calendar unit, to others."""
    count, unit = match["count"], match["unit"].casefold()
    if count is None and unit in _CALENDAR and "past" not in match[0].casefold():
        return None
    found = _moment(f"{count or '1 '}{unit} ago", now)
    return None if found is None else (times.from_datetime(found[0]), None)


def _range(match: re.Match[str], now: int) -> Span | None:
    first, last = _span(match["first"], now), _span(match["last"], now)
    return None if first is None or last is None else (first[0], last[1])


def _bound(match: re.Match[str], now: int) -> Span | None:
    span = _span(match["when"], now)
    if span is None:
        return None
    return {
        "since": (span[0], None),
        "after": (span[1], None),
        "before": (None, span[0]),
        "until": (None, span[1]),
    }[match["side"].casefold()]


def _within(match: re.Match[str], now: int) -> Span | None:
    return _span(match["when"], now)


_READERS: Final = (
    (_RANGE, _range),
    (_BOUND, _bound),
    (_ROLLING, _rolling),
    (_WITHIN, _within),
    (_PLAIN, _within),
)


def _span(phrase: str, now: int) -> tuple[int, int] | None:
    """Return the whole calendar unit that a phrase means, or the instant that it writes out."""
    if _WRITTEN_OUT.fullmatch(phrase):
        instant = times.from_datetime(datetime.fromisoformat(phrase.upper()).astimezone())
        return instant, instant
    found = _moment(phrase, now)
    if found is None:
        return None
    start, end = _unit(*found)
    return times.from_datetime(start.astimezone()), times.from_datetime(end.astimezone())


def _moment(phrase: str, now: int) -> tuple[datetime, str] | None:
    """Return a local moment inside what the phrase means, and the unit that it names."""
    from dateparser.date import DateDataParser

    base = times.local(now).replace(tzinfo=None)
    settings = {"RELATIVE_BASE": base, "PREFER_DATES_FROM": "past"}
    parser = DateDataParser(languages=["en"], settings=settings)
    found = parser.get_date_data(phrase)
    if found.date_obj is None:
        return None
    return found.date_obj.astimezone(), found.period


def _unit(moment: datetime, period: str) -> tuple[datetime, datetime]:
    """Return the start of the unit around ``moment`` and of the next one, as local wall time."""
    day = datetime(moment.year, moment.month, moment.day)  # noqa: DTZ001 -- wall time of the machine
    match period:
        case "week":
            start = day - timedelta(days=day.weekday())
            return start, start + timedelta(days=7)
        case "month":
            start = day.replace(day=1)
            return start, (start + timedelta(days=32)).replace(day=1)
        case "year":
            return day.replace(month=1, day=1), day.replace(year=day.year + 1, month=1, day=1)
        case _:
            return day, day + timedelta(days=1)
