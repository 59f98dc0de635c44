"""Match and expand the part of RFC 6570 that resource templates use.

``{name}`` takes one path segment, ``{+path}`` takes slashes too, ``{?a,b}`` takes any subset of
query parameters in any order.  Values are percent-decoded on the way in and encoded on the way
out, so ``owner%2Fname`` is one segment.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_EXPRESSION: Final = re.compile(r"\{([+?]?)([^}]+)\}")


@dataclass(frozen=True, slots=True)
class UriTemplate:
    """A parsed template; ``names`` lists its variables in order."""

    text: str
    names: tuple[str, ...]
    _path: re.Pattern[str]
    _query: frozenset[str]

    @classmethod
    def parse(cls, text: str) -> UriTemplate:
        pattern, query, end = "", frozenset[str](), 0
        names: list[str] = []
        for found in _EXPRESSION.finditer(text):
            operator, listed = found.group(1), found.group(2).split(",")
            names += listed
            pattern += re.escape(text[end : found.start()])
            if operator == "?":
                query = frozenset(listed)
            else:
                pattern += f"(?P<{listed[0]}>{'.+' if operator else '[^/?#]+'})"
            end = found.end()
        pattern += re.escape(text[end:])
        return cls(text, tuple(names), re.compile(pattern, re.DOTALL), query)

    def match(self, uri: str) -> dict[str, str] | None:
        """The variables of ``uri``, or None where it is not of this shape."""
        from urllib.parse import parse_qsl, unquote

        path, mark, query = uri.partition("?")
        found = self._path.fullmatch(path)
        if found is None or (mark and not self._query):
            return None
        values = {name: unquote(value) for name, value in found.groupdict().items()}
        parameters = dict(parse_qsl(query, keep_blank_values=True))
        if not parameters.keys() <= self._query:
            return None
        return values | parameters

    def expand(self, values: Mapping[str, str]) -> str:
        """The URI that ``values`` name; query parameters without a value are left out."""
        from urllib.parse import quote, urlencode

        def fill(found: re.Match[str]) -> str:
            operator, listed = found.group(1), found.group(2).split(",")
            if operator == "?":
                given = {name: values[name] for name in listed if name in values}
                return f"?{urlencode(given, quote_via=quote)}" if given else ""
            return quote(values[listed[0]], safe="/" if operator else "")

        return _EXPRESSION.sub(fill, self.text)
