"""Names in a text: what it speaks of, found by its form alone.

Code spans, URLs, paths, identifiers, references to issues and capitalised names inside sentences
count; ordinary words do not.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_NAMES: Final = 40
MAX_NAME_CHARS: Final = 120
MAX_READ_CHARS: Final = 20_000

_URL: Final = re.compile(r"https?://[^\s<>()\"'`]+[^\s<>()\"'`.,;:!?]")
_CODE: Final = re.compile(r"`([^`\n]{2,120})`")
_HEADING: Final = re.compile(r"^#{1,6}\s+(.{2,120}?)\s*#*$", re.MULTILINE)
_PATH: Final = re.compile(
    r"(?<![\w/:.])(?:\.{0,2}/)?(?:[\w.-]+/)+[\w.-]*\w"
    r"|\b\w[\w-]*\.(?:py|js|tsx?|go|rs|java|rb|php|c|h|cpp|sql|md|json|toml|ya?ml|html|css|sh)\b"
)
_IDENTIFIER: Final = re.compile(
    r"\b(?:[A-Za-z]\w*_\w+|[a-z]+[A-Z]\w*|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+|[a-z_]\w*(?:\.\w+)+\(\)|\w+\(\))"
)
_REFERENCE: Final = re.compile(r"(?<![\w#])#\d{1,7}\b|\b[A-Z]{2,10}-\d{1,7}\b")
_NAME: Final = re.compile(r"(?<=[\w,;)] )[A-Z][\w'-]*\w(?: [A-Z0-9][\w'-]*)*")
_NOT_NAMES: Final = frozenset(
    """
    january february march april may june july august september october november december monday
    tuesday wednesday thursday friday saturday sunday i i'm i'll i've context rationale alternatives
    """.split()  # noqa: SIM905 -- a list of words reads best as words
) | {"key decisions", "next steps", "task", "in_progress"}
"""Capitalised words that name nothing, and what our own short forms and records say."""


class Name(NamedTuple):
    """One thing that a text speaks of."""

    name: str
    type: str

    @property
    def key(self) -> int:
        """The number under which it is found."""
        return number_of(self.name)


def number_of(text: str) -> int:
    """Return the number made from a name or tag as it is compared: folded, outer spaces dropped."""
    folded = unicodedata.normalize("NFKC", text).strip().casefold()
    digest = hashlib.blake2b(folded.encode(), digest_size=8).digest()
    return int.from_bytes(digest, signed=True)


def names_in(text: str) -> list[Name]:
    """Return the first names of ``text``, each once, in the order of their kinds."""
    found: dict[int, Name] = {}
    for name in _matches(text[:MAX_READ_CHARS]):
        found.setdefault(name.key, name)
        if len(found) == MAX_NAMES:
            break
    return list(found.values())


def _matches(text: str) -> Iterator[Name]:
    """Yield matches kind by kind; what one kind has taken is not read again as another."""
    for kind, sign, pattern in _KINDS:
        if not sign.search(text):
            continue
        for match in pattern.finditer(text):
            name = " ".join((match[1] if pattern.groups else match[0]).split())
            if len(name) <= MAX_NAME_CHARS and name.casefold() not in _NOT_NAMES:
                yield Name(name, kind)
        text = pattern.sub(" . ", text)


_KINDS: Final = tuple(
    (kind, re.compile(sign), pattern)
    for kind, sign, pattern in (
        ("url", "://", _URL),
        ("code", "`", _CODE),
        ("path", "[/.]", _PATH),
        ("heading", "#", _HEADING),
        ("identifier", "[_(]|(?<=[a-z0-9])[A-Z]", _IDENTIFIER),
        ("reference", r"[#-]\d", _REFERENCE),
        ("name", " [A-Z]", _NAME),
    )
)
"""Each kind with a sign that is quickly looked for, and without which it is not there."""
