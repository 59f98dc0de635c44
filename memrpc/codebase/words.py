"""Names and texts as the words by which symbols are searched.

A name becomes its parts (camelCase, snake_case, digits), itself in one word, and the tails of its
parts in one word each.  Scripts without spaces become overlapping pairs, as everywhere in recall.
"""

from __future__ import annotations

import re
from typing import Final

from memrpc.recall.text import PieceKind, fold, joined_tails, pieces, run_tokens

MAX_WORDS: Final = 200
_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u11ff\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003fffd]"
)
"""Scripts that are written without spaces."""
_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def parts(name: str) -> list[str]:
    """The parts of a name in lower case."""
    if name.isascii():
        return [part.lower() for part in _PART.findall(name)]
    return [part for piece in pieces(name) for part in piece.parts]


def name_words(name: str) -> str:
    """What a name is found by."""
    if not name.isascii():
        return _foreign_words(name)
    found = parts(name)
    return " ".join([*found, *joined_tails(tuple(found))])


def text_words(text: str) -> str:
    """What a text is found by.  SQLite cuts words at spaces and signs itself, much faster."""
    if text.isascii():
        return text
    return _foreign_words(text) if _UNSPACED.search(text) else fold(text).lower()


def quoted(token: str) -> str:
    """The token as FTS5 takes it, never as syntax."""
    return '"' + token.replace('"', '""').replace("\0", " ") + '"'


def _foreign_words(text: str) -> str:
    found: dict[str, None] = {}
    for piece in pieces(text):
        if piece.kind is PieceKind.RUN:
            found.update(dict.fromkeys(run_tokens(piece.parts[0])))
        else:
            found.update(dict.fromkeys((*piece.parts, *joined_tails(piece.parts))))
    return " ".join(list(found)[:MAX_WORDS])
