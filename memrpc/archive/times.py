"""Instants: ISO 8601 text with a zone outside, microseconds since the epoch in UTC inside."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from memrpc.store.errors import InvalidArguments

DAY_US: Final = 86_400_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_FIRST: Final = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST: Final = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
_RIGHT: Final = "2026-05-20T08:29:42+09:00 or 2026-05-19T23:29:42Z"


def parse(text: str, field: str) -> int:
    """Read ``text`` as an instant.

    Raises InvalidArguments, naming ``field``, for what is not ISO 8601, has no zone or lies
    outside the years 1 to 9999.
    """
    try:
        moment = datetime.fromisoformat(text.upper())  # RFC 3339 allows t and z
    except ValueError:
        raise InvalidArguments(
            f"{field} is not an ISO 8601 time; send one such as {_RIGHT}.", field=field
        ) from None
    if moment.tzinfo is None:
        raise InvalidArguments(
            f"{field} has no time zone, so it names no instant; send one such as {_RIGHT}.",
            field=field,
        )
    instant = (moment - _EPOCH) // _MICROSECOND
    if not _FIRST <= instant <= _LAST:
        raise InvalidArguments(f"{field} must lie in the years 1 to 9999 of UTC.", field=field)
    return instant


def to_datetime(instant: int) -> datetime:
    """Return ``instant`` as an aware datetime in UTC."""
    return _EPOCH + timedelta(microseconds=instant)


def from_datetime(moment: datetime) -> int:
    """Return the instant of an aware datetime."""
    return (moment - _EPOCH) // _MICROSECOND


@lru_cache(maxsize=1024)
def to_text(instant: int) -> str:
    """Write ``instant`` as every answer shows it, in UTC with a Z."""
    return to_datetime(instant).isoformat().removesuffix("+00:00") + "Z"


def to_text_or_none(instant: int | None) -> str | None:
    """Write ``instant`` unless there is none, as for a window without an end."""
    return None if instant is None else to_text(instant)
