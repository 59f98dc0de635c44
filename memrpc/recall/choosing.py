"""Choosing: from the settings' words to the embedders that they name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from memrpc.recall.embedders import built_in
from memrpc.recall.meaning import RECENT_VECTORS, Embedders
from memrpc.store.errors import InvalidArguments

if TYPE_CHECKING:
    from memrpc.recall.embedding_endpoint import EndpointEmbedder

DEFAULT: Final = "builtin:use3"
_AT_ENDPOINT: Final = "openai:"


@dataclass(frozen=True, slots=True)
class Choice:
    """The settings about embedding; ``embedder`` may be ``openai:URL#MODEL`` for all in one."""

    embedder: str = DEFAULT
    url: str = ""
    model: str = ""
    key: str = ""
    query_prefix: str = ""
    document_prefix: str = ""
    timeout_s: float = 30.0
    recent: int = RECENT_VECTORS


def embedders(choice: Choice) -> Embedders:
    """What the choice names; ``none`` means nothing at all.

    Raises InvalidArguments for a name that there is not and for half an endpoint.
    """
    name, url, model = choice.embedder, choice.url, choice.model
    if name == "none":
        return Embedders()
    if name.startswith(_AT_ENDPOINT):
        url, _, model = name.removeprefix(_AT_ENDPOINT).partition("#")
        name = DEFAULT
    return Embedders(
        builtin=built_in(name),
        configured=_configured(choice, url, model) if url or model else None,
        recent=choice.recent,
    )


def _configured(choice: Choice, url: str, model: str) -> EndpointEmbedder:
    from memrpc.recall.embedding_endpoint import EndpointEmbedder
    from memrpc.recall.endpoint import Endpoint

    if not url or not model:
        missing = "embedder_model" if url else "embedder_url"
        raise InvalidArguments(
            f"An endpoint that embeds needs both embedder_url and embedder_model; set {missing}.",
            field=missing,
        )
    endpoint = Endpoint(url.rstrip("/"), choice.key, choice.timeout_s)
    return EndpointEmbedder(endpoint, model, choice.query_prefix, choice.document_prefix)
