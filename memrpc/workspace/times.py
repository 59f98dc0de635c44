"""Instants: zoned ISO 8601 text outside, microseconds since the epoch in UTC inside."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from memrpc.store.errors import InvalidArguments

DAY_US: Final = 86_400_000_000
_SECOND_US: Final = 1_000_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_RIGHT: Final = "2026-05-20T08:29:42+09:00 or 2026-05-19T23:29:42Z"


def parse(text: str, field: str) -> int:
    """Read ``text`` as an instant; refuse, naming ``field``, what has no zone or is no time.

    In some zones the first and the last day of all time lie outside of it in UTC.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        zoned = None if moment.tzinfo is None else from_datetime(moment.astimezone(UTC))
    except (ValueError, OverflowError):
        raise InvalidArguments(
            f"{field} is not an ISO 8601 time; send one such as {_RIGHT}.", field=field
        ) from None
    if zoned is None:
        raise InvalidArguments(
            f"{field} has no time zone, so it names no instant; send one such as {_RIGHT}.",
            field=field,
        )
    return zoned


def from_datetime(moment: datetime) -> int:
    """Return the instant of an aware datetime."""
    return (moment - _EPOCH) // _MICROSECOND


def to_text(instant: int) -> str:
    """Write ``instant`` as every answer shows it, in UTC with a Z."""
    second, rest = divmod(instant, _SECOND_US)
    return f"{_second_text(second)}.{rest:06}Z" if rest else f"{_second_text(second)}Z"


@lru_cache(maxsize=256)
def _second_text(second: int) -> str:
    """Write a whole second; the instants of one answer share few of them."""
    return (_EPOCH + timedelta(seconds=second)).isoformat().removesuffix("+00:00")


def to_text_or_none(instant: int | None) -> str | None:
    """Write ``instant`` unless there is none."""
    return None if instant is None else to_text(instant)


def local(instant: int) -> datetime:
    """Return ``instant`` in the zone of the machine, in which people say "yesterday"."""
    return (_EPOCH + timedelta(microseconds=instant)).astimezone()
