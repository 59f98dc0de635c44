"""Inline tags of a question: ``key:value`` words that filter, taken out of the text.

Only the keys that a search knows are taken; anything else stays a word.  A value may stand in
double quotes.  Commas make alternatives; a key given twice must hold twice.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

_TAG: Final = re.compile(r'(?<!\S)(?P<key>[A-Za-z_]+):(?:"(?P<quoted>[^"]*)"|(?P<plain>\S+))')
_ALIASES: Final[Mapping[str, str]] = MappingProxyType(
    {"tags": "tag", "lang": "language", "framework": "stack"}
)


class Inline(NamedTuple):
    """A question's text and its filters: by key, groups of alternatives that must all hold."""

    text: str
    filters: Mapping[str, tuple[tuple[str, ...], ...]]

    def one(self, key: str) -> str | None:
        """Return the last value given for ``key``."""
        groups = self.filters.get(key)
        return groups[-1][0] if groups else None

    def groups(self, key: str) -> tuple[tuple[str, ...], ...]:
        """Return the groups given for ``key``."""
        return self.filters.get(key, ())


def parse(question: str, keys: Collection[str]) -> Inline:
    """Take the known tags out of ``question``."""
    found: dict[str, list[tuple[str, ...]]] = {}

    def take(match: re.Match[str]) -> str:
        key = _ALIASES.get(match["key"].casefold(), match["key"].casefold())
        values = _values(match)
        if key not in keys or not values:
            return match[0]
        found.setdefault(key, []).append(values)
        return " "

    text = " ".join(_TAG.sub(take, question).split())
    return Inline(text, {key: tuple(groups) for key, groups in found.items()})


def _values(match: re.Match[str]) -> tuple[str, ...]:
    quoted = match["quoted"]
    if quoted is not None:
        return (quoted.strip(),) if quoted.strip() else ()
    return tuple(value for value in match["plain"].split(",") if value)
