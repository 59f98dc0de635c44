"""The client's own language model, which a session may lend to the extractor ``client``.

A job in the background has no call of its own, so the last call whose client offers sampling stands
for the session.  Only handshake sessions can be asked at any time; in 2026-07-28 a server asks by
ending a call, and recording must not wait for that: events of such a session stay pending until
another session of the archive can draw from them.

A client shows its user what it is asked for, so a session in which the answer was no is not asked
again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from memrpc.protocol.asks import sample
from memrpc.protocol.revisions import Era
from memrpc.server.faults import RefusedError
from memrpc.store.errors import Unavailable
from memrpc.wire.messages import JSON, JSONObject

if TYPE_CHECKING:
    from memrpc.protocol.calls import Handshake
    from memrpc.server.context import Context

MAX_ANSWER_TOKENS: Final = 4_000


class ClientModel:
    """Asks the model of whoever was met last."""

    def __init__(self) -> None:
        self._ctx: Context | None = None
        self._refused_in: Handshake | None = None

    def meet(self, ctx: Context) -> None:
        """A call has come; remember it if its client can be asked."""
        if ctx.call.revision.era is Era.HANDSHAKE and ctx.can_ask(sample({})):
            self._ctx = ctx

    async def ask(self, instructions: str, question: str) -> str:
        """The model's answer as text.

        Raises Unavailable where there is no model or it did not answer.
        """
        ctx = self._ctx
        if ctx is None:
            raise Unavailable("The client of this session lends no model (sampling).")
        if ctx.call.handshake is self._refused_in:
            raise Unavailable("The client refused to lend its model; the next session is asked.")
        try:
            answer = await ctx.ask("extract", sample(_question(instructions, question)))
        except RefusedError as error:
            if error.refusal.retryable:
                raise Unavailable("The client's model did not answer in time.") from error
            self._refused_in = ctx.call.handshake
            raise Unavailable(error.refusal.message) from error
        return _text(answer)


def _question(instructions: str, question: str) -> dict[str, JSON]:
    return {
        "systemPrompt": instructions,
        "messages": [{"role": "user", "content": {"type": "text", "text": question}}],
        "maxTokens": MAX_ANSWER_TOKENS,
        "temperature": 0,
        "includeContext": "none",
    }


def _text(answer: JSONObject) -> str:
    """The text of the answer's blocks; 2025-11-25 may send several."""
    content = answer.get("content")
    blocks = content if isinstance(content, list) else [content]
    texts = [block.get("text", "") for block in blocks if isinstance(block, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))
