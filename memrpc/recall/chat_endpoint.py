"""A language model behind an OpenAI-compatible ``/chat/completions`` endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memrpc.recall.endpoint import Declined
from memrpc.store.errors import Unavailable

if TYPE_CHECKING:
    from memrpc.recall.endpoint import Endpoint

PATH: Final = "/chat/completions"
OPTIONS: Final = {"temperature": 0, "max_tokens": 4_000}


@dataclass(frozen=True, slots=True)
class ChatEndpoint:
    """Asks ``model`` at ``endpoint``, one question at a time."""

    endpoint: Endpoint
    model: str

    async def ask(self, instructions: str, question: str) -> str:
        """The model's answer as text.

        Some models decline a question that comes with options; it is put to them without.
        Raises Unavailable where the endpoint does not answer as it should.
        """
        messages = [
            {"role": "system", "content": instructions},
            {"role": "user", "content": question},
        ]
        plain = {"model": self.model, "messages": messages}
        try:
            answer = await self.endpoint.post(PATH, {**plain, **OPTIONS})
        except Declined:
            answer = await self.endpoint.post(PATH, plain)
        return self._text(answer)

    def _text(self, answer: Any) -> str:  # noqa: ANN401 -- JSON of somebody else
        try:
            text = answer["choices"][0]["message"]["content"]
        except (KeyError, TypeError, IndexError) as error:
            raise self._no_answer() from error
        if not isinstance(text, str):
            raise self._no_answer()
        return text

    def _no_answer(self) -> Unavailable:
        return Unavailable(
            f"{self.endpoint.url} did not answer with a message.", url=self.endpoint.url
        )
