"""Who is told what has changed: handshake subscriptions and ``subscriptions/listen``.

One change reaches every listener that asked for its kind, each copy tagged with the listener's
own id, and, untagged, the handshake session if that asked.

Source: Resources, Subscriptions (2024-11-05 to 2025-11-25); Subscriptions (2026-07-28).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from memrpc.protocol.calls import Call, Key
from memrpc.protocol.capabilities import TASKS, declares
from memrpc.protocol.session import Phase, Session
from memrpc.server.faults import MissingCapabilityError
from memrpc.server.service import Change
from memrpc.wire.codec import exact_number
from memrpc.wire.messages import JSON, JSONObject, Notification

SUBSCRIPTION_KEY: Final = "io.modelcontextprotocol/subscriptionId"
_LIST_FILTERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "tools": "toolsListChanged",
        "prompts": "promptsListChanged",
        "resources": "resourcesListChanged",
    }
)


_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {"resource": "resources/updated", "task": "tasks"}
)
_KNOWN_URIS: Final = 1 << 16
_FOLDED: Final = 3  # the scheme, nothing, and the authority


class Listen(NamedTuple):
    """One open ``subscriptions/listen`` and the part of its wishes that is honoured."""

    call: Call
    honoured: JSONObject

    @property
    def task_ids(self) -> Sequence[str]:
        ids: Sequence[str] = self.honoured.get("taskIds", ())
        return ids

    def heard(self, change: Change) -> Iterable[Change]:
        """The change as this stream hears of it, if it does."""
        if change.kind == "resource":
            return _concerned(self.honoured.get("resourceSubscriptions", ()), change)
        if change.kind == "task":
            return [change] if change.uri in self.task_ids else []
        return [change] if self.honoured.get(_LIST_FILTERS[change.kind]) else []


class Subscriptions:
    """The hub; ``send`` takes notifications that may leave at once.

    ``tell`` takes those of changes, which need not wait twice for a client that does not read.
    ``serves`` is false for a URI that no change will ever concern.
    """

    def __init__(
        self,
        session: Session,
        serves: Callable[[str], bool],
        send: Callable[[Notification], None],
        tell: Callable[[Notification], None],
    ) -> None:
        self._session = session
        self._serves = serves
        self._send = send
        self._tell = tell
        self._listens: dict[Key, Listen] = {}

    @property
    def is_watched(self) -> bool:
        """True while anyone wants to hear of changes.

        A session that has listed the resources has something that can become out of date.
        """
        handshake = self._session.handshake
        is_heard = handshake is not None and (bool(handshake.subscribed) or handshake.has_listed)
        return bool(self._listens) or is_heard

    def listen(self, call: Call) -> Listen:
        """Open a stream: acknowledge first what will be honoured.

        Raises MissingCapabilityError where tasks are asked for by a client that knows none.
        """
        listen = Listen(call, self._honoured(call))
        self._listens[call.key] = listen
        params = {"notifications": listen.honoured, "_meta": _tag(call)}
        self._send(Notification("notifications/subscriptions/acknowledged", params))
        return listen

    def _honoured(self, call: Call) -> JSONObject:
        wishes: JSONObject = call.params["notifications"]
        declared = self._session.capabilities
        honoured: dict[str, JSON] = {
            wish: True
            for kind, wish in _LIST_FILTERS.items()
            if wishes.get(wish) and declares(declared, (kind, "listChanged"))
        }
        wished = dict.fromkeys(wishes.get("resourceSubscriptions", ()))
        uris = [uri for uri in wished if self._serves(uri)]
        if uris and declares(declared, ("resources", "subscribe")):
            honoured["resourceSubscriptions"] = uris
        if wishes.get("taskIds") and declares(declared, TASKS):
            if not declares(call.client.capabilities, TASKS):
                raise MissingCapabilityError(TASKS)
            honoured["taskIds"] = wishes["taskIds"]
        return honoured

    def end(self, call: Call) -> None:
        """The client closed its stream."""
        self._listens.pop(call.key, None)

    def publish(self, change: Change) -> None:
        """Tell everyone who asked."""
        for listen in self._listens.values():
            for heard in listen.heard(change):
                self._tell(_notification(heard, _tag(listen.call)))
        for heard in self._session_heard(change):
            self._tell(_notification(heard, None))

    def _session_heard(self, change: Change) -> Iterable[Change]:
        """Nothing of the kind is sent before ``initialized``: some hosts fail on it."""
        handshake = self._session.handshake
        if handshake is None or self._session.phase is not Phase.OPERATING:
            return []
        if change.kind == "resource":
            return _concerned(handshake.subscribed, change)
        path = (change.kind, "listChanged")
        is_told = change.kind in _LIST_FILTERS and declares(self._session.capabilities, path)
        return [change] if is_told else []

    def close(self) -> list[Call]:
        """End every stream from our side; the calls that are owed their closing answer."""
        calls = [listen.call for listen in self._listens.values()]
        self._listens.clear()
        return calls


def closing_result(call: Call) -> JSONObject:
    """The answer that ends a stream."""
    return {"_meta": _tag(call)}


def closing_notice(call: Call) -> Notification:
    """Source: 2026-07-28, Cancellation: a server that ends a stream sends this after the answer."""
    params = {"requestId": exact_number(call.id), "reason": "the server is shutting down"}
    return Notification("notifications/cancelled", params)


def _tag(call: Call) -> JSONObject:
    return {SUBSCRIPTION_KEY: exact_number(call.id)}


def _notification(change: Change, meta: JSONObject | None) -> Notification:
    params: dict[str, JSON] = {"uri": change.uri} if change.kind == "resource" else {}
    params |= change.state
    if meta is not None:
        params["_meta"] = meta
    name = _NAMES.get(change.kind, f"{change.kind}/list_changed")
    return Notification(f"notifications/{name}", params)


def _concerned(uris: Iterable[str], change: Change) -> list[Change]:
    """The change once for each URI that it concerns: clients look for the one they subscribed to.

    A view with query parameters changes with the resource that it is a view of, and everything
    beneath a URI that ends in a slash with that.
    """
    changed = _parts(change.uri)
    if changed[-1]:
        return [change._replace(uri=uri) for uri in uris if _parts(uri) == changed]
    above = changed[:-1]
    return [change._replace(uri=uri) for uri in uris if _parts(uri)[: len(above)] == above]


@lru_cache(maxsize=_KNOWN_URIS)
def _parts(uri: str) -> tuple[str, ...]:
    """What all ways to write a URI have in common, its query left out.

    Source: RFC 3986, 6.2.2: nothing depends on what is percent-encoded beyond need, nor on the
    case of the scheme and the authority.
    """
    from urllib.parse import unquote

    parts = [unquote(part) for part in uri.partition("?")[0].split("/")]
    return (*map(str.casefold, parts[:_FOLDED]), *parts[_FOLDED:])
