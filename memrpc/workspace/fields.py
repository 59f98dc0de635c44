"""The fields of a record by name, read all at once: rows and the action log are made of them."""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def of(record: Any, without: frozenset[str] = frozenset()) -> dict[str, Any]:  # noqa: ANN401 -- any dataclass
    """Return the fields of a dataclass and their values as they are."""
    names, read = _reader(record.__class__, without)
    return dict(zip(names, read(record), strict=True))


@cache
def _reader(
    kind: Any,  # noqa: ANN401 -- the class of any dataclass
    without: frozenset[str],
) -> tuple[tuple[str, ...], Callable[[Any], tuple[Any, ...]]]:
    names = tuple(name for name in kind.__dataclass_fields__ if name not in without)
    return names, attrgetter(*names)
