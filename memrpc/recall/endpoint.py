"""One question to an OpenAI-compatible endpoint, and an answer or a reason why there is none.

Plain HTTP from the standard library, one connection a question, no redirects: a key goes to the
address that the user wrote and nowhere else.  Calling the errand back shuts the socket down, which
ends any wait on it.  What goes wrong is told by kind and status and never by content: neither what
was asked nor what was answered gets into a message.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from memrpc.recall import errands
from memrpc.store.errors import InvalidArguments, Unavailable

if TYPE_CHECKING:
    import http.client
    import socket
    from collections.abc import Mapping

    from memrpc.recall.errands import Leash

MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
_OK: Final = 200
_REFUSALS: Final = frozenset({400, 413, 422})
"""What was asked is at fault; another question may well be answered."""


class Declined(Unavailable):
    """The endpoint works and will not answer this question."""

    retryable = False


def is_address(url: str) -> bool:
    """Say whether this is where somebody can be asked, without a name or a password in it."""
    from urllib.parse import urlsplit

    scheme, _, rest = url.partition("://")
    if scheme.lower() not in {"http", "https"} or "@" in rest.partition("/")[0]:
        return False
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:  # A port beyond all ports, or half an IPv6 address.
        return False


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to ask: a base URL such as http://127.0.0.1:11434/v1, and what opens it."""

    url: str
    key: str = field(default="", repr=False)
    timeout_s: float = 30.0

    def __post_init__(self) -> None:
        """Refuse what is no address, or would send a password along."""
        if not is_address(self.url):
            raise InvalidArguments(
                "An endpoint is http://HOST:PORT/PATH or https://..., without a name and a "
                "password in it; the key comes from an environment variable.",
                field="url",
            )

    async def post(self, path: str, question: Mapping[str, Any]) -> Any:  # noqa: ANN401 -- JSON
        """The answer to ``question``, parsed.

        Raises Unavailable, after ``timeout_s`` at the latest; a cancel ends the wait at once.
        """
        import anyio

        body = json.dumps(question).encode()
        try:
            with anyio.fail_after(self.timeout_s):
                return await errands.run(lambda leash: self._exchange(path, body, leash))
        except TimeoutError as error:
            raise Unavailable(
                f"{self.url} did not answer within {self.timeout_s:g} seconds.", url=self.url
            ) from error

    def _exchange(self, path: str, body: bytes, leash: Leash) -> Any:  # noqa: ANN401 -- JSON
        from http.client import HTTPException

        connection = self._connection()
        try:
            connection.connect()
            leash.at_once(lambda: _shut(connection.sock))
            connection.request("POST", self._path(path), body, self._headers())
            with connection.getresponse() as response:
                content = response.read(MAX_ANSWER_BYTES + 1)
        except (OSError, HTTPException) as error:
            leash.checkpoint()
            raise Unavailable(
                f"{self.url} cannot be asked ({type(error).__name__}); is it running?", url=self.url
            ) from error
        finally:
            connection.close()
        return self._parsed(response.status, content)

    def _connection(self) -> http.client.HTTPConnection:
        from http.client import HTTPConnection, HTTPSConnection
        from urllib.parse import urlsplit

        parts = urlsplit(self.url)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        longest_s = self.timeout_s + 1  # The waiting side gives up first and knows why.
        return kind(str(parts.hostname), parts.port, timeout=longest_s)

    def _path(self, path: str) -> str:
        from urllib.parse import urlsplit

        return urlsplit(self.url).path.rstrip("/") + path

    def _headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        return headers | ({"Authorization": f"Bearer {self.key}"} if self.key else {})

    def _parsed(self, status: int, content: bytes) -> Any:  # noqa: ANN401 -- JSON
        if status != _OK:
            kind = Declined if status in _REFUSALS else Unavailable
            raise kind(f"{self.url} answered with status {status}.", url=self.url, status=status)
        if len(content) > MAX_ANSWER_BYTES:
            raise Unavailable(f"{self.url} answered with too much.", url=self.url)
        try:
            return json.loads(content)
        except ValueError as error:
            raise Unavailable(f"{self.url} answered with no JSON.", url=self.url) from error


def _shut(sock: socket.socket | None) -> None:
    import socket as sockets

    if sock is not None:
        with contextlib.suppress(OSError):
            sock.shutdown(sockets.SHUT_RDWR)
