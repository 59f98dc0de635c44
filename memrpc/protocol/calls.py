"""A request in flight, who made it, and what may be decided about a message."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from memrpc.protocol.envelope import (
    CAPABILITIES_KEY,
    CLIENT_INFO_KEY,
    LOG_LEVEL_KEY,
    VERSION_KEY,
    as_object,
    progress_token,
)
from memrpc.protocol.revisions import LOG_LEVELS, REVISIONS, Revision
from memrpc.wire.messages import JSON, JSONObject, RequestId, Response

_QUIET: Final = "warning"
Key: TypeAlias = tuple[type, RequestId]


def request_key(id_: RequestId) -> Key:
    """JSON-RPC's ``1`` and ``"1"`` are different ids; so are they here."""
    return (type(id_), id_)


class Client(NamedTuple):
    """Who asks and what it can do, as declared for the request at hand."""

    capabilities: JSONObject
    info: JSONObject

    @property
    def name(self) -> str | None:
        name = self.info.get("name")
        return name if isinstance(name, str) and name else None


@dataclass(slots=True, eq=False)
class Handshake:
    """What one ``initialize`` agreed on, and what the client has set since."""

    revision: Revision
    client: Client
    log_level: str = _QUIET
    subscribed: set[str] = field(default_factory=set)
    has_listed: bool = False  # the resources, so that it wants to hear when the list changes
    roots: JSON = None  # what roots/list answered; forgotten when the client says it changed


@dataclass(slots=True, eq=False)
class Call:
    """A request in flight; whatever follows from it reads its revision, never the connection."""

    id: RequestId
    method: str
    params: JSONObject
    revision: Revision
    client: Client
    progress_token: RequestId | None
    handshake: Handshake | None
    envelope_log_level: str | None = None
    size_bytes: int = 0
    """Of the line that it came in."""
    key: Key = field(init=False)

    def __post_init__(self) -> None:
        self.key = request_key(self.id)

    def wants_log(self, level: str) -> bool:
        """True if a ``notifications/message`` of this level may be sent for this call."""
        threshold = self.handshake.log_level if self.handshake else self.envelope_log_level
        return threshold is not None and LOG_LEVELS.index(level) >= LOG_LEVELS.index(threshold)


def enveloped_call(id_: RequestId, method: str, params: JSONObject) -> Call:
    """The call that a request with a sound envelope is."""
    meta: JSONObject = params["_meta"]
    return Call(
        id_,
        method,
        params,
        REVISIONS[meta[VERSION_KEY]],
        Client(meta[CAPABILITIES_KEY], as_object(meta.get(CLIENT_INFO_KEY))),
        progress_token(params),
        None,
        meta.get(LOG_LEVEL_KEY),
    )


class Dispatch(NamedTuple):
    """Run the method and answer."""

    call: Call


class Cancel(NamedTuple):
    """Stop the work of this call; write nothing more for it."""

    call: Call


class Reply(NamedTuple):
    """Write this answer."""

    response: Response


class Resolve(NamedTuple):
    """The client answered what we asked."""

    id: str
    response: Response


class Notice(NamedTuple):
    """A notification of the handshake session that handlers may care about."""

    method: str


class Ignore(NamedTuple):
    """Do nothing."""


Decision: TypeAlias = Dispatch | Cancel | Reply | Resolve | Notice | Ignore
