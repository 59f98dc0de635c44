"""What reads source files, as a name: what another one has read is read anew."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib import metadata
from typing import TYPE_CHECKING

from memrpc import __version__
from memrpc.codebase import languages

if TYPE_CHECKING:
    from collections.abc import Iterator


@cache
def name() -> str:
    """Return the program's version, its queries and its grammars' versions, in one."""
    return sha256("\0".join(_parts()).encode()).hexdigest()[:16]


def _parts() -> Iterator[str]:
    yield __version__
    for query in sorted(languages.QUERIES.glob("*.scm")):
        yield query.read_text(encoding="utf-8")
    grammars = {each.grammar[0] for each in languages.BY_NAME.values() if each.grammar}
    for package in sorted(grammars):
        yield f"{package} {metadata.version(package)}"
