"""Stated dates: from when a statement says that it holds, and whether it tells of the past.

Only what is certain is resolved.  Days, weeks and months are those of UTC, counted from the day
on which the statement was made; a month without a year is the latest one that had begun by then;
a range ("from 2019 to 2021") is left alone.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from memrpc.archive import times

_MONTH_NAMES: Final = (
    "january januar janvier enero jan",
    "february februar février febrero feb",
    "march märz mars marzo mar",
    "april avril abril apr",
    "may mai mayo",
    "june juni juin junio jun",
    "july juli juillet julio jul",
    "august août agosto aug",
    "september septembre septiembre sep sept",
    "october oktober octobre octubre oct okt",
    "november novembre noviembre nov",
    "december dezember décembre diciembre dec dez",
)
_MONTHS: Final = {
    name: number for number, names in enumerate(_MONTH_NAMES, 1) for name in names.split()
}
_WEEKDAY_NAMES: Final = (
    "monday montag lundi lunes",
    "tuesday dienstag mardi martes",
    "wednesday mittwoch mercredi miércoles",
    "thursday donnerstag jeudi jueves",
    "friday freitag vendredi viernes",
    "saturday samstag samedi sábado",
    "sunday sonntag dimanche domingo",
)
_WEEKDAYS: Final = {
    name: number for number, names in enumerate(_WEEKDAY_NAMES) for name in names.split()
}
_MONTH: Final = "|".join(sorted(_MONTHS, key=len, reverse=True))
_WEEKDAY: Final = "|".join(_WEEKDAYS)
_YEAR: Final = r"(?:1[5-9]|20)\d\d"
_DATE: Final = rf"""
  (?P<iso>{_YEAR}-\d\d(?:-\d\d)?)(?!\d)
  | (?P<day>\d{{1,2}})(?:st|nd|rd|th|\.|er)?\s+(?:of\s+|de\s+)?
    (?P<day_month>{_MONTH})\b\.?(?:,?\s+(?:de\s+)?(?P<day_year>{_YEAR}))?
  | (?P<us_month>{_MONTH})\b\.?\s+(?P<us_day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d)
    (?:,?\s+(?P<us_year>{_YEAR}))?
  | (?P<month>{_MONTH})\b\.?(?:,?\s+(?P<month_year>{_YEAR}))?
  | (?P<year>{_YEAR})(?!\d)
  | (?P<today>today|heute|aujourd'hui|hoy)\b
  | (?P<yesterday>yesterday|gestern|hier|ayer)\b
  | (?:last|letzte[mnrs]?)\s+(?:(?P<weekday>{_WEEKDAY})|(?P<week>week|woche)
    |(?P<last_month>month|monat)|(?P<last_year>year|jahr))\b
"""
_TRIGGER: Final = (
    r"since|as\s+of|starting|from|effective|seit|ab|depuis|dès|à\s+partir\s+d[eu]|desde|sinds|dal"
)
_ARTICLE: Final = r"(?:(?:the|dem|der|le|la|el|early|about)\s+)?"
_WITH_YEAR: Final = ("iso", "day_year", "us_year", "month_year", "year")
_SINCE: Final = re.compile(rf"\b(?:{_TRIGGER})\s+{_ARTICLE}(?:{_DATE})", re.IGNORECASE | re.VERBOSE)
_RANGE: Final = re.compile(
    r"\s*(?:to|until|till|through|bis|au|à|hasta|[-\u2013\u2014])(?:\s|\d)", re.IGNORECASE
)
_SINCE_EAST: Final = re.compile(
    r"(?P<year>\d{4})\s*[年년]\s*(?:(?P<month>\d{1,2})\s*[月월])?\s*(?:(?P<day>\d{1,2})\s*[日号號일])?\s*"
    r"(?:以来|以來|以后|以後|起|开始|開始|から|より|부터)"
)
_PAST: Final = re.compile(
    rf"""
    \b(?:yesterday|last\s+(?:night|week|month|year|weekend|spring|summer|autumn|fall|winter|time
      |{_WEEKDAY}|{_MONTH})|(?:a|an|one|two|three|few|several|\d+)\s+\w+\s+ago
      |the\s+other\s+day|this\s+morning|earlier\s+today
      |gestern|vorgestern|letzte[mnrs]?\s+\w+|vor\s+(?:\d+|einem|einer|zwei|drei)\s+\w+
      |hier|avant-hier|il\s+y\s+a\s+\w+|\w+\s+derni(?:er|ère)|ayer|anteayer|hace\s+\w+|pasad[oa])\b
    | 昨天|前天|昨晚|上周|上週|上个月|上個月|去年|昨日|先週|先月|おととい|一昨日|어제|그저께|지난
    | เมื่อวาน|เมื่อคืน|ที่แล้ว|ที่ผ่านมา
    """,
    re.IGNORECASE | re.VERBOSE,
)
_POINT: Final = re.compile(rf"\b(?:in|on|im|am|en|le|el)\s+(?:{_DATE})", re.IGNORECASE | re.VERBOSE)


def holds_from(statement: str, said_at: int) -> int | None:
    """Return the instant from which the statement says that it holds, if it says so."""
    for match in _SINCE.finditer(statement):
        if not _RANGE.match(statement, match.end()):
            return _resolve(match, said_at)
    east = _SINCE_EAST.search(statement)
    if east is None:
        return None
    year, month, day = (int(east[name] or 1) for name in ("year", "month", "day"))
    return _instant(year, month, day)


def tells_of_the_past(statement: str, said_at: int) -> bool:
    """Say whether the statement carries a time before it was made."""
    if _PAST.search(statement):
        return True
    dated = (match for match in _POINT.finditer(statement) if any(match.group(*_WITH_YEAR)))
    dates = (_resolve(match, said_at) for match in dated)
    today = _day(said_at)
    return any(date is not None and times.to_datetime(date) < today for date in dates)


def _resolve(match: re.Match[str], said_at: int) -> int | None:
    """Return the start of the day, month or year that matched; None if there is no such day."""
    found = {name: text.casefold() for name, text in match.groupdict().items() if text}
    if "iso" in found:
        return _instant(*map(int, found["iso"].split("-")))
    if "year" in found:
        return _instant(int(found["year"]))
    for month, day, year in (
        ("day_month", "day", "day_year"),
        ("us_month", "us_day", "us_year"),
        ("month", "", "month_year"),
    ):
        if month in found:
            number = _MONTHS[found[month]]
            return _named(number, int(found.get(day, 1)), found.get(year), said_at)
    try:
        return _relative(found, _day(said_at))
    except (OverflowError, ValueError):  # Before the first year.
        return None


def _named(month: int, day: int, year: str | None, said_at: int) -> int | None:
    if year is not None:
        return _instant(int(year), month, day)
    this_year = times.to_datetime(said_at).year
    instant = _instant(this_year, month, day)
    if instant is not None and instant > said_at:
        return _instant(this_year - 1, month, day)
    return instant


def _relative(found: dict[str, str], today: datetime) -> int:
    if "yesterday" in found:
        start = today - timedelta(days=1)
    elif "weekday" in found:
        days = (today.weekday() - _WEEKDAYS[found["weekday"]] - 1) % 7 + 1
        start = today - timedelta(days=days)
    elif "week" in found:
        start = today - timedelta(days=today.weekday() + 7)
    elif "last_month" in found:
        start = (today.replace(day=1) - timedelta(days=1)).replace(day=1)
    elif "last_year" in found:
        start = today.replace(year=today.year - 1, month=1, day=1)
    else:
        start = today
    return times.from_datetime(start)


def _day(said_at: int) -> datetime:
    return times.to_datetime(said_at - said_at % times.DAY_US)


def _instant(year: int, month: int = 1, day: int = 1) -> int | None:
    try:
        return times.from_datetime(datetime(year, month, day, tzinfo=UTC))
    except ValueError:
        return None
