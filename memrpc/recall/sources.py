"""What an embedder reads of a unit: its words, who says them, and what was said before.

A turn of a conversation is often an answer that means nothing by itself, so a short text follows
the end of the one before it in its session.  What comes later takes no part: a text would have to
be embedded again with each of the next two.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memrpc.recall.chunking import WHOLE_CHARS

if TYPE_CHECKING:
    from memrpc.recall.model import Document

BEFORE_CHARS: Final = 300
HEAD_CHARS: Final = 200


def source(document: Document, start: int, length: int) -> str:
    """The text by which the span of the document is embedded."""
    own = document.text[start : start + length]
    spoken = f"{document.speaker}: {own}" if document.speaker else own
    is_whole = len(document.text) < WHOLE_CHARS
    before = document.before[0][-BEFORE_CHARS:] if is_whole and document.before else ""
    head = document.head[:HEAD_CHARS]
    shown_head = "" if head and own.startswith(head) else head
    return valid("\n".join(filter(None, (before, shown_head, spoken))))


def valid(text: str) -> str:
    """``text`` with what UTF-8 cannot say replaced; anything may be recorded or asked."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
