"""An embedder behind an OpenAI-compatible ``/embeddings`` endpoint, as the user configured it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from memrpc.recall.embedders import MAX_CHARS, MAX_QUERY_CHARS, Model, normalized
from memrpc.recall.sources import valid
from memrpc.store.errors import Unavailable

if TYPE_CHECKING:
    from memrpc.recall.embedders import Vectors
    from memrpc.recall.endpoint import Endpoint
    from memrpc.recall.vectors import Origin

BATCH: Final = 32
MAX_DIMENSION: Final = 8_192
TRUST: Final = 0.4
TRUST_IN_CODE: Final = 0.6
CHANCE: Final = 0.38
FLOOR: Final = 0.42
"""Nobody has measured the user's model: it is trusted as the built-in ones are."""


@dataclass(frozen=True, slots=True)
class EndpointEmbedder:
    """Asks ``model`` at ``endpoint``; the prefixes are what some models want before a text."""

    endpoint: Endpoint
    model: str
    query_prefix: str = ""
    document_prefix: str = ""

    @property
    def id(self) -> str:
        """Endpoint and model: what makes two vectors comparable."""
        return f"openai:{self.endpoint.url}#{self.model}"

    def described(self, origin: Origin) -> Model:
        """The model as its vectors show it."""
        shares = (TRUST, TRUST_IN_CODE, CHANCE, FLOOR)
        return Model(self.id, origin.dimension, "", *shares, origin.usual, origin.spread)

    async def documents(self, texts: Sequence[str]) -> Vectors:
        """A row a text, in batches.

        Raises Unavailable where the endpoint does not answer as it should.
        """
        import numpy as np

        rows = [
            await self._ask([self.document_prefix + text[:MAX_CHARS] for text in batch])
            for batch in _batches(texts)
        ]
        return np.concatenate(rows)

    async def query(self, text: str) -> Vectors:
        """The vector of a question."""
        found: Vectors = (await self._ask([self.query_prefix + text[:MAX_QUERY_CHARS]]))[0]
        return found

    async def _ask(self, texts: list[str]) -> Vectors:
        question = {
            "model": self.model,
            "input": [valid(text) or " " for text in texts],
            "encoding_format": "float",
        }
        answer = await self.endpoint.post("/embeddings", question)
        try:
            return _rows(answer, len(texts))
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise Unavailable(
                f"{self.endpoint.url} did not answer with one vector of numbers for each text.",
                url=self.endpoint.url,
            ) from error


def _batches(texts: Sequence[str]) -> list[Sequence[str]]:
    return [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]


def _rows(answer: Any, count: int) -> Vectors:  # noqa: ANN401 -- JSON of somebody else
    """The vectors in the order of their texts, all of one length and finite."""
    import numpy as np

    by_index = {int(each["index"]): each["embedding"] for each in answer["data"]}
    rows = np.array([by_index[number] for number in range(count)], dtype=np.float32)
    if rows.ndim != 2 or not 0 < rows.shape[1] <= MAX_DIMENSION or not np.isfinite(rows).all():  # noqa: PLR2004 -- texts and dimensions
        raise ValueError(rows.shape)
    return normalized(rows)
