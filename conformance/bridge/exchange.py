"""One HTTP request that waits for its answer, and one HTTP session with what it has not heard."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from queue import SimpleQueue

from conformance.bridge.messages import (
    CAPABILITIES_KEY,
    LOG_LEVEL_KEY,
    VERSION_KEY,
    Key,
    Message,
    key_of,
)


@dataclass(slots=True, eq=False)
class Session:
    """A handshake session; ``inbox`` holds what arrives outside any request of it."""

    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    inbox: SimpleQueue[str] = field(default_factory=SimpleQueue)


@dataclass(slots=True, eq=False)
class Exchange:
    """``wire_id`` and ``wire_token`` are what the child sees instead of the client's own.

    ``inbox`` holds the messages for this request in order, None once the child is gone.
    """

    request: Message
    session: Session | None
    wire_id: Key
    wire_token: Key | None
    inbox: SimpleQueue[Message | None] = field(default_factory=SimpleQueue)

    @property
    def id_text(self) -> str:
        return self.request.text_at(("id",))

    @property
    def token_text(self) -> str:
        return self.request.text_at(("params", "_meta", "progressToken"))

    @property
    def client_id(self) -> Key:
        return key_of(self.request.value.get("id"))

    @property
    def is_listen(self) -> bool:
        return self.request.method == "subscriptions/listen"

    @property
    def wants_log(self) -> bool:
        return LOG_LEVEL_KEY in self.request.meta

    @property
    def lacks_envelope(self) -> bool:
        return not {VERSION_KEY, CAPABILITIES_KEY} <= self.request.meta.keys()
